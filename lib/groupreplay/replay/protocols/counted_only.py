"""Groups that are recognised and counted, and not replayed: share groups (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groupreplay.records.others import (
    SHARE_GROUP_METADATA,
    SHARE_MEMBER_METADATA,
    OtherGroupRecord,
)
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.change import Change
from groupreplay.replay.life import SHARE, SIMPLE
from groupreplay.replay.machine import GroupMachine, Home
from groupreplay.replay.operations import SHARE_STATE_PARTITION_METADATA, Operation

FIRST_STREAMS_KEY_TYPE = 17

_LATER: Final = ("initialized_topics", "deleting_topics")
"""Topics of a K15 that show an earlier one: each is initializing first."""


def share_records(operation: Operation) -> Iterator[OtherGroupRecord]:
    """The records of share groups in an operation, tombstones too."""
    for entry in operation.entries:
        record = entry.record
        if isinstance(record, OtherGroupRecord) and record.key_type < FIRST_STREAMS_KEY_TYPE:
            yield record


def is_birth(operation: Operation) -> bool:
    """Whether the operation begins a share group: its first epoch (1, or 2) with a member, or the
    first K15 alone: an administrator set offsets before anybody joined (4.1+).
    """
    values = [(r.key_type, r.value) for r in share_records(operation) if r.value is not None]
    is_first = any(
        key_type == SHARE_GROUP_METADATA and value.get("epoch") in (1, 2)
        for key_type, value in values
    )
    kinds = {key_type for key_type, _ in values}
    if kinds == {SHARE_STATE_PARTITION_METADATA} and operation.last_hole < 0:
        return not any(value.get(name) for _, value in values for name in _LATER)
    return is_first and SHARE_MEMBER_METADATA in kinds


def ends_group(operation: Operation) -> bool:
    """Whether the operation removes the group itself."""
    return any(
        record.key_type == SHARE_GROUP_METADATA and record.value is None
        for record in share_records(operation)
    )


class CountedMachine(GroupMachine):
    """A life of a share group: its epoch and its members."""

    @classmethod
    def begins(cls, operation: Operation) -> bool:
        return any(record.value is not None for record in share_records(operation))

    @classmethod
    def begin(
        cls, operation: Operation, home: Home, before: GroupMachine | None
    ) -> CountedMachine | None:
        birth_seen = is_birth(operation)
        if before is not None and before.life.protocol == SIMPLE:
            # The group existed by commits alone: they are its own.
            life = before.life
            life.become(SHARE, birth_seen=birth_seen)
        else:
            if before is not None:
                before.end(Change.of(operation), removed=False)
            life = home.life(operation.offset, SHARE, birth_seen=birth_seen)
        return cls(life, home).apply(operation)

    def takes(self, operation: Operation) -> bool:
        return any(True for _ in share_records(operation))

    def apply(self, operation: Operation) -> CountedMachine | None:
        if ends_group(operation):
            self.end(Change.of(operation), removed=True)
            return None
        _keep_members(self.membership, operation)
        return self

    def end(self, change: Change, *, removed: bool) -> None:
        """Members that were only counted have no rows that could end; commits that came before them
        may have.
        """
        self.membership.failovers.close()


def _keep_members(membership: Membership, operation: Operation) -> None:
    """Keeps epoch and members."""
    life, change = membership.life, Change.of(operation, membership.life)
    members = membership.members
    for record in share_records(operation):
        if record.key_type == SHARE_GROUP_METADATA and record.value is not None:
            membership.epochs.count_only(record.value.get("epoch"))
        elif record.key_type == SHARE_MEMBER_METADATA and record.value is not None:
            value = record.value
            members.describe(
                change,
                members.touch(change, record.member_id),
                value.get("instance_id"),
                value["client_id"],
                value["client_host"],
                SHARE,
            )
        elif record.key_type == SHARE_MEMBER_METADATA and record.member_id in life.members:
            members.remove(change, record.member_id, operation.offset)
