"""A small coordinator of the consumer protocol (as of Kafka 4.2), for logs that no recording has:
one group of many epochs, or of many members.

It keeps what GroupMetadataManager keeps and writes what that writes: a join or leave bumps the
epoch and moves targets, a heartbeat reconciles one member (CurrentAssignmentBuilder). The assignor
is the laziest fair one: who joins takes from those who have most, what a leaver had goes to those
with least.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.bench.stories import uvarint

STABLE, UNREVOKED, UNRELEASED = 0, 1, 2
TOPIC = "orders"
TOPIC_ID = bytes(range(16))
KeyValue = tuple[bytes, bytes | None]


def _plain(text: str) -> bytes:
    raw = text.encode()
    return struct.pack(">h", len(raw)) + raw


def _compact(text: str | None) -> bytes:
    return b"\x00" if text is None else uvarint(len(text.encode()) + 1) + text.encode()


def _partitions(partitions: Iterable[int]) -> bytes:
    """Compact array of TopicPartitions of one topic."""
    listed = sorted(partitions)
    if not listed:
        return b"\x01"
    return (
        b"\x02"
        + TOPIC_ID
        + uvarint(len(listed) + 1)
        + struct.pack(f">{len(listed)}i", *listed)
        + b"\x00"
    )


@dataclass(slots=True)
class _Member:
    epoch: int = 0
    previous: int = 0
    state: int = STABLE
    assigned: set[int] = field(default_factory=set)
    pending: set[int] = field(default_factory=set)
    target: set[int] = field(default_factory=set)


class Coordinator:
    """One group; every method returns the records of one operation."""

    def __init__(self, group_id: str, partitions: int) -> None:
        self._group = _plain(group_id)
        self._free = list(range(partitions - 1, -1, -1))
        self._owner: dict[int, str] = {}
        self._most: list[tuple[int, str]] = []
        self._least: list[tuple[int, str]] = []
        self._partitions = partitions
        self.epoch = 0
        self._target_epoch = 0
        self.members: dict[str, _Member] = {}

    def join(self, member_id: str) -> list[KeyValue]:
        """A member's first heartbeat: its metadata, an epoch, a target, its assignment."""
        member = self.members[member_id] = _Member()
        self.epoch += 1
        records = [self._k5(member_id), self._k3()]
        share = max(self._partitions // len(self.members), 1)
        changed = {member_id}
        while len(member.target) < share and self._free:
            member.target.add(self._free.pop())
        while len(member.target) < share:
            count, donor_id = heapq.heappop(self._most)
            donor = self.members.get(donor_id)
            if donor is None or len(donor.target) != -count:
                continue
            member.target.add(donor.target.pop())
            changed.add(donor_id)
            self._count(donor_id)
        self._count(member_id)
        return records + self._new_target(sorted(changed)) + self.heartbeat(member_id)

    def leave(self, member_id: str) -> list[KeyValue]:
        """Tombstones and an epoch; the target follows with the next heartbeat in Kafka, here in the
        same breath, as another operation's records.
        """
        member = self.members.pop(member_id)
        self.epoch += 1
        for partition in member.assigned | member.pending:
            del self._owner[partition]
        self._free += sorted(member.target)
        key = self._group + _plain(member_id)
        return [(_type(8) + key, None), (_type(7) + key, None), (_type(5) + key, None), self._k3()]

    def retarget(self, beating_id: str) -> list[KeyValue]:
        """The heartbeat after a leave: what was given up goes to those with least, then the member
        reconciles.
        """
        changed: set[str] = set()
        while self._free:
            count, taker_id = heapq.heappop(self._least)
            taker = self.members.get(taker_id)
            if taker is None or len(taker.target) != count:
                continue
            taker.target.add(self._free.pop())
            changed.add(taker_id)
            self._count(taker_id)
        return self._new_target(sorted(changed)) + self.heartbeat(beating_id)

    def heartbeat(self, member_id: str) -> list[KeyValue]:
        """What a member's next heartbeat writes; [] where nothing changes. A member asked to revoke
        has done so by then.
        """
        member = self.members[member_id]
        if member.state == STABLE and member.epoch == self._target_epoch:
            return []
        if member.state == UNREVOKED:
            for partition in member.pending:
                del self._owner[partition]
            member.pending = set()
        revoked = member.assigned - member.target
        if revoked:
            member.assigned -= revoked
            member.pending, member.state = revoked, UNREVOKED
        else:
            wanted = member.target - member.assigned
            free = {partition for partition in wanted if partition not in self._owner}
            self._owner.update(dict.fromkeys(free, member_id))
            state = STABLE if len(free) == len(wanted) else UNRELEASED
            if (
                state == member.state == UNRELEASED
                and not free
                and member.epoch == self._target_epoch
            ):
                return []
            member.assigned |= free
            member.previous, member.epoch, member.state = member.epoch, self._target_epoch, state
        return [self._k8(member_id, member)]

    def commit(self, partition: int, offset: int, at_ms: int) -> list[KeyValue]:
        key = _type(1) + self._group + _plain(TOPIC) + struct.pack(">i", partition)
        return [(key, struct.pack(">hqihq", 3, offset, -1, 0, at_ms))]

    def _count(self, member_id: str) -> None:
        count = len(self.members[member_id].target)
        heapq.heappush(self._most, (-count, member_id))
        heapq.heappush(self._least, (count, member_id))

    def _new_target(self, changed: list[str]) -> list[KeyValue]:
        self._target_epoch = self.epoch
        k7 = [
            (
                _type(7) + self._group + _plain(one),
                b"\x00\x00" + _partitions(self.members[one].target) + b"\x00",
            )
            for one in changed
        ]
        return [*k7, (_type(6) + self._group, struct.pack(">hi", 0, self.epoch) + b"\x00")]

    def _k3(self) -> KeyValue:
        return _type(3) + self._group, struct.pack(">hi", 0, self.epoch) + b"\x00"

    def _k5(self, member_id: str) -> KeyValue:
        value = b"".join(
            (
                b"\x00\x00", _compact(None), _compact(None), _compact("client-" + member_id.split("-")[0]), _compact("/10.0.0.1"),
                b"\x02" + _compact(TOPIC), _compact(None), struct.pack(">i", 300_000), _compact("uniform"), b"\x00",
            )
        )  # fmt: skip
        return _type(5) + self._group + _plain(member_id), value

    def _k8(self, member_id: str, member: _Member) -> KeyValue:
        head = struct.pack(">hiib", 0, member.epoch, member.previous, member.state)
        value = head + _partitions(member.assigned) + _partitions(member.pending) + b"\x00"
        return _type(8) + self._group + _plain(member_id), value


def _type(number: int) -> bytes:
    return number.to_bytes(2, "big")
