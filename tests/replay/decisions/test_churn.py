"""Chains of membership events, of recordings and of logs by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

import pytest

from groupreplay.replay.decision_facts import Churn
from groupreplay.replay.decisions import churn as churn_module
from groupreplay.replay.facts import MemberLife
from tests.support.building import NAMES, Log
from tests.support.recordings import RecordedGroup, all_groups, group
from tests.support.replaying import replayed

_ALL = [each for each in all_groups() if not each.recording.startswith(("compacted", "streams-p"))]


def chains(recorded: RecordedGroup) -> list[Churn]:
    facts = replayed(
        recorded.entries, recorded.names, (), recorded.group_id, recorded.offsets_partition
    )
    return [fact for fact in facts if isinstance(fact, Churn)]


def test_a_deploy_is_six_out_and_six_in() -> None:
    (chain,) = chains(group("consumer-4.3", "wave"))
    assert chain.event_kinds == ["J"] * 8 + ["G"] * 6 + ["J"] * 6
    assert (chain.offsets[8], chain.offsets[-1]) == (71, 162)
    assert (chain.group_epochs_before[8], chain.group_epochs[-1]) == (9, 21)
    assert min(chain.members_after) == 1, "the first of eight"
    assert sum(chain.held_counts) == 8, "of what was left of 12 when each of them went"


def test_static_members_are_away_taken_over_and_gone() -> None:
    (chain,) = chains(group("consumer-4.3", "static-bounce"))
    events = list(zip(chain.event_kinds, chain.offsets, chain.record_ends, strict=True))
    assert events[3:] == [("A", 38, None), ("R", 55, None), ("A", 83, None), ("G", 120, "EXPIRED")]


@pytest.mark.parametrize("recorded", _ALL, ids=lambda each: f"{each.recording}-{each.group_id}")
def test_events_are_the_members_that_came_and_went(recorded: RecordedGroup) -> None:
    """Of logs without holes: the counts after each operation follow from its events, and each event
    is one end or beginning of a member's life.
    """
    if any(entry.last_hole >= 0 for entry in recorded.entries):
        pytest.skip("a hole hides events")
    facts = replayed(
        recorded.entries, recorded.names, (), recorded.group_id, recorded.offsets_partition
    )
    lives = [fact for fact in facts if isinstance(fact, MemberLife)]
    counts: Counter[str] = Counter()
    for chain in (fact for fact in facts if isinstance(fact, Churn)):
        kinds = Counter(chain.event_kinds)
        assert chain.members_before + kinds["J"] - kinds["G"] == chain.members_after[-1]
        counts += kinds
        assert chain.times_at == sorted(chain.times_at)
        lists = {name: value for name, value in vars_of(chain).items() if isinstance(value, list)}
        assert {len(value) for value in lists.values()} == {len(chain.offsets)}
    ends = Counter(life.end_reason for life in lives)
    if counts:
        assert counts["G"] == ends["LEFT_OR_FENCED"]


def vars_of(chain: Churn) -> dict[str, object]:
    return {each.name: getattr(chain, each.name) for each in fields(chain)}


def test_a_chain_is_cut_when_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(churn_module, "MAX_EVENTS", 3)
    log = Log()
    for number in range(2, 9):
        log.write({"k2": number, "members": {f"m{number}": {"foo": [0]}}})
    told = [fact for fact in replayed(log.entries, NAMES) if isinstance(fact, Churn)]
    assert [len(chain.offsets) for chain in told] == [3, 3, 3, 3]
    assert [chain.is_cut for chain in told] == [True, True, True, False]
    assert "".join("".join(chain.event_kinds) for chain in told) == "GJ" * 6
    assert [chain.members_before for chain in told] == [1, 1, 1, 1]
