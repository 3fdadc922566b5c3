"""Groups that are told apart and counted, and not replayed: share (KIP-932), streams (KIP-1071)."""

from __future__ import annotations

from groupreplay.records.others import (
    SHARE_MEMBER_METADATA,
    STREAMS_MEMBER_METADATA,
    OtherGroupRecord,
)
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.change import Change
from groupreplay.replay.life import SHARE, SIMPLE, STREAMS, UNKNOWN, Member
from groupreplay.replay.machine import GroupMachine, Home
from groupreplay.replay.operations import Operation

SHARE_GROUP_METADATA = 11
STREAMS_GROUP_METADATA = 17
FIRST_STREAMS_KEY_TYPE = 17


def protocol_of(operation: Operation) -> str | None:
    """`share` or `streams` where the operation holds a value of such a group, else None (tombstones
    alone tell nothing new).
    """
    for entry in operation.entries:
        if isinstance(entry.record, OtherGroupRecord) and entry.record.value is not None:
            return STREAMS if entry.record.key_type >= FIRST_STREAMS_KEY_TYPE else SHARE
    return None


def is_birth(operation: Operation) -> bool:
    """Whether the operation begins such a group: its first epoch (1; streams groups begin at 2)
    with its first member.
    """
    values = [
        (e.record.key_type, e.record.value)
        for e in operation.entries
        if isinstance(e.record, OtherGroupRecord) and e.record.value is not None
    ]
    first = any(
        key_type in (SHARE_GROUP_METADATA, STREAMS_GROUP_METADATA) and value.get("epoch") in (1, 2)
        for key_type, value in values
    )
    return first and any(
        key_type in (SHARE_MEMBER_METADATA, STREAMS_MEMBER_METADATA) for key_type, _ in values
    )


def ends_group(operation: Operation) -> bool:
    """Whether the operation removes the share or streams group itself."""
    return any(
        isinstance(e.record, OtherGroupRecord)
        and e.record.key_type in (SHARE_GROUP_METADATA, STREAMS_GROUP_METADATA)
        and e.record.value is None
        for e in operation.entries
    )


class CountedMachine(GroupMachine):
    """A life of a share or streams group: its epoch and its members."""

    @classmethod
    def begins(cls, operation: Operation) -> bool:
        return protocol_of(operation) is not None

    @classmethod
    def begin(
        cls, operation: Operation, home: Home, before: GroupMachine | None
    ) -> CountedMachine | None:
        protocol, birth_seen = protocol_of(operation) or UNKNOWN, is_birth(operation)
        if before is not None and before.life.protocol == SIMPLE:
            # The group existed by commits alone: they are its own.
            life = before.life
            life.become(protocol, birth_seen=birth_seen)
        else:
            if before is not None:
                before.end(Change.of(operation), removed=False)
            life = home.life(operation.offset, protocol, birth_seen=birth_seen)
        return cls(life, home).apply(operation)

    def takes(self, operation: Operation) -> bool:
        return protocol_of(operation) in (None, self.life.protocol)

    def apply(self, operation: Operation) -> CountedMachine | None:
        if ends_group(operation):
            return None
        _keep_members(self.membership, operation)
        return self


def _keep_members(membership: Membership, operation: Operation) -> None:
    """Keeps epoch and members."""
    life = membership.life
    for entry in operation.entries:
        record = entry.record
        if not isinstance(record, OtherGroupRecord):
            continue
        if (
            record.key_type in (SHARE_GROUP_METADATA, STREAMS_GROUP_METADATA)
            and record.value is not None
        ):
            membership.epochs.count_only(record.value.get("epoch"))
        elif record.key_type in (SHARE_MEMBER_METADATA, STREAMS_MEMBER_METADATA):
            if record.value is None:
                life.members.pop(record.member_id, None)
            else:
                life.members[record.member_id] = Member(
                    record.member_id,
                    instance_id=record.value.get("instance_id"),
                    client_id=record.value.get("client_id"),
                    client_host=record.value.get("client_host"),
                    protocol=life.protocol,
                )
