"""A group as it stands: its phase on the way to the consumer protocol. Source: docs/measures.md,
Phase and progress.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.replay.facts import GroupSnapshot
from groupreplay.replay.life import CLASSIC, CONSUMER, SHARE, Life, Member
from groupreplay.replay.snapshot import migration_phase, snapshot


def life(protocol: str, *protocols: str, **more: Any) -> Life:
    """A life with a member of each of the protocols."""
    made = Life("g", 0, 10, protocol, **more)
    for number, each in enumerate(protocols):
        member = Member(f"m{number}", client_id=f"c{number}", protocol=each)
        made.members[member.member_id] = member
        made.classic_members += each == CLASSIC
    return made


@pytest.mark.parametrize(
    ("of", "phase"),
    [
        (life(SHARE, SHARE), "NOT_APPLICABLE"),
        (life(CLASSIC, CLASSIC, protocol_type="connect"), "NOT_APPLICABLE"),
        (
            life(CLASSIC, CLASSIC, protocol_type="consumer", protocol_name="stream"),
            "NOT_APPLICABLE",
        ),
        (life(CONSUMER), "EMPTY"),
        (life(CLASSIC, CLASSIC, protocol_type="consumer"), "CLASSIC"),
        (life(CLASSIC, CLASSIC, last_direction="UPGRADE"), "CLASSIC"),
        (life(CLASSIC, CLASSIC, last_direction="DOWNGRADE"), "ROLLED_BACK"),
        (life(CONSUMER, CONSUMER, CLASSIC), "MIGRATING"),
        (life(CONSUMER, CONSUMER, last_direction="UPGRADE"), "MIGRATED"),
        (life(CONSUMER, CONSUMER, birth_seen=True), "NATIVE"),
        (life(CONSUMER, CONSUMER, birth_seen=True, hole_seen=True), "CONSUMER"),
        (life(CONSUMER, CONSUMER), "CONSUMER"),
    ],
)
def test_the_first_phase_that_applies(of: Life, phase: str) -> None:
    assert migration_phase(of) == phase


def told(of: Life) -> GroupSnapshot:
    return snapshot(of)


def test_members_of_the_classic_protocol_keep_a_group_from_going_on() -> None:
    row = told(life(CONSUMER, CLASSIC, CONSUMER, CLASSIC))
    assert (row.members_total, row.members_consumer, row.members_classic) == (3, 1, 2)
    assert row.blocker_member_ids == ["m0", "m2"]
    assert row.blocker_client_ids == ["c0", "c2"]


def test_of_a_group_that_cannot_take_part_nobody_is_a_blocker() -> None:
    assert told(life(CLASSIC, CLASSIC, protocol_type="connect")).blocker_member_ids == []


def test_an_empty_group_says_what_it_was() -> None:
    assert told(life(CONSUMER, last_phase="MIGRATING")).last_phase == "MIGRATING"
    assert told(life(CONSUMER, CONSUMER, last_phase="MIGRATING")).last_phase is None


def test_history_is_complete_from_a_birth_without_a_hole() -> None:
    complete = [
        told(life(CONSUMER, birth_seen=seen, hole_seen=hole)).history_complete
        for seen, hole in ((True, False), (True, True), (False, False))
    ]
    assert complete == [True, False, False]
