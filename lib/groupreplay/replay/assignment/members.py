"""Who is in a group: the only writer of what a member is, wants, and has by its last K8.

It also keeps the counts of members that are asked for at every operation.
"""

from __future__ import annotations

from typing import NamedTuple

from groupreplay.records.consumer import STABLE, UNREVOKED_PARTITIONS
from groupreplay.records.entries import Entry
from groupreplay.replay.change import Before, Change
from groupreplay.replay.life import CLASSIC, Life, Member, Profile, TopicPartition


class Current(NamedTuple):
    """What a record says that a member is and has.

    previous_epoch: member epoch before, -1 where the record does not say it.
    """

    epoch: int
    previous_epoch: int
    state: int
    assigned: frozenset[TopicPartition]
    pending: frozenset[TopicPartition]


class Members:
    """The members of one life.

    classic_changed: ids of members of the classic protocol that came or went, or changed to or from
        it, since somebody asked last; None unless the group is mixed.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self.classic_changed: set[str] | None = None

    def touch(self, change: Change, member_id: str) -> Member:
        """The member, made if need be; its state before the operation is kept at the first
        touch.
        """
        life = self._life
        member = life.members.get(member_id)
        existed = member is not None
        if member is None:
            member = change.removed.pop(member_id, None) or Member(member_id)
            life.members[member_id] = member
            self._count(member, 1)
        if member_id not in change.before:
            change.before[member_id] = Before(
                existed,
                member.epoch,
                member.previous_epoch,
                member.state,
                member.assigned,
                member.pending,
                member.current_offset,
                member.current_at,
            )
        return member

    def remove(self, change: Change, member_id: str, offset: int) -> None:
        """Takes a member out of the group; its rows end when the operation is settled."""
        member = self.touch(change, member_id)
        self._count(member, -1)
        del self._life.members[member_id]
        member.assigned = member.pending = frozenset()
        change.removed[member_id] = member
        change.offsets.setdefault(member_id, offset)

    def describe(
        self,
        change: Change,
        member: Member,
        instance_id: str | None,
        client_id: str,
        client_host: str,
        protocol: str,
    ) -> None:
        """Sets who a member is, and keeps the counts by client and by protocol."""
        described = (instance_id, client_id, client_host, protocol)
        if described == (member.instance_id, member.client_id, member.client_host, member.protocol):
            return
        before = change.before[member.member_id]
        if before.existed and before.described is None:
            before.described = member.client
        if (client_id, client_host) != (member.client_id, member.client_host):
            member.client_inherited = False
        self._count(member, -1)
        member.instance_id, member.client_id, member.client_host, member.protocol = described
        self._count(member, 1)

    def run_in(self, member: Member, process_id: str) -> None:
        """Sets the process of Kafka Streams that a member is a thread of."""
        member.process_id = process_id

    def subscribe(
        self,
        member: Member,
        entry: Entry,
        topics: tuple[str, ...],
        regex: str,
        assignor: str | None,
        rebalance_timeout_ms: int,
    ) -> None:
        """Sets what a member wants, and how long it may take to give partitions back."""
        member.described_offset = entry.offset
        member.subscription, member.regex, member.assignor = topics, regex, assignor
        member.rebalance_timeout_ms = rebalance_timeout_ms

    def inherit_subscription(self, member: Member, before: Member) -> None:
        """A static member came back under a new id, and wants what it wanted before."""
        member.subscription, member.regex = before.subscription, before.regex
        member.subscription_epoch = before.subscription_epoch

    def profile(self, member: Member, profile: Profile) -> None:
        """Sets what else a member said when it joined."""
        member.profile = profile

    def inherit_client(self, member: Member, before: Member, *, same_generation: bool) -> None:
        """A classic static member came back under a new id. In the generation that it left it keeps
        client id and host of the process before (ClassicGroup.replaceStaticMember: they are final
        in ClassicGroupMember); in a later one it may as well have been removed and be new.
        """
        is_same = member.client_key == before.client_key
        member.client_inherited = is_same if same_generation or not is_same else None

    def join(self, member: Member, at: int, offset: int, *, observed: bool) -> None:
        """Sets when a member was first seen. A static member that had joined before may have the
        client of an earlier process.
        """
        member.joined_at, member.joined_offset, member.join_observed = at, offset, observed
        if not observed and member.client_inherited is False:
            member.client_inherited = None

    def note_subscription(self, member: Member, *, begins_epoch: bool) -> None:
        """A member changed what it subscribes to, at the end of the operation.

        begins_epoch: the operation began an epoch. Else one will come, when the regular expression
            is resolved: the target of now was made before.
        """
        member.subscription_epoch = (self._life.epoch or 0) + (not begins_epoch)

    def assign(self, member: Member, entry: Entry, current: Current) -> None:
        """Sets what a K8, or a member's part of a K2, says of a member."""
        self._set_current(member, current.epoch, current.state)
        member.previous_epoch = current.previous_epoch
        member.assigned, member.pending = current.assigned, current.pending
        member.current_offset, member.current_at = entry.offset, entry.ts_ms
        if current.state == UNREVOKED_PARTITIONS:
            member.revoking_since = entry.ts_ms

    def unassign(self, member: Member) -> None:
        """A member's K8 is gone: it has neither epoch nor partitions."""
        self._set_current(member, None, STABLE)
        member.assigned = member.pending = frozenset()

    def lose(self, member: Member, tp: TopicPartition) -> None:
        """A member let go of a partition inside a hole."""
        member.assigned, member.pending = member.assigned - {tp}, member.pending - {tp}

    def _set_current(self, member: Member, epoch: int | None, state: int) -> None:
        """Keeps the count of members STABLE in an epoch."""
        if epoch == member.epoch and state == member.state:
            return
        self._count_stable(member, -1)
        member.epoch, member.state = epoch, state
        self._count_stable(member, 1)

    def _count(self, member: Member, by: int) -> None:
        life = self._life
        self._count_stable(member, by)
        if member.protocol == CLASSIC:
            life.classic_members += by
            if self.classic_changed is not None:
                self.classic_changed.add(member.member_id)
        key = member.client_key
        life.clients[key] = life.clients.get(key, 0) + by
        if not life.clients[key]:
            del life.clients[key]
        host = member.client_host or ""
        life.hosts[host] = life.hosts.get(host, 0) + by
        if not life.hosts[host]:
            del life.hosts[host]

    def _count_stable(self, member: Member, by: int) -> None:
        if member.epoch is None or member.state != STABLE:
            return
        stable = self._life.stable
        stable[member.epoch] = stable.get(member.epoch, 0) + by
        if not stable[member.epoch]:
            del stable[member.epoch]
