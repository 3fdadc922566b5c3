"""Stretches of time in which a member waits, is silent, or holds what it does not use: what `stuck_members` is made of.

The machine tells every stretch past a floor; the report decides which are long enough. Source: measures.md section 6, section 6.3 of the reference.
"""

from __future__ import annotations

from bisect import bisect_right

from groupreplay.records import STATIC_LEAVE_EPOCH, UNRELEASED_PARTITIONS, UNREVOKED_PARTITIONS
from groupreplay.replay.epochs import MAX_CHAIN_LENGTH, emit_chain, emit_stall
from groupreplay.replay.facts import MAX_CHAIN_GAP_MS, Chain, Stall
from groupreplay.replay.life import CONSUMER, Before, Departure, Life, Member, Output, TopicPartition, client_key
from groupreplay.replay.rules import Rules

MIN_QUIET_MS = 60_000
"""Shortest silence between commits that is told: commits come every few seconds, and every change of a group ends such a silence."""


class Stalls:
    """Waits, silences, limbo and fence loops of one life's members."""

    def __init__(self, life: Life, output: Output, rules: Rules) -> None:
        self._life = life
        self._output = output
        self._rules = rules

    def new(self, reason: str, member: Member, since_at: int, offset: int, blocked_by: list[str]) -> Stall:
        life = self._life
        return Stall(
            group_id=life.group_id,
            incarnation=life.incarnation,
            offsets_partition=life.offsets_partition,
            from_offset=offset,
            reason=reason,
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            member_protocol=member.protocol,
            since_at=since_at,
            blocked_by=blocked_by,
            partitions_held=len(member.assigned),
        )

    # ------------------------------------------------------------ waiting for a holder

    def forget_waiting(self, member: Member) -> None:
        """A member is gone: it waits for nothing."""
        self._set_waiting(member, set())

    def watch_wait(self, member: Member, at: int, offset: int, observed: bool) -> list[str]:
        """After a member's K8: the members that hold what it waits for, [] where it waits for nobody. Only UNRELEASED members wait."""
        held: dict[TopicPartition, list[str]] = {}
        if (
            member.state == UNRELEASED_PARTITIONS
            and member.epoch != STATIC_LEAVE_EPOCH
            and member.target is not None
            and self._life.protocol == CONSUMER
        ):
            for tp in member.target - member.assigned:
                others = [m for m in self._life.holders.get(tp, ()) if m != member.member_id]
                if others:
                    held[tp] = others
        self._set_waiting(member, set(held))
        if not held:
            self.end_wait(member, at, offset)
            return []
        blockers = sorted({m for others in held.values() for m in others})
        if member.wait is None:
            member.wait = self.new("WAITING_ON_HOLDER", member, at, offset, [])
            member.wait.start_observed = observed
            member.wait.partitions_waiting = len(held)
        member.wait.blocked_by = sorted({*member.wait.blocked_by, *blockers})
        member.wait.deadline_at = self._deadline(blockers)
        return blockers

    def _deadline(self, blockers: list[str]) -> int | None:
        """When the last of the holders' rebalance timers runs out; None where a holder has none."""
        deadlines: list[int] = []
        for member_id in blockers:
            holder = self._life.members.get(member_id)
            deadline = holder.revocation.deadline_at if holder is not None and holder.revocation is not None else None
            if deadline is None:
                return None
            deadlines.append(deadline)
        return max(deadlines)

    def _set_waiting(self, member: Member, wanted: set[TopicPartition]) -> None:
        for tp in member.waiting - wanted:
            waiters = self._life.waiters.get(tp, set())
            waiters.discard(member.member_id)
            if not waiters:
                self._life.waiters.pop(tp, None)
        for tp in wanted - member.waiting:
            self._life.waiters.setdefault(tp, set()).add(member.member_id)
        member.waiting = wanted

    def released(self, tps: set[TopicPartition], at: int, offset: int) -> None:
        """Partitions were let go: whoever waited for the last of its own waits no longer for a holder."""
        for tp in tps & self._life.waiters.keys():
            if tp in self._life.holders:
                continue
            for member_id in sorted(self._life.waiters[tp]):
                waiter = self._life.members.get(member_id)
                if waiter is None:
                    continue
                self._set_waiting(waiter, waiter.waiting - {tp})
                if not waiter.waiting:
                    self.end_wait(waiter, at, offset)

    def end_wait(self, member: Member, at: int, offset: int) -> None:
        if member.wait is not None:
            stall, member.wait = member.wait, None
            emit_stall(self._output, stall, at, offset)

    # ------------------------------------------------------------ silence after a new target

    def behind_since(self, epoch: int | None, state: int) -> int | None:
        """Since when, in ms, the target has been past a member's epoch; None where it is not, or where the member has a reason to be silent.

        A change of leader in between starts the clock anew at the first operation of the new one: no heartbeat could be answered before.
        """
        life = self._life
        if epoch is None or epoch < 0 or state == UNREVOKED_PARTITIONS:
            return None
        index = bisect_right(life.targets, (epoch, 1 << 62, 0))
        if index == len(life.targets):
            return None
        _, at, leader_epoch = life.targets[index]
        return life.leader_since if leader_epoch != life.leader_epoch else at

    def end_silence(self, member: Member, before: Before, at: int, offset: int) -> None:
        """A member's K8 or tombstone came: how long it had not reacted to a newer target than the one of its last K8 (`before`)."""
        since = self.behind_since(before.epoch, before.state)
        if since is not None and at > since:
            emit_stall(self._output, self.new("NOT_RECONCILING", member, since, before.current_offset, []), at, offset)
            self._rules.silence(member, since, at, offset)

    def new_target(self, epoch: int, at: int, leader_epoch: int) -> None:
        """A K6. Targets that every member has passed are forgotten now and then."""
        targets = self._life.targets
        targets.append((epoch, at, leader_epoch))
        if len(targets) > 64 + 2 * len(self._life.members):
            self.forget_reached_targets()

    def forget_reached_targets(self) -> None:
        epochs = [m.epoch for m in self._life.members.values() if m.epoch is not None and m.epoch >= 0]
        lowest = min(epochs) if epochs else self._life.target_epoch or 0
        self._life.targets = [t for t in self._life.targets if t[0] > lowest]

    # ------------------------------------------------------------ static members that left for a while

    def watch_limbo(self, member: Member, at: int, offset: int, observed: bool) -> None:
        """Epoch -2 with partitions: nobody may have them until the instance returns or its session ends (KIP-345)."""
        if member.epoch == STATIC_LEAVE_EPOCH and member.assigned:
            if member.limbo is None:
                member.limbo = self.new("STATIC_LIMBO", member, at, offset, [member.member_id])
                member.limbo.start_observed = observed
        else:
            self.end_limbo(member, at, offset)

    def end_limbo(self, member: Member, at: int, offset: int) -> None:
        if member.limbo is not None:
            stall, member.limbo = member.limbo, None
            emit_stall(self._output, stall, at, offset)

    # ------------------------------------------------------------ revocation

    def watch_revocation(self, member: Member, at: int, offset: int) -> None:
        """SLOW_REVOCATION ends when none of the partitions asked back is pending any more."""
        if member.revocation is not None and not member.requests:
            stall, member.revocation = member.revocation, None
            emit_stall(self._output, stall, at, offset)

    # ------------------------------------------------------------ owning without committing

    def committed(self, member: Member, at: int, offset: int, last_change_offset: int) -> None:
        """A member's partition was committed. The silence before it is exact only where a change of the group lies in it (reduced commits)."""
        last_at, last_offset = member.last_commit_at, member.last_commit_offset
        if max(last_offset, -1) < last_change_offset:
            self._tell_quiet(member, last_at, at, offset)
        member.last_commit_at, member.last_commit_offset = at, offset
        committers = [c for c in self._life.committers if c[0] != member.member_id]
        self._life.committers = [(member.member_id, at), *committers[:1]]

    def lost_everything(self, member: Member, owned_since: int, at: int, offset: int) -> None:
        """A member lost its last partition: it was quiet until now, if it was."""
        self._tell_quiet(member, member.last_commit_at, at, offset, owned_since)
        member.last_commit_at, member.last_commit_offset = -1, -1

    def _tell_quiet(self, member: Member, last_at: int, at: int, offset: int, owned_since: int | None = None) -> None:
        since = max(last_at, member.owns_since_at if owned_since is None else owned_since)
        if since >= 0 and at - since >= MIN_QUIET_MS and self.others_committed_after(member.member_id, since):
            emit_stall(self._output, self.new("ASSIGNED_NOT_CONSUMING", member, since, offset, [member.member_id]), at, offset)

    def others_committed_after(self, member_id: str, since: int) -> bool:
        return any(m != member_id and at > since for m, at in self._life.committers)

    # ------------------------------------------------------------ removed and back

    def departed(self, member: Member, at: int) -> None:
        """A member was removed, not replaced and not out of limbo: it may be back under its id, or as the same client on the same host."""
        departures = self._life.departures
        departures.pop(member.member_id, None)
        departures[member.member_id] = Departure(at, member.member_id, member.client_id, member.client_host)
        if len(departures) > 64 + 2 * len(self._life.members):
            for member_id in list(departures)[: len(departures) // 2]:
                del departures[member_id]
        self._life.departed_clients = None

    def joined(self, member: Member, at: int, offset: int) -> None:
        """A member joined: where it had been removed before, one more turn of a loop."""
        departures = self._life.departures
        if not departures:
            return
        departure = departures.get(member.member_id) or self._same_client(member)
        if departure is None or at - departure.removed_at > MAX_CHAIN_GAP_MS:
            return
        del departures[departure.member_id]
        self._life.departed_clients = None
        self._add_turn(member, departure, at, offset)

    def _same_client(self, member: Member) -> Departure | None:
        """The one departed member of the joiner's client id and host, if no live member and no other departed one shares them."""
        if member.client_id is None or self._life.clients.get(member.client_key, 0) != 1:
            return None
        if self._life.departed_clients is None:
            index: dict[str, list[str]] = {}
            for d in self._life.departures.values():
                index.setdefault(client_key(d.client_id, d.client_host), []).append(d.member_id)
            self._life.departed_clients = index
        gone = self._life.departed_clients.get(member.client_key, [])
        return self._life.departures[gone[0]] if len(gone) == 1 else None

    def _add_turn(self, member: Member, departure: Departure, at: int, offset: int) -> None:
        key = member.client_key if member.client_id is not None else member.member_id
        chain = self._life.loops.get(key)
        if chain is not None and (departure.removed_at - chain.ends_at[-1] > MAX_CHAIN_GAP_MS or len(chain.times_at) >= MAX_CHAIN_LENGTH):
            emit_chain(self._output, chain)
            chain = None
        if chain is None:
            life = self._life
            chain = Chain(
                group_id=life.group_id,
                incarnation=life.incarnation,
                offsets_partition=life.offsets_partition,
                from_offset=offset,
                reason="FENCE_LOOP",
                member_id=member.member_id,
                instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_protocol=member.protocol,
                times_at=[],
                ends_at=[],
            )
            life.loops[key] = chain
        chain.times_at.append(departure.removed_at)
        chain.ends_at.append(at)
