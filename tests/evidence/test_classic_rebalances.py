"""Rebalances of a group whose coordinator moves: what a former coordinator still logs is another
rebalance than the new one's.
"""

from __future__ import annotations

import pytest

from groupreplay.evidence.evidence_facts import Rebalance
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import LogEvent
from tests.support.log_lines import proved

FORMER, NEW = 1, 2


def told(*lines: Line) -> list[tuple[int, str, int | None]]:
    """(broker, outcome, synced at) of each rebalance."""
    facts = proved("g", list(lines), lines[-1].last_ms)
    return [
        (each.broker, each.outcome, each.synced_at) for each in facts if isinstance(each, Rebalance)
    ]


def line(broker: int, at: int, event: str, epoch: int = 3) -> Line:
    return Line(
        LogEvent(event=event, at_ms=at, group_id="g", epoch=epoch),
        broker,
        "server_log",
        f"broker-{broker}",
        at,
        at,
    )


def test_a_former_coordinator_ends_no_rebalance_of_the_new_one() -> None:
    """It did not know yet, or its clock was ahead."""
    assert told(
        line(NEW, 1_000, "GROUP_LOADED"),
        line(NEW, 2_000, "JOIN_PHASE_STARTED"),
        line(FORMER, 3_000, "JOIN_PHASE_STARTED"),
        line(FORMER, 3_010, "JOIN_PHASE_ENDED"),
        line(NEW, 4_000, "JOIN_PHASE_ENDED"),
        line(NEW, 4_010, "ASSIGNMENT_RECEIVED"),
    ) == [(NEW, "COMPLETED", 4_010), (FORMER, "OPEN", None)]


def test_a_clock_that_is_ahead_ends_no_rebalance() -> None:
    """The former coordinator's last lines come after the new one's first."""
    assert told(
        line(FORMER, 1_000, "JOIN_PHASE_STARTED"),
        line(FORMER, 1_010, "JOIN_PHASE_ENDED"),
        line(NEW, 1_500, "GROUP_LOADED"),
        line(FORMER, 2_000, "ASSIGNMENT_RECEIVED"),
    ) == [(FORMER, "COMPLETED", 2_000)]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("CONVERTED_TO_CONSUMER", "CONVERTED"),
        ("GROUP_EMPTY", "EMPTY"),
        ("JOIN_PHASE_STARTED", "RESTARTED"),
        ("GROUP_UNLOADED", "INTERRUPTED"),
    ],
)
def test_a_clock_that_is_ahead_hides_no_end(said: str, outcome: str) -> None:
    """A conversion is simulated: failover 4.1.2 seed 990801038, migration-11, 1.4 s ahead."""
    found = told(
        line(FORMER, 63_267, "JOIN_PHASE_STARTED"),
        line(NEW, 64_380, "GROUP_LOADED"),
        line(FORMER, 65_484, said),
        line(FORMER, 65_728, "GROUP_UNLOADED"),
    )
    assert found[0] == (FORMER, outcome, None)


def test_a_new_coordinator_ends_what_the_former_one_began() -> None:
    assert told(
        line(FORMER, 1_000, "JOIN_PHASE_STARTED"),
        line(NEW, 2_000, "GROUP_LOADED"),
        line(NEW, 3_000, "JOIN_PHASE_STARTED"),
        line(NEW, 3_010, "JOIN_PHASE_ENDED"),
        line(NEW, 3_020, "ASSIGNMENT_RECEIVED"),
    ) == [(NEW, "COMPLETED", 3_020), (FORMER, "INTERRUPTED", None)]


def test_a_conversion_that_failed_ends_no_rebalance() -> None:
    """`Converted` is logged before the request is judged: the join phase goes on where it fails."""
    assert told(
        line(NEW, 1_000, "JOIN_PHASE_STARTED"),
        line(NEW, 1_500, "CONVERTED_TO_CONSUMER"),
        line(NEW, 3_000, "JOIN_PHASE_ENDED"),
        line(NEW, 3_010, "ASSIGNMENT_RECEIVED"),
    ) == [(NEW, "COMPLETED", 3_010)]


