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
from groupreplay.replay.causes import removal_outcome
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
from groupreplay.replay.facts import MemberLife, MemberState
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
            self._find_replaced(change)
        joined = self._joined(change)
        self.absences.settle(change, joined)
        self.churn.settle(change, joined)
        opened = self.epochs.count_members()
        staying = []
        members = self._touched(change)
        for member, before, moment in members:
            self._end(change, member, before, moment)
            if member.member_id not in change.removed:
                staying.append(
                    (member, before, moment, self._start_observed(change, member, before))
                )
        is_eager = change.generation is not None and change.generation.is_eager
        if is_eager:
            self.transitions.end_stops()
        for member, before, moment, observed in staying:
            if not (before.existed or observed or change.converts):
                self.epochs.note_unseen()
            self._begin(change, member, before, moment, observed)
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

    def _find_replaced(self, change: Change) -> None:
        """A static member came back under a new id: same instance, one id gone and one new."""
        fresh: dict[str, str] = {}
        for member_id, before in change.before.items():
            if (
                not before.existed
                and member_id not in change.removed
                and (instance := self.life.members[member_id].instance_id) is not None
            ):
                fresh[instance] = member_id
        # An upgrade may take over, and replace at once, who took a known member's place unseen.
        for member_id in sorted(change.removed, key=lambda each: not change.before[each].existed):
            member = change.removed[member_id]
            if member.instance_id is not None and member.instance_id in fresh:
                change.replaced[member_id] = fresh.pop(member.instance_id)
        unknown = [
            i for i, m in change.removed.items() if m.client_id is None and change.before[i].existed
        ]
        if len(unknown) == len(fresh) == 1:
            change.replaced[unknown[0]] = fresh.popitem()[
                1
            ]  # its K5 was not seen, but nobody else comes and goes in one operation
        change.hidden_heirs = {
            member_id
            for member_id, member in change.removed.items()
            if member.instance_id is not None and self._may_have_an_heir(change, member_id)
        }

    def _may_have_an_heir(self, change: Change, member_id: str) -> bool:
        """Whether a hole may hide that another member took over the instance of a removed one,
        since a part of the operation is lost. A removal without an heir begins an epoch.

        Source: GroupMetadataManager.consumerGroupFenceMembers, replaceMember.
        """
        is_modern = self.life.protocol in RECONCILING and not (change.converts or change.downgraded)
        begins_epoch = self.life.epoch_offset >= change.offset
        return (
            is_modern
            and not change.group_ends
            and member_id not in change.replaced
            and not (change.is_whole and begins_epoch)
        )

    def _joined(self, change: Change) -> list[Member]:
        """Who joined in the operation, and was seen to; not who took an instance over."""
        heirs = change.heirs()
        return [
            member
            for member_id, before in change.before.items()
            if not before.existed
            and member_id not in heirs
            and (member := self.life.members.get(member_id)) is not None
            and self._start_observed(change, member, before)
        ]

    def _touched(self, change: Change) -> list[tuple[Member, Before, Moment]]:
        """The members that the operation touched, as they were, and the moment of their change."""
        touched = []
        for member_id, before in change.before.items():
            member = change.removed.get(member_id)
            epoch = self.life.epoch
            if member is None:
                member = self.life.members[member_id]
                epoch = epoch if member.epoch is None else member.epoch
            offset = change.offsets.get(member_id, change.last_offset)
            touched.append(
                (
                    member,
                    before,
                    Moment(
                        change.at,
                        offset,
                        epoch,
                        change.leader_epoch,
                        change.by_k2,
                        change.last_hole,
                        change.generation,
                    ),
                )
            )
        return touched

    def _end(self, change: Change, member: Member, before: Before, moment: Moment) -> None:
        gone = member.member_id in change.removed
        if gone and not before.existed:
            return
        hidden = is_hidden(change, member.member_id)
        if hidden:
            self.stalls.forget(member)
        lost = member.spans.keys() - member.held if member.spans else set()
        silent_ms = self.quiet.silent_ms(member, change.at, change.last_hole) if gone else None
        ending = (
            self._ending(change, member, before, hidden)
            if lost or gone or member.requests
            else None
        )
        if ending is not None:
            self.end_partitions(change, member, lost, ending, moment)
        elif member.revocation is not None:
            self.stalls.watch_revocation(member, change.at, moment.offset)
        if gone or member.current_offset != before.current_offset or member.epoch != before.epoch:
            if not hidden and (self.life.protocol in RECONCILING or change.downgraded):
                self.stalls.end_silence(member, before, change.at, moment.offset)
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
        if member.requests:
            if not ending.hidden and not member.pending:
                self.judge.note(revocation_in_time(member, change.at, moment.offset))
            self.owners.end_requests(member, ending, moment)
        self.stalls.watch_revocation(member, change.at, moment.offset)
        self.end_spans(member, lost, ending, moment)

    def end_spans(
        self, member: Member, lost: set[TopicPartition], ending: Ending, moment: Moment
    ) -> None:
        """Ends the spans of what a member lost."""
        if lost:
            if len(lost) == len(member.spans) and not ending.hidden:
                self.quiet.lost_everything(member, moment.at, moment.offset, moment.last_hole)
            self.owners.release(member, lost, ending, moment)
            self.stalls.changed_hands(lost, moment.offset)

    def _ending(self, change: Change, member: Member, before: Before, hidden: bool) -> Ending:
        if change.group_ends:
            return Ending("GROUP_REMOVED", "LEFT_OR_FENCED", hidden, may_go_on=change.hides_ends)
        away_at = before.current_at if before.epoch == STATIC_LEAVE_EPOCH else None
        if member.member_id in change.replaced:
            return Ending("REPLACED", "REPLACED", hidden, away_at=away_at)
        if member.member_id in change.removed or (
            member.epoch is None and before.epoch is not None
        ):
            fenced = removal_outcome(member, change.at)
            return Ending("LEFT_OR_FENCED", fenced, hidden, away_at=away_at)
        outcome = "LEFT" if member.epoch == STATIC_LEAVE_EPOCH else None
        if change.downgraded:
            outcome = "UNOBSERVED"
        returned = member.assigned if member.epoch != STATIC_LEAVE_EPOCH else frozenset()
        return Ending("REVOKED", outcome, hidden, returned, away_at)

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
                known = frozenset([tp for tp in fresh if self._is_new(change, tp)])
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

    def _is_new(self, change: Change, tp: TopicPartition) -> bool:
        """Whether a partition that a conversion shows for the first time was truly new: without its
        topic's other name it may have been held all along. A name that follows from the upgrade's
        own target comes too late for that.
        """
        if change.by_k2:
            return bool(self.names.ids(tp[0]))
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

    def _start_observed(self, change: Change, member: Member, before: Before) -> bool:
        """Whether what the member has now began with this operation: its state before is known and
        no hole lies between, or it joined here.

        A consumer group's member joined where its K8 has previous epoch 0, unless it leaves for a
        while: that K8 keeps the previous epoch of the one before. A static member that comes back
        has it too, in an operation that begins with its tombstones; without its K5 a member may be
        one. A K2 shows a newcomer only where the K2 before it is known.
        """
        if before.current_offset >= 0:
            return change.last_hole <= before.current_offset
        if member.previous_epoch == 0 and member.epoch != STATIC_LEAVE_EPOCH and not change.by_k2:
            is_dynamic = member.instance_id is None and member.client_id is not None
            return is_dynamic or change.is_whole
        known = self.life.birth_seen or self.life.last_change_offset >= 0
        return (
            known
            and (change.by_k2 or change.converts)
            and not before.existed
            and change.last_hole <= self.life.last_change_offset
        )

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
