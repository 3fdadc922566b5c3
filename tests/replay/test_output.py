"""Facts on their way out: what is final, and what is too short to be told."""

from __future__ import annotations

import pytest

from groupreplay.limits import MIN_STALL_MS
from groupreplay.replay.assignment.new_stall import new_stall
from groupreplay.replay.facts import Chain, Stall
from groupreplay.replay.life import CONSUMER, Life, Member
from groupreplay.replay.output import Output

LIFE = Life("g", 0, 0, CONSUMER)


def stall() -> Stall:
    return new_stall(LIFE, "NOT_RECONCILING", Member("m"), 1_000, 5, ["m"])


def test_what_is_emitted_is_final_and_taken_once_in_its_order() -> None:
    output, facts = Output(), [stall(), stall()]
    for fact in facts:
        output.emit(fact)
    taken = output.take()
    assert [id(fact) for fact in taken] == [id(fact) for fact in facts]
    assert all(fact.is_final for fact in taken)
    assert output.take() == []


@pytest.mark.parametrize(("lasted_ms", "rows"), [(MIN_STALL_MS, 1), (MIN_STALL_MS - 1, 0)])
def test_a_stall_that_is_too_short_for_any_threshold_gives_no_row(
    lasted_ms: int, rows: int
) -> None:
    output, each = Output(), stall()
    output.emit_stall(each, 1_000 + lasted_ms, 9)
    assert len(output.take()) == rows
    assert (each.until_at, each.to_offset) == (1_000 + lasted_ms, 9)


@pytest.mark.parametrize(("times", "rows"), [([1_000], 0), ([1_000, 2_000], 1)])
def test_a_chain_that_never_repeated_gives_no_row(times: list[int], rows: int) -> None:
    output = Output()
    chain = Chain(
        **LIFE.place,
        from_offset=5,
        reason="FENCE_LOOP",
        member_id="m",
        times_at=times,
        ends_at=times,
    )
    output.emit_chain(chain)
    assert len(output.take()) == rows
