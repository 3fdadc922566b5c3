"""Judges a coordinator's log by the rules of `replay.rules.rule_table`.

A broken rule is an `Anomaly` with the record that shows it; replay goes on. Rules are judged at
operation end, but for those of record order (I4, I5, I14). Where a hole lies between a record and
the one it is judged against, the rule is suspended: what is missing may explain it. The same holds
for what the log's beginning cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groupreplay.records.classic import GroupMetadataValue
from groupreplay.records.consumer import (
    STABLE,
    STATIC_LEAVE_EPOCH,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    TopicPartitions,
)
from groupreplay.records.entries import Entry
from groupreplay.replay.facts import Anomaly
from groupreplay.replay.life import (
    CLASSIC,
    CONSUMER,
    Before,
    Life,
    Member,
    Output,
    Span,
    TopicPartition,
)
from groupreplay.replay.operations import Operation
from groupreplay.replay.rules.rule_table import RULES

if TYPE_CHECKING:
    from groupreplay.replay.assignment.membership import Change

REVOCATION_SLACK_MS = 5_000
"""A busy broker writes a fence late; on healthy ones 3 ms were seen."""

SESSION_LIMIT_MS = 65_000
"""group.consumer.max.session.timeout.ms (60 s) and slack: a consumer-protocol member that stays
behind longer should have been fenced.
"""


class Rules:
    """Judges one life's operations."""

    def __init__(self, life: Life, output: Output) -> None:
        self._life = life
        self._output = output

    def broken(self, rule_id: str, at: int, offset: int, detail: str) -> None:
        """Tells a broken rule."""
        rule = RULES[rule_id]
        life = self._life
        self._output.emit(
            Anomaly(
                group_id=life.group_id,
                incarnation=life.incarnation,
                offsets_partition=life.offsets_partition,
                from_offset=offset,
                rule=rule.name,
                severity=rule.severity,
                detected_at=at,
                evidence_offset=offset,
                detail=detail,
            )
        )

    # ------------------------------------------------------------ record by record

    def epoch(self, entry: Entry, epoch: int, upgrading: bool) -> None:
        """I4, before the epoch is taken over."""
        life = self._life
        row = life.epoch_row
        if (
            life.epoch is None
            or row is None
            or not row.start_observed
            or entry.last_hole > life.epoch_offset
        ):
            return
        if upgrading and row.protocol == CLASSIC and epoch >= life.epoch:
            return
        if epoch != life.epoch + 1:
            self.broken("I4", entry.ts_ms, entry.offset, f"epoch {epoch} after {life.epoch}")

    def target_epoch(self, entry: Entry, epoch: int) -> None:
        """I5, before the target epoch is taken over."""
        life = self._life
        if entry.last_hole > life.epoch_offset:
            return
        if life.epoch is not None and epoch > life.epoch and life.birth_seen:
            self.broken(
                "I5", entry.ts_ms, entry.offset, f"target epoch {epoch} of group epoch {life.epoch}"
            )
        elif life.target_epoch is not None and epoch < life.target_epoch:
            self.broken(
                "I5", entry.ts_ms, entry.offset, f"target epoch {epoch} after {life.target_epoch}"
            )

    def grant(self, entry: Entry, member: Member, fresh: frozenset[TopicPartition]) -> None:
        """I14: who else still has what a member now gets, by the records so far."""
        for tp in fresh & self._life.holders.keys():
            for other_id in self._life.holders[tp]:
                other = self._life.members.get(other_id)
                if (
                    other is not None
                    and other is not member
                    and tp in other.held
                    and entry.last_hole <= other.current_offset
                ):
                    self.broken(
                        "I14",
                        entry.ts_ms,
                        entry.offset,
                        f"{tp[0]}-{tp[1]} reaches {member.member_id} while {other_id} holds it",
                    )

    # ------------------------------------------------------------ at operation end

    def consumer_operation(self, change: Change, operation: Operation) -> None:
        """Every rule of consumer groups that one operation can break."""
        hidden = change.last_change_offset >= 0 and change.last_hole > change.last_change_offset
        self._owners(change)
        targets = (ConsumerGroupTargetAssignmentMember, ConsumerGroupTargetAssignmentMetadata)
        if change.claims and isinstance(
            next(
                (e.record for e in reversed(operation.entries) if isinstance(e.record, targets)),
                None,
            ),
            targets[1],
        ):
            self._targets(change)
        if change.removed and not hidden and change.last_hole <= change.offset:
            self._removals(change, operation)
        for entry in (
            operation.entries if ConsumerGroupCurrentMemberAssignment in operation.kinds else ()
        ):
            record = entry.record
            if (
                isinstance(record, ConsumerGroupCurrentMemberAssignment)
                and record.value is not None
                and entry.offset == change.offsets.get(record.member_id)
            ):
                member = self._life.members.get(record.member_id)
                if member is not None:
                    self._current(
                        change, entry, member, change.before[record.member_id], record.value
                    )

    def _owners(self, change: Change) -> None:
        shared: dict[TopicPartition, int] = {}
        holders_of = self._life.holders.get
        for member_id in change.before:
            member = self._life.members.get(member_id)
            for tp in (
                [tp for tp in member.spans if len(holders_of(tp, ())) > 1]
                if member is not None
                else ()
            ):
                holders = self._life.holders[tp]
                if all(change.last_hole <= self._life.members[m].current_offset for m in holders):
                    shared[tp] = max(
                        shared.get(tp, -1), change.offsets.get(member_id, change.last_offset)
                    )
        for tp, offset in shared.items():
            self.broken(
                "I1",
                change.at,
                offset,
                f"{tp[0]}-{tp[1]} is held by {', '.join(sorted(self._life.holders[tp]))}",
            )

    def _targets(self, change: Change) -> None:
        """I2, where the K6 shows that no K7 of the operation is missing at its end."""
        for tp, before_id, member_id in change.claims:
            first, second = self._life.members.get(before_id), self._life.members.get(member_id)
            if first is None or second is None or change.last_hole > first.target_offset:
                continue
            if tp in (first.target or ()) and tp in (second.target or ()):
                self.broken(
                    "I2",
                    change.at,
                    change.last_offset,
                    f"{tp[0]}-{tp[1]} is in the targets of {before_id} and {member_id}",
                )

    def tombstones(self, operation: Operation) -> None:
        """I15, before the operation is applied: positions of its tombstones."""
        life = self._life
        if (
            not operation.tombstones
            or operation.last_hole > operation.offset
            or 0 <= life.last_change_offset < operation.last_hole
        ):
            return
        seen: set[tuple[int, str]] = set()
        for entry in operation.entries:
            record = entry.record
            if getattr(record, "value", record) is not None:
                continue
            member_id = getattr(record, "member_id", "")
            for later in _MUST_FOLLOW.get(type(record), ()):
                if (later, member_id) in seen or (later, "") in seen:
                    self.broken(
                        "I15",
                        entry.ts_ms,
                        entry.offset,
                        f"tombstone of K{_key_type(record)} after that of K{later}",
                    )
                    return
            seen.add((_key_type(record), member_id))
            if left := self._left_behind(record, seen, operation.last_hole):
                self.broken(
                    "I15",
                    entry.ts_ms,
                    entry.offset,
                    f"tombstone of K{_key_type(record)} before that of {left}",
                )
                return

    def _left_behind(self, record: object, seen: set[tuple[int, str]], last_hole: int) -> str:
        """What a tombstone leaves behind that must be gone by then: a removed member's K8, a
        removed target's K7s, a removed group's members.
        """
        members = self._life.members
        if isinstance(record, ConsumerGroupMemberMetadata):
            member = members.get(record.member_id)
            has_current = (
                member is not None
                and member.epoch is not None
                and last_hole <= member.current_offset
            )
            return (
                f"K8 of {record.member_id}"
                if has_current and (8, record.member_id) not in seen
                else ""
            )
        kind = (
            7
            if isinstance(record, ConsumerGroupTargetAssignmentMetadata)
            else 5
            if isinstance(record, ConsumerGroupMetadata)
            else 0
        )
        for member_id, member in members.items() if kind else ():
            is_there = kind == 5 or member.target is not None
            if (
                is_there
                and (kind, member_id) not in seen
                and last_hole <= max(member.current_offset, member.target_offset)
            ):
                return f"K{kind} of {member_id}"
        return ""

    def _removals(self, change: Change, operation: Operation) -> None:
        """I16: removed members, none of them replaced, and exactly one K3. Whether a missing one
        was lost is only known at the next record.
        """
        gone = [m for m in change.removed if m not in change.replaced and change.before[m].existed]
        if not gone or change.converts or change.group_ends:
            return
        bumps = sum(
            1
            for e in operation.entries
            if isinstance(e.record, ConsumerGroupMetadata) and e.record.value is not None
        )
        if bumps > 1:
            self.broken(
                "I16",
                change.at,
                change.last_offset,
                f"{len(gone)} members removed with {bumps} epochs",
            )
        elif not bumps:
            self._life.unbumped = (change.at, change.last_offset, len(gone))

    def next_record(self, last_hole: int) -> None:
        """I16, as far as it waits for the record after the removal: one that lies behind a hole
        says nothing.
        """
        if self._life.unbumped is not None:
            at, offset, gone = self._life.unbumped
            self._life.unbumped = None
            if last_hole <= offset:
                self.broken("I16", at, offset, f"{gone} members removed with 0 epochs")

    def _current(
        self,
        change: Change,
        entry: Entry,
        member: Member,
        before: Before,
        value: ConsumerGroupCurrentMemberAssignmentValue,
    ) -> None:
        """I6 to I13 and I17 for a member's last K8 in the operation."""
        known = before.current_offset >= 0 and change.last_hole <= before.current_offset
        settled = member.epoch is not None and member.epoch > 0
        if settled and not change.converts:
            self._against_target(entry, member, before, known)
            self._gain_and_loss(entry, member, before, known)
        if known and not change.converts:
            self._against_before(change, entry, member, before, value)
        if (
            member.state == UNREVOKED_PARTITIONS
            and not member.pending
            and member.epoch != STATIC_LEAVE_EPOCH
        ):
            self.broken(
                "I9",
                entry.ts_ms,
                entry.offset,
                f"{member.member_id} is UNREVOKED_PARTITIONS with nothing pending",
            )
        if settled:
            self._assignment_epochs(entry, member, before, value, known and not change.converts)

    def _against_before(
        self,
        change: Change,
        entry: Entry,
        member: Member,
        before: Before,
        value: ConsumerGroupCurrentMemberAssignmentValue,
    ) -> None:
        epoch = value.member_epoch
        if before.epoch is None or before.epoch <= 0 or epoch <= 0:
            return
        if epoch < before.epoch:
            self.broken(
                "I7",
                entry.ts_ms,
                entry.offset,
                f"{member.member_id}: epoch {epoch} after {before.epoch}",
            )
        older = before.previous_epoch if not self._life.stamps_assignments else before.epoch
        if value.previous_member_epoch not in (before.epoch, older):
            self.broken(
                "I8",
                entry.ts_ms,
                entry.offset,
                f"{member.member_id}: previous epoch {value.previous_member_epoch}, its K8 before"
                f" had {before.epoch}",
            )
        if (
            value.state == UNREVOKED_PARTITIONS
            and value.previous_member_epoch != epoch
            and self._life.stamps_assignments
        ):
            self.broken(
                "I9",
                entry.ts_ms,
                entry.offset,
                f"{member.member_id}: UNREVOKED_PARTITIONS at epoch {epoch} with previous"
                f" {value.previous_member_epoch}",
            )

    def _against_target(self, entry: Entry, member: Member, before: Before, known: bool) -> None:
        life = self._life
        if life.target_epoch is None or member.epoch is None:
            return
        target_known = (
            life.birth_seen and not life.hole_seen and entry.last_hole <= life.incarnation
        )
        if member.epoch > life.target_epoch and target_known:
            self.broken(
                "I6", entry.ts_ms, entry.offset, f"{_who(member)}, target epoch {life.target_epoch}"
            )
        if member.state not in (STABLE, UNRELEASED_PARTITIONS):
            return
        if member.pending or (member.epoch != life.target_epoch and target_known):
            self.broken(
                "I10",
                entry.ts_ms,
                entry.offset,
                f"{_who(member)} has {len(member.pending)} pending, target epoch"
                f" {life.target_epoch}",
            )
        if member.epoch != life.target_epoch or not target_known:
            return
        target = member.target or frozenset()
        missing = target - member.assigned
        if member.state == STABLE and (
            member.assigned - target or (missing and self._subscribed(member))
        ):
            held_of_target = (
                f"holds {len(member.assigned)} partitions, {len(missing)} of its target are missing"
            )
            self.broken("I11", entry.ts_ms, entry.offset, f"{_who(member)} {held_of_target}")
        if member.state == UNRELEASED_PARTITIONS:
            own = bool(before.pending & missing) and not life.stamps_assignments
            held = any(m != member.member_id for tp in missing for m in life.holders.get(tp, ()))
            if member.assigned - target or not (held or own):
                self.broken(
                    "I12",
                    entry.ts_ms,
                    entry.offset,
                    f"{_who(member)} is UNRELEASED, but nobody else holds what it waits for",
                )

    def _subscribed(self, member: Member) -> bool:
        """Whether a member's subscription is as its target was made for.

        One that changed since, a regular expression that is not resolved yet, or a topic deleted
        since may leave partitions out (4.2+).
        """
        is_resolved = not member.regex or member.regex in self._life.resolved_topics
        return is_resolved and max(member.subscription_epoch, self._life.topic_metadata_epoch) <= (
            member.epoch or 0
        )

    def _gain_and_loss(self, entry: Entry, member: Member, before: Before, known: bool) -> None:
        life = self._life
        if not known or before.epoch is None or before.epoch <= 0:
            return
        gained = member.held - before.assigned - before.pending
        row = life.epoch_row
        knows_target = (
            life.target_epoch is not None
            and row is not None
            and row.start_observed
            and entry.last_hole <= life.epoch_offset
        )
        if gained and knows_target and member.epoch != life.target_epoch:
            self.broken(
                "I13",
                entry.ts_ms,
                entry.offset,
                f"{member.member_id} gains {len(gained)} partitions at epoch {member.epoch}, target"
                f" epoch {life.target_epoch}",
            )
        lost = before.assigned - member.held
        if (
            lost
            and member.epoch == before.epoch
            and before.state == STABLE
            and member.protocol == CONSUMER
            and member.subscription_epoch < (member.epoch or 0)
        ):
            self.broken(
                "I13",
                entry.ts_ms,
                entry.offset,
                f"{member.member_id} loses {len(lost)} partitions at the unchanged epoch"
                f" {member.epoch}",
            )

    def _assignment_epochs(
        self,
        entry: Entry,
        member: Member,
        before: Before,
        value: ConsumerGroupCurrentMemberAssignmentValue,
        known: bool,
    ) -> None:
        for held in member.spans.values() if not known else ():
            held.stamped = (
                held.stamped and held.from_offset == entry.offset
            )  # what is kept may have been given back in the hole
        for tp, epoch in _epochs_of(value.assigned_partitions):
            if epoch < 0 or epoch > value.member_epoch:
                self.broken(
                    "I17",
                    entry.ts_ms,
                    entry.offset,
                    f"{_of(tp, member)} has assignment epoch {epoch}, its member"
                    f" {value.member_epoch}",
                )
                continue
            kept = known and epoch > 0 and tp in before.assigned
            span = member.spans.get(tp)
            if (
                span is not None
                and span.from_offset == entry.offset
                and span.assigned_epoch != epoch
            ):
                span.stamped = False  # a static member that returns keeps the epochs of what it had
            elif kept and span is not None and _keeps_epoch(span) and span.assigned_epoch != epoch:
                self.broken(
                    "I17",
                    entry.ts_ms,
                    entry.offset,
                    f"{_of(tp, member)}: assignment epoch {epoch}, was {span.assigned_epoch}",
                )

    # ------------------------------------------------------------ classic groups, timers

    def generation(self, entry: Entry, value: GroupMetadataValue, converts: bool) -> None:
        """I19 and I20, before a K2 is taken over; the K2 of a downgrade repeats the group epoch."""
        life = self._life
        if (
            not converts
            and life.epoch is not None
            and life.protocol == CLASSIC
            and entry.last_hole <= life.last_change_offset
        ):
            came = [m for m in value.members if m.member_id not in life.members]
            replaced = [m for m in came if m.group_instance_id is not None]
            if value.generation < life.epoch:
                self.broken(
                    "I19",
                    entry.ts_ms,
                    entry.offset,
                    f"generation {value.generation} after {life.epoch}",
                )
            elif (
                value.generation == life.epoch
                and value.generation > 0
                and (len(came) != len(replaced) or len(value.members) != len(life.members))
            ):
                self.broken(
                    "I19",
                    entry.ts_ms,
                    entry.offset,
                    f"generation {value.generation} again, with other members",
                )
        if value.members and (
            value.protocol is None or value.leader not in {m.member_id for m in value.members}
        ):
            self.broken(
                "I20",
                entry.ts_ms,
                entry.offset,
                f"protocol {value.protocol}, leader {value.leader} of {len(value.members)} members",
            )

    def both_kinds(self, operation: Operation, kind: str) -> None:
        """I18: records of a kind that the group is not, without a conversion."""
        life = self._life
        if life.protocol in (CLASSIC, CONSUMER) and operation.last_hole <= life.last_change_offset:
            self.broken(
                "I18",
                operation.ts_ms,
                operation.offset,
                f"{kind} records in a {life.protocol} group",
            )

    def revocation(self, member: Member, at: int, offset: int) -> None:
        """I21, when a member's open requests end; after a change of leader they have no timeout."""
        timeouts = [r.timeout_ms for r in member.requests.values() if r.timeout_ms is not None]
        if timeouts and at - member.revoking_since > timeouts[0] + REVOCATION_SLACK_MS:
            self.broken(
                "I21",
                at,
                offset,
                f"{member.member_id} revoked for {at - member.revoking_since} ms, its timeout is"
                f" {timeouts[0]} ms",
            )

    def silence(self, member: Member, since: int, at: int, offset: int) -> None:
        """I22, when a member that was behind the target shows itself again or is removed."""
        if member.protocol == CONSUMER and at - since > SESSION_LIMIT_MS:
            self.broken(
                "I22", at, offset, f"{member.member_id} was behind the target for {at - since} ms"
            )


