"""Chains of membership events, of recordings and of logs by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, fields
from typing import Any

import pytest

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.replay.decision_facts import Absence, Churn
from groupreplay.replay.decisions import charges as charges_module
from groupreplay.replay.decisions import churn as churn_module
from groupreplay.replay.facts import Epoch, MemberLife
from groupreplay.workers.waves.waves import WaveLimits, waves_of
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


def test_who_is_back_under_its_own_id_is_charged_with_what_nobody_read() -> None:
    """To its return, as a takeover is."""
    left = {"k8": "A", "epoch": -2, "prev": 1, "assigned": {"foo": [0, 1]}}
    there: list[dict[str, Any]] = [
        {"k5": "A", "instance": "i"},
        {"k7": "A", "target": {"foo": [0, 1]}},
        {"k8": "A", "prev": 0, "assigned": {"foo": [0, 1]}},
    ]
    born = [there[0], {"k3": 1}, there[1], {"k6": 1}, there[2]]
    gone = [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}]
    log = Log()
    log.write(*born)
    log.at(7_000).write(left)
    log.at(30_000).write(*gone, *there)
    facts = replayed(log.entries, NAMES)
    (chain,) = [fact for fact in facts if isinstance(fact, Churn)]
    assert chain.event_kinds == ["J", "A", "R"]
    assert chain.lows_ms == chain.asked_ms == [0, 0, 2 * 23_000]
    assert chain.moved_counts == [0, 0, 0]
    (absence,) = [fact for fact in facts if isinstance(fact, Absence)]
    assert (absence.outcome, absence.partitions, absence.moved) == ("ABSORBED", 2, 0)
    assert (absence.returned_at or 0) - (absence.left_at or 0) == 23_000


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
        kept = [lists.pop(name) for name in ("kept_events", "kept_ms", "kept_counts")]
        stops = [lists.pop(name) for name in _STOPS]
        left_out = [lists.pop(name) for name in ("left_out_events", "left_out_counts")]
        assert len({len(value) for value in left_out}) == 1
        assert {len(value) for value in lists.values()} == {len(chain.offsets)}
        places, _, numbers = kept
        assert len({len(value) for value in kept}) == 1
        assert sum(numbers) <= sum(chain.removed_counts)
        assert all(chain.removed_counts[place] for place in places)
        assert len({len(value) for value in stops}) == 1
        stopped: Counter[int] = Counter()
        for place, count in zip(chain.stop_events, chain.stop_partitions, strict=True):
            stopped[place] += count
        assert [stopped[place] for place in range(len(chain.offsets))] == chain.stop_counts
    ends = Counter(life.end_reason for life in lives)
    if counts:
        assert counts["G"] == ends["LEFT_OR_FENCED"]


_STOPS = ("stop_events", "stop_member_ids", "stop_partitions", "stop_read_ms")


def test_who_had_what_stopped_is_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of later generations only the partitions are counted."""
    monkeypatch.setattr(charges_module, "MAX_STOPS", 3)
    log = Log()
    for number in range(1, 5):
        members = {f"m{each}": {"foo": [each]} for each in range(number)}
        log.write({"k2": number, "members": members})
    (chain,) = (each for each in replayed(log.entries, NAMES) if isinstance(each, Churn))
    assert chain.stop_counts == [0, 1, 2, 3]
    assert chain.stop_events == [1, 2, 2]
    assert chain.stop_member_ids == ["m0", "m0", "m1"]


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


def test_a_chain_of_thousands_of_events_is_cut_and_goes_on() -> None:
    """A member comes and goes 2,500 times, with the real limit: the wave that is cut says so."""
    log = Log()
    for turn in range(2_500):
        epoch = 2 * turn + 1
        log.write({"k5": f"m{turn}"}, {"k3": epoch}, {"k8": f"m{turn}", "epoch": epoch, "prev": 0})
        gone = [{kind: f"m{turn}"} for kind in ("k8x", "k7x", "k5x")]
        log.write(*gone, {"k3": 2 * turn + 2})
    first, second = (each for each in replayed(log.entries, NAMES) if isinstance(each, Churn))
    assert (len(first.offsets), first.is_cut, first.is_final) == (4_096, True, True)
    assert (len(second.offsets), second.is_cut) == (904, False)
    assert second.offsets[0] > first.offsets[-1]
    limits = WaveLimits(gap_ms=3_600_000, registration_ms=900_000, expansion_ms=300_000)
    (cut, rest) = (waves_of(asdict(chain), limits, EVER_MS)[-1] for chain in (first, second))
    assert (cut.is_cut, rest.is_cut) == (True, False)


