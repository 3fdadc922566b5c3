"""Who came and went: the membership events of a group, in one chain as long as they are at most
an hour apart.

What a hole hides is no event: members that are not seen to join behind it, and those whose end
it hides. Groups that are replayed by tasks (KIP-1071), and those that are only counted, have no
chain. Source of the rules: docs/decisions.md, departure_waves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.records.consumer import STATIC_LEAVE_EPOCH
from groupreplay.replay.causes import removal_outcome
from groupreplay.replay.change import Before, Change, is_hidden
from groupreplay.replay.decision_facts import Churn
from groupreplay.replay.decisions.charges import (
    WENT,
    add_closed,
    add_granted,
    add_left_out,
    charge_of,
    charged_event,
    sums_of,
    with_waiting,
)
from groupreplay.replay.decisions.identities import identity_of, identity_of_gone
from groupreplay.replay.decisions.missed_units import MissedUnits
from groupreplay.replay.decisions.modes import rebalance_mode
from groupreplay.replay.decisions.transitions import Listener
from groupreplay.replay.kept.transition import Transition
from groupreplay.replay.life import CLASSIC, CONSUMER, Life, Member
from groupreplay.replay.output import Output

GONE, REPLACED, JOINED, WENT_AWAY = "G", "R", "J", "A"
"""Kinds of events, in the order in which they stand within an operation."""

MAX_EVENTS = 4_096
"""Most events of one chain; the next chain goes on."""


class _Event(NamedTuple):
    """held: partitions that the member held before the operation.
    other_id: id of the new member, for REPLACED alone.
    end: how the member went by the records, for GONE alone.
    """

    kind: str
    offset: int
    member: Member
    identity: str
    held: int
    other_id: str | None = None
    end: str | None = None


class ChurnChain(Listener):
    """The chain of one life, and what transitions cost that are charged to its events.

    _epoch: group epoch before the operation, None where it is not known.
    _released: what was let go since the events of the operation before were added; _lost: whose
        next holder cannot be seen since then.
    """

    def __init__(self, life: Life, output: Output, missed: MissedUnits) -> None:
        self._life = life
        self._missed = missed
        self._output = output
        self._epoch = life.epoch
        self._released: list[Transition] = []
        self._lost: list[Transition] = []

    # ------------------------------------------------------------ an operation

    def settle(self, change: Change, joined: Iterable[Member]) -> None:
        """At operation end, before anything of its members is forgotten.

        joined: who joined in it, and was seen to.
        """
        chain = self._life.churn
        if chain is not None and change.at - chain.times_at[-1] > MAX_CHAIN_GAP_MS:
            self.finish()
        if self._life.protocol in (CLASSIC, CONSUMER) and not change.group_ends:
            events = list(self._away(change))
            if change.removed:
                events += (*self._gone(change), *self._replaced(change))
            events += [self._joined(change, member) for member in joined]
            if len(events) > 1:
                events.sort(key=lambda each: ("GRJA".index(each.kind), each.offset))
            # What somebody read before the operation, or should have.
            owed = len(self._life.holders) + self._missed.unheld() if events else 0
            for event in events:
                self._add(change, event, owed)
        # An upgrade lets go what members held that it does not take over, before it is settled.
        for transition in self._released:
            if transition.released_offset >= change.offset:
                self._charge(transition)
        for transition in self._lost:
            index = charged_event(self._life.churn, transition)
            if self._life.churn is not None and index is not None:
                self._life.churn.high_unknowns[index] += 1
        self._released, self._lost = [], []
        self._epoch = self._life.epoch

    def note_converged(self) -> None:
        """After the epochs of an operation were judged: whether that of the last event settled."""
        chain, row = self._life.churn, self._life.epoch_row
        if chain is None or row is None or chain.settled[-1] is not None:
            return
        if row.epoch != chain.group_epochs[-1] or row.converged_at is None:
            return
        # A downgrade begins another one of the same number.
        if self._life.converged_in_doubt or row.started_at > chain.times_at[-1]:
            return
        if 0 <= row.converged_at - chain.times_at[-1] <= MAX_CHAIN_GAP_MS:
            chain.settled[-1] = row.converged_at

    def finish(self) -> None:
        """Ends the chain, if there is one."""
        if self._life.churn is not None:
            self._output.emit(with_waiting(self._life.churn, self._life))
            self._life.churn = None

    def take(self) -> Churn | None:
        """The chain, for the life that goes on with it."""
        chain, self._life.churn = self._life.churn, None
        return chain

    def go_on_with(self, chain: Churn | None) -> None:
        """The chain that was taken, for the heir of this life."""
        self._life.churn = chain

    # ------------------------------------------------------------ costs

    def released(self, transition: Transition) -> None:
        self._released.append(transition)
        self._charge(transition)

    def _charge(self, transition: Transition) -> None:
        chain, row = self._life.churn, self._life.epoch_row
        transition.charged_to = None
        if chain is None or (row is not None and row.epoch != chain.group_epochs[-1]):
            return  # what began another epoch since is charged with it
        last = len(chain.offsets) - 1
        own = transition.kind in WENT and transition.released_offset >= chain.offsets[0]
        index = _gone_at(chain, transition.from_member_id) if own else None
        transition.charged_to = charge_of(chain, last if index is None else index)

    def lost(self, transition: Transition) -> None:
        if transition.is_costed:
            self._lost.append(transition)

    def left_out(self, transition: Transition) -> None:
        chain = self._life.churn
        index = charged_event(chain, transition)
        if chain is not None and index is not None and not transition.is_hidden:
            add_left_out(chain, index, transition)

    def granted(self, transition: Transition) -> None:
        chain = self._life.churn
        index = charged_event(chain, transition)
        if chain is not None and index is not None and not transition.is_hidden:
            add_granted(chain, index, transition)

    def closed(self, transition: Transition) -> None:
        chain = self._life.churn
        index = charged_event(chain, transition)
        if chain is not None and index is not None and transition.is_costed:
            add_closed(chain, index, transition)

    # ------------------------------------------------------------ events

    def _gone(self, change: Change) -> Iterator[_Event]:
        for member_id, member in change.removed.items():
            before = change.before[member_id]
            if not before.existed or member_id in change.replaced or is_hidden(change, member_id):
                continue
            identity = identity_of_gone(self._life, change, member)
            offset = change.offsets[member_id]
            end = _end_by_records(member, before, change.at)
            yield _Event(GONE, offset, member, identity, before.held, end=end)

    def _replaced(self, change: Change) -> Iterator[_Event]:
        for member_id, new_id in change.replaced.items():
            before, member = change.before[member_id], change.removed[member_id]
            if before.existed and not is_hidden(change, member_id):
                identity = identity_of(self._life, self._life.members[new_id])
                offset = change.offsets[member_id]
                yield _Event(REPLACED, offset, member, identity, before.held, other_id=new_id)

    def _joined(self, change: Change, member: Member) -> _Event:
        offset = change.offsets.get(member.member_id, change.last_offset)
        return _Event(JOINED, offset, member, identity_of(self._life, member), 0)

    def _away(self, change: Change) -> Iterator[_Event]:
        """Who left for a while, and who is back from there under its own id."""
        members = self._life.members
        for member_id, before in change.before.items():
            member = members.get(member_id)
            if member is None:
                continue
            is_away = member.epoch == STATIC_LEAVE_EPOCH
            if is_away == (before.epoch == STATIC_LEAVE_EPOCH) or member.epoch is None:
                continue
            if not before.existed or is_hidden(change, member_id):
                continue
            offset = change.offsets.get(member_id, change.last_offset)
            identity = identity_of(self._life, member)
            if is_away:
                yield _Event(WENT_AWAY, offset, member, identity, before.held)
            else:
                yield _Event(REPLACED, offset, member, identity, before.held, other_id=member_id)

    # ------------------------------------------------------------ the chain

    def _add(self, change: Change, event: _Event, owed: int) -> None:
        life, member, chain = self._life, event.member, self._chain(change, event)
        at = max([change.at, *chain.times_at[-1:]])
        last_offset = chain.offsets[-1] if chain.offsets else life.last_change_offset
        silence = None
        if event.kind != JOINED and member.last_commit_offset >= max(0, change.last_hole):
            silence = max(0, change.at - member.last_commit_at)
        chain.event_kinds.append(event.kind)
        chain.times_at.append(at)
        chain.offsets.append(event.offset)
        chain.member_ids.append(member.member_id)
        chain.other_ids.append(event.other_id)
        chain.identities.append(event.identity)
        chain.client_ids.append(member.client_id)
        chain.client_hosts.append(member.client_host)
        chain.instance_ids.append(member.instance_id)
        chain.member_protocols.append(member.protocol)
        chain.incarnations.append(life.incarnation)
        chain.group_epochs_before.append(self._epoch)
        chain.group_epochs.append(life.epoch)
        chain.group_modes.append(rebalance_mode(life))
        chain.members_after.append(len(life.members))
        chain.target_partitions.append(len(life.target_owner))
        chain.owed_partitions.append(owed)
        chain.host_members.append(life.hosts.get(member.client_host or "", 0))
        chain.held_counts.append(event.held)
        chain.silences_ms.append(silence)
        chain.own_sessions_ms.append(member.own_session_ms)
        chain.own_rebalances_ms.append(_known(member.rebalance_timeout_ms))
        chain.record_ends.append(event.end)
        chain.unbroken_ms.append(_unbroken_ms(life, change))
        chain.hidden_before.append(int(change.last_hole > last_offset))
        chain.settled.append(None)
        for sums in sums_of(chain):
            sums.append(0)

    def _chain(self, change: Change, event: _Event) -> Churn:
        chain, life = self._life.churn, self._life
        if chain is not None and len(chain.offsets) >= MAX_EVENTS:
            chain.is_cut = True
            self.finish()
            chain = None
        if chain is None:
            chain = life.churn = Churn(
                **life.place,
                from_offset=event.offset,
                members_before=_members_before(life, change),
            )
        return chain


def _unbroken_ms(life: Life, change: Change) -> int | None:
    """Since nothing of the group is lost; None where nothing ever was."""
    if change.last_hole > max(life.last_hole, life.incarnation):
        return 0
    if life.birth_seen and not life.hole_seen:
        return None
    return max(0, change.at - life.unbroken_since_at) if life.unbroken_since_at >= 0 else 0


def _members_before(life: Life, change: Change) -> int:
    """Live members before an operation."""
    came = sum(not before.existed for i, before in change.before.items() if i not in change.removed)
    gone = sum(change.before[i].existed for i in change.removed)
    return len(life.members) - came + gone


def _end_by_records(member: Member, before: Before, at: int) -> str | None:
    """A removal for a timeout that the records show to have run out."""
    if removal_outcome(member, at) == "FENCED":
        return "REBALANCE_TIMEOUT"
    return "EXPIRED" if before.epoch == STATIC_LEAVE_EPOCH else None


def _known(timeout_ms: int) -> int | None:
    return timeout_ms if timeout_ms >= 0 else None


def _gone_at(chain: Churn, member_id: str) -> int | None:
    """The event of a member's removal or takeover in the operation that came last."""
    for index in range(len(chain.offsets) - 1, -1, -1):
        if chain.group_epochs[index] != chain.group_epochs[-1]:
            return None
        went = chain.event_kinds[index] == GONE or (
            chain.event_kinds[index] == REPLACED and chain.other_ids[index] != member_id
        )
        if went and chain.member_ids[index] == member_id:
            return index
    return None
