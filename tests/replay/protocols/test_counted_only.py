"""Share groups are counted, and nothing of them is replayed. Source: KIP-932."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from groupreplay.replay.facts import Fact, GroupSnapshot, MemberLife
from groupreplay.replay.operations import Operation
from groupreplay.replay.protocols.counted_only import ends_group, is_birth
from tests.support.building import Log
from tests.support.replaying import replayed, snapshot_of
from tests.support.words import Form

OFFSETS: Form = {"other": 15, "value": {"initializing_topics": ()}}
EPOCH: Form = {"other": 11, "value": {"epoch": 1}}


def member(name: str) -> Form:
    value = {"client_id": name, "client_host": "/h"}
    return {"other": 10, "member": name, "value": value}


def operation(*forms: Form) -> Operation:
    return Operation(Log().write(*forms))


def facts_of(*operations: Sequence[Form]) -> list[Fact]:
    log = Log()
    for forms in operations:
        log.write(*forms)
    return replayed(log.entries, {})


def end_of(*operations: Sequence[Form]) -> GroupSnapshot:
    found = snapshot_of(facts_of(*operations))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("forms", "birth"),
    [
        ([member("A"), EPOCH], True),
        ([member("A"), {"other": 11, "value": {"epoch": 2}}], True),
        ([member("A"), {"other": 11, "value": {"epoch": 3}}], False),
        ([EPOCH], False),
        ([{"otherx": 10, "member": "A"}, EPOCH], False),
        ([OFFSETS], True),
        ([{"other": 15, "value": {"initializing_topics": (), "initialized_topics": (1,)}}], False),
        ([EPOCH, OFFSETS], False),
    ],
)
def test_a_first_epoch_with_a_member_is_a_birth(forms: list[Form], birth: bool) -> None:
    assert is_birth(operation(*forms)) is birth


def test_offsets_behind_a_hole_are_no_birth() -> None:
    log = Log()
    log.write({"k1": "foo-0"})
    log.skip(2)
    assert not is_birth(Operation(log.write(OFFSETS)))


def test_a_group_whose_offsets_were_set_first_is_known_from_then_on() -> None:
    row = end_of([OFFSETS], [member("A"), {"other": 11, "value": {"epoch": 2}}])
    assert (row.incarnation, row.history_complete, row.group_epoch) == (0, True, 2)


def test_only_the_tombstone_of_its_epoch_ends_a_group() -> None:
    assert ends_group(operation({"otherx": 11}))
    assert not ends_group(operation({"otherx": 10, "member": "A"}))


def test_members_that_come_and_go_are_counted() -> None:
    row = end_of([member("A"), member("B"), EPOCH], [{"otherx": 10, "member": "A"}])
    assert (row.protocol, row.phase, row.members_total) == ("share", "NOT_APPLICABLE", 1)
    assert (row.group_epoch, row.start_observed) == (1, True)


def test_no_member_of_it_has_a_row() -> None:
    facts = facts_of([member("A"), EPOCH], [{"otherx": 10, "member": "A"}, {"otherx": 11}])
    assert not [each for each in facts if isinstance(each, MemberLife)]
    assert snapshot_of(facts) is None


def test_a_group_that_was_there_by_its_commits_becomes_one() -> None:
    row = end_of([{"k1": "foo-0"}], [member("A"), EPOCH])
    assert (row.protocol, row.incarnation) == ("share", 0)