@pytest.mark.parametrize(
    ("late_ms", "kinds", "outcome"),
    [(0, [["J", "G", "J"]], "EXPIRED_RETURNED"), (1, [["J", "G"], ["J"]], "EXPIRED")],
)
def test_a_record_of_the_hour_itself_changes_rows_of_the_night_before(
    late_ms: int, kinds: list[list[str]], outcome: str
) -> None:
    """A millisecond later none does. `report.joins.horizons` closes no row before more than the
    hour was read: other records of the newest millisecond may be in the next night.
    """
    log = Log()
    log.write({"k5": "A", "instance": "i"}, {"k3": 1}, {"k8": "A", "epoch": 1, "prev": 0})
    (first, *_) = log.at(10_000).write({"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 2})
    cut = len(log.entries)
    log.at(first.ts_ms + MAX_CHAIN_GAP_MS + late_ms)
    log.write({"k5": "B", "instance": "i"}, {"k3": 3}, {"k8": "B", "epoch": 3, "prev": 0})
    facts = replayed(log.entries, NAMES, [cut])
    assert [each.event_kinds for each in facts if isinstance(each, Churn)] == kinds
    assert [each.outcome for each in facts if isinstance(each, Absence)] == [outcome]


EVER_MS = 10**15


def test_generations_say_whether_members_went_on_reading() -> None:
    """`upgrade-old-client` calls itself cooperative-sticky and is eager."""

    def generations(group_id: str) -> list[Epoch]:
        one = group("migration-4.3", group_id)
        facts = replayed(one.entries, one.names, (), group_id, one.offsets_partition)
        return [each for each in facts if isinstance(each, Epoch) and each.protocol == "classic"]

    old = {
        each.epoch: (each.cooperative, each.sync_ms) for each in generations("upgrade-old-client")
    }
    assert old[2] == (False, 8)
    told = {each.cooperative for each in generations("mixed-stall")} - {None}
    assert told == {True}


def test_an_upgrade_forgets_whose_client_id_an_instance_had() -> None:
    one = group("migration-4.3", "static-upgrade")
    facts = replayed(one.entries, one.names, (), one.group_id, one.offsets_partition)
    lives = [each for each in facts if isinstance(each, MemberLife) and not each.is_final]
    assert len(lives) == 3
    assert {each.client_inherited for each in lives} == {False}


def test_what_an_eager_generation_leaves_out_stands_still_until_the_next() -> None:
    log = Log()
    log.write({"k2": 5, "members": {"a": {"foo": [0]}, "b": {"foo": [1]}}})
    log.at(10_000)
    log.write({"k2": 6, "members": {"a": {"foo": [0]}, "b": {}, "c": {}}})
    log.at(70_000)
    log.write({"k2": 7, "members": {"a": {"foo": [0]}, "b": {}, "c": {"foo": [1]}}})
    (chain,) = [fact for fact in replayed(log.entries, NAMES) if isinstance(fact, Churn)]
    assert (chain.event_kinds, chain.group_modes) == (["J"], ["EAGER"])
    assert (chain.stop_counts, chain.moved_counts) == ([2], [1])
    assert chain.gap_ms == [60_000]


def test_a_member_whose_k5_is_lost_may_have_taken_an_instance_over() -> None:
    """What the cleaner leaves of a static member's return looks like the joining of another one."""
    log = Log()
    target = {"foo": [0]}
    log.write(
        {"k5": "A", "instance": "i"},
        {"k3": 1},
        {"k7": "A", "target": target},
        {"k6": 1},
        {"k8": "A", "epoch": 1, "prev": 0, "assigned": target},
    )
    log.write(
        *({"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}),
        {"k5": "B", "instance": "i"},
        {"k7": "B", "target": target},
        {"k8": "B", "epoch": 0, "prev": 0, "assigned": target},
        {"k5": "B", "instance": "i", "topics": ["foo", "bar"]},
        {"k3": 2},
        {"k7": "B", "target": target},
        {"k6": 2},
        {"k8": "B", "epoch": 2, "prev": 0, "assigned": target},
    )
    kept = [entry for entry in log.entries if not 8 <= entry.offset <= 11]
    cleaned = [entry._replace(last_hole=11) if entry.offset > 11 else entry for entry in kept]
    (chain,) = [fact for fact in replayed(cleaned, NAMES) if isinstance(fact, Churn)]
    assert chain.event_kinds == ["J"]
