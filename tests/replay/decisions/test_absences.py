"""Absences of members in recordings: what each group of docs/decisions.md must give, from the topic
alone.
"""

from __future__ import annotations

import pytest

from groupreplay.replay.decision_facts import Absence
from tests.support.recordings import all_groups, group
from tests.support.replaying import replayed, snapshot_of


def absences(recording: str, group_id: str) -> list[Absence]:
    recorded = group(recording, group_id)
    facts = replayed(
        recorded.entries, recorded.names, (), recorded.group_id, recorded.offsets_partition
    )
    found = [fact for fact in facts if isinstance(fact, Absence)]
    return sorted(found, key=lambda each: each.from_offset)


def apart(later: int | None, earlier: int | None) -> int | None:
    return None if later is None or earlier is None else later - earlier


def test_classic_static_members_are_absorbed_until_one_never_comes_back() -> None:
    *absorbed, expired = absences("classic-3.9", "classic-static")
    assert [(each.instance_id, each.to_offset) for each in absorbed] == [
        ("classic-static-i0", 36),
        ("classic-static-i1", 69),
        ("classic-static-i2", 104),
    ]
    assert [apart(each.returned_at, each.last_commit_at) for each in absorbed] == [4014, 3525, 3091]
    for each in absorbed:
        assert (each.outcome, each.membership, each.left_at) == ("ABSORBED", "STATIC", None)
        assert (each.partitions, each.epochs_opened, each.own_session_ms) == (2, 0, 12_000)
    assert (expired.to_offset, expired.instance_id) == (175, "classic-static-i2")
    assert (expired.outcome, expired.partitions, expired.epochs_opened) == ("EXPIRED", 2, 1)
    assert apart(expired.removed_at, expired.last_commit_at) == 12_896
    assert not expired.is_final, "it may still come back"
    assert [each.moved for each in absorbed] == [0, 0, 0]
    assert expired.moved == 3, "one more than it held: the leader dealt anew"


def test_two_processes_with_one_instance_id_look_like_fast_restarts() -> None:
    taken = absences("classic-3.9", "classic-fenced-instance")
    assert [(each.to_offset, each.outcome) for each in taken] == [
        (18, "ABSORBED"),
        (23, "ABSORBED"),
    ]
    assert [apart(each.returned_at, each.last_commit_at) for each in taken] == [26, 790]


@pytest.mark.parametrize(
    ("recording", "group_id", "places", "absorbed_ms", "blind_ms"),
    [
        ("consumer-4.3", "static-bounce", [(38, 55), (83, 120)], 3968, 10_676),
        ("migration-4.0", "static-bounce", [(47, 64), (94, 133)], 4002, 10_863),
        ("info-4.3", "static-bounce-i", [(52, 65), (116, 202)], 4015, 10_475),
    ],
)
def test_a_consumer_member_that_left_is_gone_since_its_record(
    recording: str, group_id: str, places: list[tuple[int, int]], absorbed_ms: int, blind_ms: int
) -> None:
    absorbed, expired = absences(recording, group_id)
    assert [(each.from_offset, each.to_offset) for each in (absorbed, expired)] == places
    assert (absorbed.outcome, expired.outcome) == ("ABSORBED", "EXPIRED")
    assert apart(absorbed.returned_at, absorbed.left_at) == absorbed_ms
    assert apart(expired.removed_at, expired.left_at) == blind_ms
    assert (absorbed.partitions, absorbed.epochs_opened) == (2, 0)
    assert (absorbed.moved, expired.moved) == (0, 2)
    assert (expired.partitions, expired.epochs_opened, expired.own_session_ms) == (2, 1, None)


@pytest.mark.parametrize(
    ("group_id", "gaps_ms"), [("fence-loop", [4094, 3729, 2889, 2908]), ("frozen", [13_227])]
)
def test_a_dynamic_member_that_came_back(group_id: str, gaps_ms: list[int]) -> None:
    found = absences("consumer-4.3", group_id)
    assert {(each.membership, each.outcome) for each in found} == {("DYNAMIC", "RETURNED")}
    assert [apart(each.returned_at, each.removed_at) for each in found] == gaps_ms
    assert not any(each.is_final for each in found), "what it moved is counted for an hour"


def test_an_upgrade_takes_static_members_over() -> None:
    found = absences("migration-4.3", "static-upgrade")
    assert [(each.to_offset, each.outcome) for each in found] == [
        (36, "ABSORBED"),
        (66, "ABSORBED"),
        (92, "ABSORBED"),
    ]


def test_a_refused_instance_was_never_gone() -> None:
    assert absences("consumer-4.3", "duplicate-instance") == []


def test_a_snapshot_lists_what_ended() -> None:
    recorded = group("other-groups-4.2", "classic-static")
    snapshot = snapshot_of(replayed(recorded.entries, recorded.names))
    assert snapshot is not None
    assert snapshot.static_outcomes == ["ABSORBED", "ABSORBED", "ABSORBED", "EXPIRED"]
    assert snapshot.static_gap_high_ms == [3591, 3017, 3127, None]
    assert snapshot.static_gap_low_ms == [0, 0, 0, None]


def test_every_absence_is_of_one_process_and_in_order() -> None:
    """A process is away once at a time, and what is told of it never overlaps."""
    seen = 0
    for recorded in all_groups():
        last: dict[str, int] = {}
        for each in absences(recorded.recording, recorded.group_id):
            begun = each.left_at or each.removed_at or each.returned_at or 0
            assert begun >= last.get(each.identity, 0), (recorded.recording, each)
            last[each.identity] = each.returned_at or each.removed_at or begun
            seen += 1
    assert seen > 40
