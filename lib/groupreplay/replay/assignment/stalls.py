"""Stretches of time in which a member waits, is silent or away: what `stuck_members` is made of.
Members that hold what they do not use are in `quiet`.

The machine gives every stretch past a floor; the report decides which are long enough. Source:
docs/measures.md, Stuck.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from dataclasses import dataclass

from groupreplay.limits import MIN_STALL_MS
from groupreplay.records.consumer import (
    STATIC_LEAVE_EPOCH,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
)
from groupreplay.replay.assignment.new_stall import new_stall
from groupreplay.replay.change import Before, Change, Moment
from groupreplay.replay.facts import Stall
from groupreplay.replay.life import (
    CLASSIC,
    RECONCILING,
    Life,
    Member,
    TopicPartition,
)
from groupreplay.replay.output import Output
from groupreplay.replay.partition_waits import PartitionWaits
from groupreplay.replay.rules.judge import Judge
from groupreplay.replay.rules.of_groups import reaches_target


@dataclass(slots=True)
class _Doubt:
    """A member for which operation end has to judge whom it waits for.

    offset: offset of the record that makes it doubtful.
    begins: a wait may begin.
    observed: no hole hides when.
    """

    offset: int
    begins: bool = False
    observed: bool = True


class Stalls:
    """Waits, silences, limbo and fence loops of one life's members.

    waits: by which a member's wait is judged; a streams group has its own.
    """

    def __init__(self, life: Life, output: Output, judge: Judge) -> None:
        self._life = life
        self._output = output
        self._judge = judge
        self._unjudged: dict[str, _Doubt] = {}
        self.waits = PartitionWaits(life)

    # ------------------------------------------------------------ waiting for a holder

    def forget(self, member: Member) -> None:
        """What a member was in ended somewhere in a hole: how long it lasted is not known."""
        member.wait = member.limbo = member.revocation = None

    def forget_waiting(self, member: Member) -> None:
        """A member is gone: it waits for nothing."""
        self._set_waiting(member, set())

    def watch_wait(self, member: Member, offset: int, begins: bool, observed: bool) -> None:
        """After a member's K8.

        begins: it is in another epoch or state than before, so a wait may begin with it.
        """
        if member.state == UNRELEASED_PARTITIONS or member.waiting or member.wait is not None:
            self._unjudged[member.member_id] = _Doubt(offset, begins, observed)

    def retargeted(self, member: Member, offset: int) -> None:
        """After a member's K7: it may wait for other partitions, or for none."""
        if member.state == UNRELEASED_PARTITIONS:
            self._unjudged.setdefault(member.member_id, _Doubt(offset))

    def changed_hands(self, tps: Collection[TopicPartition], offset: int) -> None:
        """Partitions were let go, or reached a member: who waits for them may wait for another one
        now, or for nobody.
        """
        waiters = self._life.waiters
        if waiters:
            for tp in tps:
                for member_id in waiters.get(tp, ()):
                    self._unjudged.setdefault(member_id, _Doubt(offset))

    def judge_waits(self, at: int, last_hole: int) -> None:
        """At operation end: who waits for whom, of the members for which that may have changed.

        A hole after a member's last K8 may hide that its wait was over: such a wait gives no row.
        """
        if not self._unjudged:
            return
        unjudged, self._unjudged = self._unjudged, {}
        for member_id in sorted(unjudged):
            member = self._life.members.get(member_id)
            if member is not None:
                if last_hole > member.current_offset:
                    member.wait = None
                self._judge_wait(member, at, unjudged[member_id])

    def _judge_wait(self, member: Member, at: int, doubt: _Doubt) -> None:
        self._set_waiting(member, self._missing(member))
        held = {tp: others for tp in member.waiting if (others := self.waits.holding(tp, member))}
        if not held:
            self.end_wait(member, at, doubt.offset)
            return
        blockers = {m for others in held.values() for m in others}
        if (row := member.state_row) is not None:
            row.waiting_on = sorted({*row.waiting_on, *blockers})
        if member.wait is None and doubt.begins:
            member.wait = new_stall(self._life, "WAITING_ON_HOLDER", member, at, doubt.offset, [])
            member.wait.start_observed = doubt.observed
            member.wait.partitions_waiting = len(held)
        if member.wait is not None:
            member.wait.blocked_by = sorted({*member.wait.blocked_by, *blockers})
            member.wait.deadline_at = self._deadline(blockers)

    def _missing(self, member: Member) -> set[TopicPartition]:
        """What an UNRELEASED member has not got of its target; nothing for any other."""
        is_waiting = (
            member.state == UNRELEASED_PARTITIONS
            and member.epoch != STATIC_LEAVE_EPOCH
            and self._life.protocol in RECONCILING
        )
        return self.waits.missing(member) if is_waiting else set()

    def arm(self, holder: Member, at: int) -> None:
        """A K8 in UNREVOKED_PARTITIONS armed its member's rebalance timer, which is a deadline for
        whoever waits for it.
        """
        if holder.revocation is None:
            return
        holder.revocation.partitions_held = len(holder.requests)
        if holder.protocol in RECONCILING and holder.rebalance_timeout_ms >= 0:
            holder.revocation.deadline_at = at + holder.rebalance_timeout_ms
        for member_id in {m for tp in holder.requests for m in self._life.waiters.get(tp, ())}:
            waiter = self._life.members.get(member_id)
            if waiter is not None and waiter.wait is not None:
                waiter.wait.deadline_at = self._deadline(
                    {m for tp in waiter.waiting for m in self.waits.holding(tp, waiter)}
                )

    def forget_deadlines(self) -> None:
        """Another leader armed every timer again, at a time that no record shows."""
        for member in self._life.members.values():
            for stall in (member.revocation, member.wait):
                if stall is not None:
                    stall.deadline_at = None

    def _deadline(self, blockers: set[str]) -> int | None:
        """When the last of the holders' rebalance timers runs out; None where a holder has none, or
        there is none.
        """
        deadlines: list[int] = []
        for member_id in blockers:
            holder = self._life.members.get(member_id)
            deadline = (
                holder.revocation.deadline_at
                if holder is not None and holder.revocation is not None
                else None
            )
            if deadline is None:
                return None
            deadlines.append(deadline)
        return max(deadlines, default=None)

    def _set_waiting(self, member: Member, wanted: set[TopicPartition]) -> None:
        for tp in member.waiting - wanted:
            waiters = self._life.waiters.get(tp, set())
            waiters.discard(member.member_id)
            if not waiters:
                self._life.waiters.pop(tp, None)
        for tp in wanted - member.waiting:
            self._life.waiters.setdefault(tp, set()).add(member.member_id)
        member.waiting = wanted

    def end_wait(self, member: Member, at: int, offset: int) -> None:
        if member.wait is not None:
            stall, member.wait = member.wait, None
            self._output.emit_stall(stall, at, offset)

    def forget_waits(self) -> None:
        """At an online conversion: who waits for whom is to be judged by other names."""
        for member in self._life.members.values():
            member.waiting = set()
        self._life.waiters.clear()

    # ------------------------------------------------------------ members of both protocols

    def watch_mixed(
        self, is_mixed: bool, at: int, offset: int, last_offset: int, observed: bool
    ) -> None:
        """MIGRATION_STALLED: since when a group has members of both protocols.

        offset, last_offset: offsets of the operation's first and last record.
        observed: no hole lies between the operation before and this one.
        """
        life = self._life
        if is_mixed and life.mixed is None:
            life.mixed = Stall(
                **life.place,
                from_offset=offset,
                start_observed=observed and (life.birth_seen or life.last_phase is not None),
                reason="MIGRATION_STALLED",
                member_id=None,
                since_at=at,
                blocked_by=[],
            )
        elif not is_mixed:
            self.end_mixed(at, last_offset)

    def note_blockers(self, changed: Collection[str] | None) -> None:
        """Who keeps a mixed group from the consumer protocol.

        changed: members that may do so or not since the time before; None for all.
        """
        life = self._life
        if life.mixed is None:
            return
        if changed is None:
            life.mixed.blocked_by = sorted(i for i, m in life.members.items() if _is_classic(m))
            return
        blockers = life.mixed.blocked_by
        for member_id in changed:
            place = bisect_left(blockers, member_id)
            if blockers[place : place + 1] == [member_id]:
                del blockers[place]
            if _is_classic(life.members.get(member_id)):
                blockers.insert(place, member_id)

    def end_mixed(self, at: int, offset: int) -> None:
        if (mixed := self._life.mixed) is not None:
            self._life.mixed = None
            self._output.emit_stall(mixed, at, offset)

    # ------------------------------------------------------------ silence after a new target

    def behind_since(self, last: Before | Member) -> int | None:
        """Since when, in ms, the target has been past the epoch of a member's last K8, or since
        that K8 if it came later; None where the target is not past it, or where the member has a
        reason to be silent.

        A change of leader in between starts the clock again at the first operation of the new one:
        no heartbeat could be answered before.
        """
        life = self._life
        if last.epoch is None or last.epoch < 0 or last.state == UNREVOKED_PARTITIONS:
            return None
        index = bisect_right(life.targets, (last.epoch, 1 << 62, 0))
        if index == len(life.targets):
            return None
        _, at, leader_epoch = life.targets[index]
        asked = life.leader_since if leader_epoch != life.leader_epoch else at
        # Times of two leaders are of two clocks.
        of_another_leader = last.current_offset < life.leader_since_offset
        return asked if of_another_leader else max(last.current_at, asked)

    def end_silence(self, change: Change, member: Member, offset: int) -> None:
        """A member's K8 or tombstone came: how long it had not reacted to a newer target than the
        one of its last K8. It was who its records said until then: a classic member that joins
        again may be another process, whose K5 comes first.

        offset: of that K8 or tombstone.
        """
        before, at = change.before[member.member_id], change.at
        since = self.behind_since(before)
        if since is None or at <= since:
            return
        if at - since >= MIN_STALL_MS:
            self._output.emit_stall(
                new_stall(
                    self._life,
                    "NOT_RECONCILING",
                    member,
                    since,
                    before.current_offset,
                    [],
                    len(before.assigned),
                    change.client_before(member),
                ),
                at,
                offset,
            )
        self._judge.note(reaches_target(member, since, at, offset))

    def new_target(self, epoch: int, at: int, leader_epoch: int) -> None:
        """A K6."""
        self._life.targets.append((epoch, at, leader_epoch))

    def forget_targets(self) -> None:
        """A classic group has none."""
        self._life.targets.clear()

    def forget_reached_targets(self) -> None:
        """At operation end: forgets now and then the targets that every member has passed. Of every
        member's epoch the first one past it is kept, and the last: no other is asked for, however
        long a member stays behind. In an operation those that it removes are still asked about.
        """
        targets, members = self._life.targets, self._life.members
        if len(targets) <= 64 + 2 * len(members):
            return
        kept = {len(targets) - 1}
        for epoch in {m.epoch for m in members.values() if m.epoch is not None and m.epoch >= 0}:
            kept.add(bisect_right(targets, (epoch, 1 << 62, 0)))
        self._life.targets = [targets[index] for index in sorted(kept) if index < len(targets)]

    # ------------------------------------------------------------ static members away

    def watch_limbo(self, member: Member, at: int, offset: int, observed: bool) -> None:
        """Epoch -2 with partitions: nobody may have them until the instance returns or its session
        ends (KIP-345).
        """
        if member.epoch == STATIC_LEAVE_EPOCH and member.assigned:
            if member.limbo is None:
                member.limbo = new_stall(
                    self._life, "STATIC_LIMBO", member, at, offset, [member.member_id]
                )
                member.limbo.start_observed = observed
        else:
            self.end_limbo(member, at, offset)

    def end_limbo(self, member: Member, at: int, offset: int) -> None:
        if member.limbo is not None:
            stall, member.limbo = member.limbo, None
            self._output.emit_stall(stall, at, offset)

    # ------------------------------------------------------------ revocation

    def ask_back(self, member: Member, partitions: int, moment: Moment) -> None:
        """Partitions are asked back from a member: its SLOW_REVOCATION begins, if none is open."""
        if member.revocation is None:
            timeout_ms = member.rebalance_timeout_ms if member.protocol in RECONCILING else -1
            me = [member.member_id]
            stall = new_stall(
                self._life, "SLOW_REVOCATION", member, moment.at, moment.offset, me, partitions
            )
            stall.deadline_at = moment.at + timeout_ms if timeout_ms >= 0 else None
            member.revocation = stall

    def watch_revocation(self, member: Member, at: int, offset: int) -> None:
        """SLOW_REVOCATION ends when none of the partitions asked back is pending any more."""
        if member.revocation is not None and not member.requests:
            stall, member.revocation = member.revocation, None
            self._output.emit_stall(stall, at, offset)


def _is_classic(member: Member | None) -> bool:
    return member is not None and member.protocol == CLASSIC
