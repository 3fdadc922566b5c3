"""The parts of one life's machine, and what they do together at the end of every operation:
`settle`.

Records change members one after the other; no fact shows a state inside an operation. At its
end every touched member is compared with what it was before, and the differences become rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupreplay.records.consumer import (
    MEMBER_STATES,
    STATIC_LEAVE_EPOCH,
    UNREVOKED_PARTITIONS,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from groupreplay.replay.assignment.epochs import Epochs
from groupreplay.replay.assignment.fence_loops import FenceLoops
from groupreplay.replay.assignment.members import Members
from groupreplay.replay.assignment.partition_owners import PartitionOwners, UntoldOwners
from groupreplay.replay.assignment.quiet import QuietMembers
from groupreplay.replay.assignment.stalls import Stalls
from groupreplay.replay.assignment.targets import Targets
from groupreplay.replay.assignment.touched import (
    ending_of,
    find_replaced,
    is_back,
    is_start_observed,
    joined_members,
    touched_members,
)
from groupreplay.replay.change import Before, Change, Ending, Moment, is_hidden
from groupreplay.replay.decisions.absences import Absences
from groupreplay.replay.decisions.churn import ChurnChain
from groupreplay.replay.decisions.failovers import Failovers
from groupreplay.replay.decisions.group_days import GroupDays
from groupreplay.replay.decisions.profiles import (
    client_inherited,
    note_members,
    profile_columns,
)
from groupreplay.replay.decisions.transitions import Transitions
from groupreplay.replay.facts import HandOver, MemberLife, MemberState
from groupreplay.replay.life import RECONCILING, STREAMS, Life, Member, TopicPartition
from groupreplay.replay.names import Names
from groupreplay.replay.operations import Operation
from groupreplay.replay.output import Output
from groupreplay.replay.rules.judge import Judge
from groupreplay.replay.rules.of_groups import revocation_in_time
from groupreplay.replay.rules.of_operations import last_assignments


class Membership:
    """One life and its parts."""

    def __init__(self, life: Life, given_names: Mapping[str, str], output: Output) -> None:
        self.life = life
        self.output = output
        self.names = Names(given_names, life)
        self.members = Members(life)
        self.judge = Judge(life, output)
        kind = UntoldOwners if life.protocol == STREAMS else PartitionOwners
        self.owners: PartitionOwners = kind(life, self.names, output, self.judge)
        self.transitions = Transitions(life)
        self.days = GroupDays(life, output, self.owners.missed)
        if life.protocol != STREAMS:  # its tasks have rows of their own
            self.owners.transitions = self.transitions
        self.epochs = Epochs(life, output, self.judge)
        self.loops = FenceLoops(life, output)
        self.failovers = Failovers(life, output)
        self.absences = Absences(life, output)
        self.churn = ChurnChain(life, output, self.owners.missed)
        self.transitions.listen(self.days)
        self.transitions.listen(self.churn)
        self.transitions.listen(self.absences)
        self.stalls = Stalls(life, output, self.judge)
        self.quiet = QuietMembers(life, self.names, output)
        self.targets = Targets(life, self.names, self.stalls, self.owners.missed)

    def advance(self, at: int, last_hole: int) -> None:
        """Before an operation: time has passed.

        last_hole: greatest offset that is missing before it.
        """
        if self.days.advance(at, last_hole):
            self.transitions.expire(at)
            self.days.tell_settled(at)

    def note_stamps(self, change: Change, operation: Operation) -> None:
        """At operation end: which spans keep their assignment epochs (4.3+)."""
        for entry, member in last_assignments(self.life, change, operation):
            value = entry.record.value
            if member.epoch is None or member.epoch <= 0:
                continue
            if isinstance(value, ConsumerGroupCurrentMemberAssignmentValue):
                before = change.before[member.member_id].current_offset
                known = before >= 0 and change.last_hole <= before and not change.converts
                self.owners.note_stamps(member, entry.offset, value, known)

    # ------------------------------------------------------------ the end of an operation

    def go_on_counted(self) -> None:
        """Members that were only counted are seen from here: when they joined is not known."""
        for member in self.life.members.values():
            self.members.join(member, self.life.last_at, self.life.last_offset, observed=False)

    def settle(self, change: Change) -> None:
        """Reports what the operation changed: first what ended, then what began."""
        if change.removed:
            find_replaced(self.life, change)
        joined = joined_members(self.life, change)
        self.absences.settle(change, joined)
        self.churn.settle(change, joined)
        opened = self.epochs.count_members()
        staying = []
        members = touched_members(self.life, change)
        for member, before, moment in members:
            self._end(change, member, before, moment)
            if member.member_id not in change.removed:
                staying.append(
                    (member, before, moment, is_start_observed(self.life, change, member, before))
                )
        is_eager = change.generation is not None and change.generation.is_eager
        if is_eager:
            self.transitions.end_stops()
        for member, before, moment, observed in staying:
            if not (before.existed or observed or change.converts):
                self.epochs.note_unseen()
            self._begin(change, member, before, moment, observed)
            self._note_back(change, member, before, moment)
        if is_eager:
            self._stop(staying)
        # Of each operation, so that what stopped before an upgrade is not counted after it.
        stopped = self.transitions.take_stopped()
        if is_eager:
            self.epochs.note_stopped(stopped)
        if not self.life.members and self.life.unowned:
            self.transitions.note_empty()
        self.days.note(change, opened)
        for member, before, moment, observed in staying:
            if member.current_offset != before.current_offset or member.epoch != before.epoch:
                self._watch(change, member, before, moment, observed)
        if not change.group_ends:
            had_members = any(before.existed for before in change.before.values())
            note_members(self.life, change.at, had_members=had_members)
        self.stalls.judge_waits(change.at, change.last_hole)
        self.stalls.forget_reached_targets()
        if not self._is_epoch_over(change):
            self.epochs.converge(change.at, change.last_offset, change.last_hole)
            self.churn.note_converged()
        self.epochs.watch_assigning(
            change.at, change.last_offset, change.last_hole, change.last_change_offset
        )
        moved = self.owners.take_moved()
        if self.life.failovers.open is not None:
            self.failovers.count(change, len(opened), moved)

    def _stop(self, staying: list[tuple[Member, Before, Moment, bool]]) -> None:
        """Notes what stopped in an eager generation: what its members keep stopped, too."""
        for member, before, moment, observed in staying:
            if before.existed and observed:
                self.owners.stop(member, before.assigned & member.assigned, moment)

    def _is_epoch_over(self, change: Change) -> bool:
        """Whether a member went, which begins another epoch, and that epoch's K3 is lost behind it.

        Source: GroupMetadataManager.consumerGroupFenceMembers.
        """
        row = self.life.epoch_row
        is_older = row is not None and row.from_offset < change.offset
        return is_older and bool(change.removed.keys() - change.replaced.keys())

    def _end(self, change: Change, member: Member, before: Before, moment: Moment) -> None:
        gone = member.member_id in change.removed
        if gone and not before.existed:
            return
        hidden = is_hidden(change, member.member_id)
        if hidden:
            self.stalls.forget(member)
        lost = member.spans.keys() - member.held if member.spans else set()
        silent_ms = self.quiet.silent_ms(change, member) if gone else None
        ending = (
            ending_of(change, member, before, hidden) if lost or gone or member.requests else None
        )
        if ending is not None:
            self.end_partitions(change, member, lost, ending, moment)
        elif member.revocation is not None:
            self.stalls.watch_revocation(member, change.at, moment.offset)
        if gone or member.current_offset != before.current_offset or member.epoch != before.epoch:
            if not hidden and (self.life.protocol in RECONCILING or change.downgraded):
                self.stalls.end_silence(change, member, moment.offset)
            self._end_state_row(change, member, moment, hidden)
        if gone and ending is not None:
            self._end_member(change, member, before, moment)
            self._end_life(change, member, ending, moment, silent_ms)

    def end_partitions(
        self,
        change: Change,
        member: Member,
        lost: set[TopicPartition],
        ending: Ending,
        moment: Moment,
    ) -> None:
        """Ends what a member was asked for, and the spans of what it lost."""
        asked = dict(member.requests)
        if asked:
            if not ending.hidden and not member.pending:
                self.judge.note(revocation_in_time(member, change.at, moment.offset))
            self.owners.end_requests(member, ending, moment)
        self.stalls.watch_revocation(member, change.at, moment.offset)
        self.end_spans(change, member, lost, ending, moment, asked)

    def end_spans(
        self,
        change: Change,
        member: Member,
        lost: set[TopicPartition],
        ending: Ending,
        moment: Moment,
        asked: Mapping[TopicPartition, HandOver] | None = None,
    ) -> None:
        """Ends the spans of what a member lost. asked: what was asked back of it until now."""
        if lost:
            if len(lost) == len(member.spans) and not ending.hidden:
                self.quiet.lost_everything(change, member, moment)
            else:
                self.quiet.lets_go(member, lost, moment.offset)
            self.owners.release(member, lost, ending, moment, asked)
            self.stalls.changed_hands(lost, moment.offset)

    def _end_state_row(self, change: Change, member: Member, moment: Moment, hidden: bool) -> None:
        """hidden: a hole lies behind its K8 before. A previous epoch of 0 then shows that it came
        back in between, to the same epoch and state.
        """
        row = member.state_row
        stays = (
            member.member_id not in change.removed
            and not (hidden and member.previous_epoch == 0)
            and row is not None
            and (row.member_epoch, row.state)
            == (member.epoch, state_name(member.state, self.life.protocol))
        )
        if row is None or stays:
            return
        row.to_at, row.to_offset, row.end_observed = change.at, moment.offset, not hidden
        self.output.emit(row)
        member.state_row = None

    def _end_member(self, change: Change, member: Member, before: Before, moment: Moment) -> None:
        self.stalls.end_wait(member, change.at, moment.offset)
        self.stalls.forget_waiting(member)
        self.stalls.end_limbo(member, change.at, moment.offset)
        if (
            member.member_id not in change.replaced
            and before.epoch != STATIC_LEAVE_EPOCH
            and not change.group_ends
        ):
            self.loops.departed(member, change.at)

    def _end_life(
        self,
        change: Change,
        member: Member,
        ending: Ending,
        moment: Moment,
        silent_ms: int | None,
    ) -> None:
        row = self.life_row(member)
        row.to_offset = moment.offset
        row.end_reason = "UNOBSERVED" if ending.hidden else ending.reason
        row.ended_at = None if ending.hidden else change.at
        row.replaced_by = change.replaced.get(member.member_id)
        is_seen = row.ended_at is not None and row.replaced_by is None
        if is_seen and silent_ms is not None:
            if silent_ms < 0:
                self.judge.note_negative(change.at, moment.offset, "silent_ms", -silent_ms)
            else:
                row.silent_ms = silent_ms
        self.output.emit(row)

    def life_row(self, member: Member) -> MemberLife:
        """The member's row in `members` while it is in the group."""
        return MemberLife(
            **self.life.place,
            from_offset=member.joined_offset,
            start_observed=member.join_observed,
            **member.client,
            joined_at=member.joined_at,
            process_id=member.process_id,
            client_inherited=client_inherited(member),
            **profile_columns(member),
        )

    def _begin(
        self, change: Change, member: Member, before: Before, moment: Moment, observed: bool
    ) -> None:
        if member.joined_at < 0:
            is_new = observed and not before.existed
            self.members.join(member, change.at, moment.offset, observed=is_new)
        held = member.held
        # What a member had before a conversion, and no K8 of it shows, is not known to be held.
        is_shown = not change.converts or member.current_offset != before.current_offset
        if is_shown and len(held) != len(
            member.spans
        ):  # what was lost has no span any more, so every span is of what is held
            fresh = held.difference(member.spans)
            self._end_hidden_holders(change, member, fresh)
            known = fresh
            if change.converts and before.existed:
                known = frozenset([tp for tp in fresh if self._is_new(change, member, tp)])
            self.owners.hold(member, known, moment, observed)
            self.owners.hold(member, fresh - known, moment, False)
            self.stalls.changed_hands(fresh, moment.offset)
        if member.pending:
            asked = self.owners.request(member, member.pending, moment, observed)
            if asked and observed:
                self.stalls.ask_back(member, asked, moment)
        if (
            member.epoch is not None
            and member.current_offset != before.current_offset
            and member.state_row is None
        ):
            member.state_row = MemberState(
                **self.life.place,
                from_offset=moment.offset,
                start_observed=observed,
                **member.client,
                member_epoch=member.epoch,
                state=state_name(member.state, self.life.protocol),
                from_at=change.at,
                partitions_assigned=0,
                partitions_pending=0,
                waiting_on=[],
            )
        is_join = not before.existed and member.member_id not in change.heirs()
        if is_join and observed and self.loops.joined(member, change.at, moment.offset):
            self.days.note_cycle(change.at)

    def _note_back(self, change: Change, member: Member, before: Before, moment: Moment) -> None:
        if is_back(member, before):
            ending = ending_of(change, member, before, is_hidden(change, member.member_id))
            self.owners.come_back(member, before.assigned, ending, moment)

    def _is_new(self, change: Change, member: Member, tp: TopicPartition) -> bool:
        """Whether a partition that a conversion shows for the first time was truly new: without its
        topic's other name it may have been held all along. A name that follows from the upgrade's
        own target comes too late for that. At a downgrade an id without a name, of which the member
        held this partition, may be one that the topic had meanwhile.
        """
        if change.by_k2:
            may_go_on = (member.member_id, tp) in change.may_go_on
            return not may_go_on and bool(self.names.ids(tp[0]))
        return tp[0] not in change.unnamed_topics and self.names.name(tp[0]) is not None

    def _end_hidden_holders(
        self, change: Change, member: Member, fresh: frozenset[TopicPartition]
    ) -> None:
        """A new owner behind a hole: the old one let go somewhere in it."""
        # Not `fresh.intersection(holders)`: that walks over all that the group holds.
        for tp in [tp for tp in fresh if tp in self.life.holders]:
            for other_id in [m for m in self.life.holders[tp] if m != member.member_id]:
                other = self.life.members[other_id]
                if change.last_hole > other.current_offset:
                    self.members.lose(other, tp)
                    moment = Moment(
                        change.at,
                        change.offsets.get(member.member_id, change.last_offset),
                        None,
                        change.leader_epoch,
                    )
                    ending = Ending("UNOBSERVED", hidden=True)
                    self.owners.end_requests(other, ending, moment)
                    self.owners.release(other, {tp}, ending, moment)
                    self.stalls.forget(other)

    def _watch(
        self, change: Change, member: Member, before: Before, moment: Moment, observed: bool
    ) -> None:
        begins = not observed or (member.epoch, member.state) != (before.epoch, before.state)
        self.stalls.watch_wait(member, moment.offset, begins, observed)
        if member.epoch == STATIC_LEAVE_EPOCH or member.limbo is not None:
            self.stalls.watch_limbo(member, change.at, moment.offset, observed)
        row = member.state_row
        if row is not None:
            row.partitions_assigned, row.partitions_pending = (
                len(member.assigned),
                len(member.pending),
            )
        if member.state == UNREVOKED_PARTITIONS:
            self.stalls.arm(member, change.at)


def state_name(state: int, protocol: str) -> str:
    """Kafka's name of a member state; a number it does not name yet is given as it is."""
    name = MEMBER_STATES.get(state) or f"STATE_{state}"
    return name.replace("_PARTITIONS", "_TASKS") if protocol == STREAMS else name