def test_a_conversion_that_failed_ends_no_rebalance_that_empties_its_group() -> None:
    """Its assignor fails, and the last member goes. Simulated: consumer-17, troubled 4.0.2 seed
    992000108.
    """
    assert told(
        line(NEW, 31_248, "JOIN_PHASE_STARTED"),
        line(NEW, 65_622, "CONVERTED_TO_CONSUMER"),
        line(NEW, 65_622, "TARGET_FAILED"),
        line(NEW, 76_248, "GROUP_EMPTY"),
    ) == [(NEW, "EMPTY", None)]


def test_a_timer_of_the_classic_group_undoes_no_conversion() -> None:
    """Simulated: classic-5, troubled 4.4.0 seed 999000002."""
    assert told(
        line(NEW, 47_621, "JOIN_PHASE_STARTED"),
        line(NEW, 88_032, "CONVERTED_TO_CONSUMER"),
        line(NEW, 91_092, "GROUP_EMPTY"),
    ) == [(NEW, "CONVERTED", None)]


def test_a_conversion_that_failed_ends_no_sync_phase_that_begins_anew() -> None:
    sync_phase = (
        line(NEW, 1_000, "JOIN_PHASE_STARTED", epoch=3),
        line(NEW, 1_010, "JOIN_PHASE_ENDED", epoch=4),
        line(NEW, 1_500, "CONVERTED_TO_CONSUMER"),
    )
    anew = line(NEW, 2_000, "JOIN_PHASE_STARTED", epoch=4)
    assert told(*sync_phase, anew) == [(NEW, "RESTARTED", None), (NEW, "OPEN", None)]
    of_another = line(NEW, 2_000, "JOIN_PHASE_STARTED", epoch=0)
    assert told(*sync_phase, of_another) == [(NEW, "CONVERTED", None), (NEW, "OPEN", None)]


def test_a_conversion_ends_a_rebalance() -> None:
    """A downgrade begins another one, or shows at least that the group was converted."""
    lines = (line(NEW, 1_000, "JOIN_PHASE_STARTED"), line(NEW, 1_500, "CONVERTED_TO_CONSUMER"))
    assert told(*lines) == [(NEW, "CONVERTED", None)]
    assert told(*lines, line(NEW, 9_000, "CONVERTED_TO_CLASSIC")) == [(NEW, "CONVERTED", None)]
    assert told(
        *lines,
        line(NEW, 9_000, "JOIN_PHASE_STARTED"),
        line(NEW, 9_010, "JOIN_PHASE_ENDED"),
    ) == [(NEW, "CONVERTED", None), (NEW, "OPEN", None)]


def test_a_rebalance_is_begun_with_the_words_of_who_left() -> None:
    """They are on the line of the removal, which comes before. Another member's are not its. Of one
    that was removed by its instance the reason names nobody.
    """
    gone = line(NEW, 1_000, "MEMBER_LEFT")
    gone.event.member_id, gone.event.client_reason = "a", "the consumer is being closed"
    begun = line(NEW, 1_000, "JOIN_PHASE_STARTED")
    begun.event.detail = "LEFT"
    said = []
    for begun.event.member_id in ("a", "b", None):
        (rebalance,) = [
            each for each in proved("g", [gone, begun], 1_000) if isinstance(each, Rebalance)
        ]
        said.append(rebalance.client_reason)
    assert said == ["the consumer is being closed", None, "the consumer is being closed"]


def test_who_never_synced_was_dropped_by_the_rebalance_that_waited_for_it() -> None:
    """The next one begins for it, and names it: the line of its own is at DEBUG."""
    begun = line(NEW, 9_000, "JOIN_PHASE_STARTED")
    begun.event.detail, begun.event.member_ids = "SYNC_TIMEOUT", ("b", "a")
    lines = [line(NEW, 1_000, "JOIN_PHASE_STARTED"), line(NEW, 2_000, "JOIN_PHASE_ENDED"), begun]
    rebalances = [each for each in proved("g", lines, 9_000) if isinstance(each, Rebalance)]
    assert [(each.outcome, each.members_dropped) for each in rebalances] == [
        ("RESTARTED", ["a", "b"]),
        ("OPEN", []),
    ]