_MUST_FOLLOW: dict[type, tuple[int, ...]] = {
    ConsumerGroupCurrentMemberAssignment: (7, 5, 3),
    ConsumerGroupTargetAssignmentMember: (5, 6, 3),
    ConsumerGroupTargetAssignmentMetadata: (3,),
    ConsumerGroupMemberMetadata: (3,),
}
"""record type -> key types whose tombstone must not stand before its own, in one operation (of the
same member, where both have one).
"""


def _key_type(record: object) -> int:
    return int(getattr(record, "KEY_TYPE", -1))


def _who(member: Member) -> str:
    return f"{member.member_id} at epoch {member.epoch}"


def _of(tp: TopicPartition, member: Member) -> str:
    return f"{tp[0]}-{tp[1]} of {member.member_id}"


def _keeps_epoch(span: Span) -> bool:
    """Whether a span's epoch is the assignment epoch its K8s must repeat: begun, as seen, under a
    4.3 writer, and not given back from pending.
    """
    return span.stamped and span.start_observed and span.other_name is None and not span.given_back


def _epochs_of(topics: tuple[TopicPartitions, ...]) -> list[tuple[TopicPartition, int]]:
    return [
        ((t.topic_id, p), e)
        for t in topics
        if t.assignment_epochs is not None
        for p, e in zip(t.partitions, t.assignment_epochs, strict=False)
    ]
