"""Recorded logs changed to break one rule each: what `tests/replay/rules/test_rule_table.py` holds the
invariants against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.consumer import TopicPartitions
from groupreplay.records.entries import Record
from tests.support.changed_logs import (
    K3,
    K5,
    K6,
    K7,
    K8,
    STABLE,
    UNRELEASED,
    UNREVOKED,
    Log,
    NotFound,
    current,
    doubled,
    dropped,
    find,
    following,
    is_current,
    is_tombstone,
    later,
    plus,
    swapped,
    value_of,
    with_value,
    without_one,
)


@dataclass(frozen=True)
class Broken:
    """A changed log and the offsets at which the rule may point. undone: index before which a hole
    explains the change, None if none can.
    """

    log: Log
    evidence: set[int]
    hidden_from: int | None


Mutation = Callable[[Log], Broken]


def two_owners(log: Log) -> Broken:
    first = find(log, is_current(STABLE, assigned=True))
    member_id = getattr(log[first].record, "member_id", None)
    other = find(
        log,
        lambda r: is_current(STABLE)(r) and getattr(r, "member_id", None) != member_id,
        first + 1,
    )
    taken = current(log, first).assigned_partitions[0]
    return Broken(
        with_value(
            log,
            other,
            assigned_partitions=plus(
                current(log, other).assigned_partitions, taken.topic_id, taken.partitions[0]
            ),
        ),
        {log[other].offset},
        other,
    )


def two_targets(log: Log) -> Broken:
    index = find(log, lambda r: (v := value_of(r, K7)) is not None and bool(v.topic_partitions))
    while value_of(log[index + 1].record, K7) is None:
        index = find(
            log,
            lambda r: (v := value_of(r, K7)) is not None and bool(v.topic_partitions),
            index + 1,
        )
    taken = value_of(log[index].record, K7).topic_partitions[0]
    wanted = value_of(log[index + 1].record, K7).topic_partitions
    changed = with_value(
        log, index + 1, topic_partitions=plus(wanted, taken.topic_id, taken.partitions[0])
    )
    return Broken(changed, {log[i].offset for i in range(index, index + 6)}, None)


def skipped_epoch(log: Log) -> Broken:
    index = find(log, lambda r: (v := value_of(r, K3)) is not None and v.epoch >= 3)
    return Broken(
        with_value(log, index, epoch=value_of(log[index].record, K3).epoch + 1),
        {log[index].offset},
        index,
    )


def repeated_epoch(log: Log) -> Broken:
    index = find(log, lambda r: (v := value_of(r, K3)) is not None and v.epoch >= 3)
    return Broken(doubled(log, index), {10 * log[index].offset + 1}, None)


def target_ahead(log: Log) -> Broken:
    index = find(log, lambda r: (v := value_of(r, K6)) is not None and v.assignment_epoch >= 3)
    return Broken(with_value(log, index, assignment_epoch=99), {log[index].offset}, None)


def target_back(log: Log) -> Broken:
    index = find(log, lambda r: (v := value_of(r, K6)) is not None and v.assignment_epoch >= 3)
    return Broken(with_value(log, index, assignment_epoch=1), {log[index].offset}, None)


def member_ahead(log: Log) -> Broken:
    index = following(log, find(log, is_current(STABLE)))
    return Broken(
        with_value(
            log,
            index,
            member_epoch=99,
            previous_member_epoch=current(log, index).previous_member_epoch,
        ),
        {log[index].offset},
        index,
    )


def member_back(log: Log) -> Broken:
    index = find(log, is_current(STABLE, least_epoch=2))
    while current(log, following(log, index)).member_epoch <= 2:
        index = following(log, index)
    after = following(log, index)
    return Broken(
        with_value(log, after, member_epoch=current(log, index).member_epoch - 1),
        {log[after].offset},
        after,
    )


def wrong_previous(log: Log) -> Broken:
    index = following(log, find(log, is_current(STABLE)))
    return Broken(with_value(log, index, previous_member_epoch=77), {log[index].offset}, index)


def nothing_pending(log: Log) -> Broken:
    index = find(log, is_current(UNREVOKED, pending=True))
    return Broken(
        with_value(log, index, partitions_pending_revocation=()), {log[index].offset}, None
    )


def revoking_at_another_epoch(log: Log) -> Broken:
    index = find(log, lambda r: is_current(UNREVOKED)(r) and value_of(r, K8).member_epoch >= 2)
    return Broken(
        with_value(log, index, previous_member_epoch=current(log, index).member_epoch - 1),
        {log[index].offset},
        index,
    )


def settled_with_pending(log: Log) -> Broken:
    index = find(log, is_current(STABLE, assigned=True))
    first = current(log, index).assigned_partitions[0]
    return Broken(
        with_value(
            log, index, partitions_pending_revocation=(TopicPartitions(first.topic_id, (99,)),)
        ),
        {log[index].offset},
        None,
    )


def incomplete_when_stable(log: Log) -> Broken:
    index = find(log, is_current(STABLE, assigned=True))
    return Broken(
        with_value(
            log, index, assigned_partitions=without_one(current(log, index).assigned_partitions)
        ),
        {log[index].offset},
        index,
    )


def waiting_for_nobody(log: Log) -> Broken:
    index = find(log, is_current(STABLE, assigned=True))
    return Broken(with_value(log, index, state=UNRELEASED), {log[index].offset}, index)


def gain_while_revoking(log: Log) -> Broken:
    index = find(log, is_current(UNREVOKED, assigned=True))
    first = current(log, index).assigned_partitions[0]
    return Broken(
        with_value(
            log,
            index,
            assigned_partitions=plus(current(log, index).assigned_partitions, first.topic_id, 99),
        ),
        {log[index].offset},
        index,
    )


def loss_without_request(log: Log) -> Broken:
    index = find(
        log,
        lambda r: (
            is_current(UNREVOKED)(r)
            and sum(len(t.partitions) for t in value_of(r, K8).partitions_pending_revocation) >= 2
        ),
    )
    pending = current(log, index).partitions_pending_revocation
    return Broken(
        with_value(log, index, partitions_pending_revocation=without_one(pending)),
        {log[index].offset},
        index,
    )


def grant_before_release(log: Log) -> Broken:
    request = find(log, is_current(UNREVOKED, pending=True))
    given = {
        (t.topic_id, p)
        for t in current(log, request).partitions_pending_revocation
        for p in t.partitions
    }
    release = following(log, request)

    def is_grant(record: Record) -> bool:
        value = value_of(record, K8)
        return value is not None and bool(
            given & {(t.topic_id, p) for t in value.assigned_partitions for p in t.partitions}
        )

    grant = find(log, is_grant, release + 1)
    return Broken(swapped(log, release, grant), {log[release].offset}, release)


def leave(log: Log) -> int:
    """Index of the K8 tombstone with which a leave begins: K8, K7, K5, K3."""
    index = find(log, is_tombstone(K8))
    while not (
        is_tombstone(K5)(log[index + 2].record) and value_of(log[index + 3].record, K3) is not None
    ):
        index = find(log, is_tombstone(K8), index + 1)
    return index


def tombstones_of_a_member_out_of_order(log: Log) -> Broken:
    index = leave(log)
    return Broken(swapped(log, index, index + 1), {log[index + 1].offset}, None)


def member_gone_before_its_assignment(log: Log) -> Broken:
    index = leave(log)
    return Broken(dropped(log, index), {log[index + 2].offset}, index + 1)


def tombstones_of_a_group_out_of_order(log: Log) -> Broken:
    first, last = find(log, is_tombstone(K6)), find(log, is_tombstone(K3))
    return Broken(swapped(log, first, last), {log[i].offset for i in range(first, last + 1)}, None)


def removal_without_epoch(log: Log) -> Broken:
    index = leave(log)
    return Broken(dropped(log, index + 3), {log[index + 2].offset}, None)


def assignment_epoch_ahead(log: Log) -> Broken:
    index = find(
        log,
        lambda r: (
            (v := value_of(r, K8)) is not None
            and any(t.assignment_epochs for t in v.assigned_partitions)
            and v.member_epoch > 0
        ),
    )
    first = current(log, index).assigned_partitions[0]
    changed = (
        replace(first, assignment_epochs=tuple(99 for _ in first.partitions)),
        *current(log, index).assigned_partitions[1:],
    )
    return Broken(with_value(log, index, assigned_partitions=changed), {log[index].offset}, None)


def assignment_epoch_changed(log: Log) -> Broken:
    index = find(
        log,
        lambda r: (
            is_current(STABLE, least_epoch=3)(r)
            and any(
                e > 1
                for t in value_of(r, K8).assigned_partitions
                for e in t.assignment_epochs or ()
            )
        ),
    )
    while not any(
        0 < e < current(log, index).member_epoch
        for t in current(log, index).assigned_partitions
        for e in t.assignment_epochs or ()
    ):
        index = find(log, is_current(STABLE, least_epoch=3, assigned=True), index + 1)
    value = current(log, index)
    changed = tuple(
        replace(
            t,
            assignment_epochs=tuple(
                e - 1 if 0 < e < value.member_epoch else e for e in t.assignment_epochs or ()
            ),
        )
        for t in value.assigned_partitions
    )
    return Broken(with_value(log, index, assigned_partitions=changed), {log[index].offset}, index)


def upgrade_without_end_of_the_classic_group(log: Log) -> Broken:
    index = find(log, is_tombstone(GroupMetadata))
    return Broken(dropped(log, index), {log[index + 1].offset}, index + 1)


def downgrade_without_end_of_the_consumer_group(log: Log) -> Broken:
    index = find(log, is_tombstone(K3))
    return Broken(
        dropped(log, index), {entry.offset for entry in log[index - 20 : index + 2]}, None
    )


def generation_back(log: Log) -> Broken:
    index = find(log, lambda r: (v := value_of(r, GroupMetadata)) is not None and v.generation >= 2)
    return Broken(with_value(log, index, generation=1), {log[index].offset}, index)


def generation_again(log: Log) -> Broken:
    index = find(
        log,
        lambda r: (
            (v := value_of(r, GroupMetadata)) is not None and v.generation >= 2 and bool(v.members)
        ),
    )
    return Broken(
        with_value(
            log, index, generation=value_of(log[index].record, GroupMetadata).generation - 1
        ),
        {log[index].offset},
        index,
    )


def leader_who_is_no_member(log: Log) -> Broken:
    index = find(log, lambda r: (v := value_of(r, GroupMetadata)) is not None and bool(v.members))
    return Broken(with_value(log, index, leader="nobody"), {log[index].offset}, None)


def given_to_two(log: Log) -> Broken:
    """What the first member with partitions got, the one after it gets too, and what it had."""
    index = find(
        log,
        lambda r: (
            (v := value_of(r, GroupMetadata)) is not None
            and len([m for m in v.members if m.assignment and m.assignment.assigned_partitions]) > 1
        ),
    )
    members = value_of(log[index].record, GroupMetadata).members
    one, other = [m for m in members if m.assignment and m.assignment.assigned_partitions][:2]
    both = (*one.assignment.assigned_partitions, *other.assignment.assigned_partitions)
    taken = replace(other, assignment=replace(other.assignment, assigned_partitions=both))
    changed = tuple(taken if m is other else m for m in members)
    return Broken(with_value(log, index, members=changed), {log[index].offset}, None)


def no_protocol(log: Log) -> Broken:
    index = find(log, lambda r: (v := value_of(r, GroupMetadata)) is not None and bool(v.members))
    return Broken(with_value(log, index, protocol=None), {log[index].offset}, None)


def revocation_too_slow(log: Log) -> Broken:
    request = find(log, is_current(UNREVOKED, pending=True))
    answer = following(log, request)
    return Broken(later(log, answer, 3_600_000), {log[answer].offset}, answer)


def silent_too_long(log: Log) -> Broken:
    """A member that stood STABLE when the target moved on, and answers with its next K8 in another
    operation.
    """
    target = find(log, lambda r: (v := value_of(r, K6)) is not None and v.assignment_epoch >= 3)
    for index in range(find(log, is_current(STABLE)), target):
        if is_current(STABLE)(log[index].record):
            answer = following(log, index)
            if answer > target and log[answer].ts_ms > log[target].ts_ms:
                return Broken(later(log, answer, 120_000), {log[answer].offset}, answer)
    raise NotFound


MUTATIONS: list[tuple[str, str, str, Mutation]] = [
    ("I1", "consumer-4.3", "scale-up", two_owners),
    ("I1", "migration-4.0", "scale-up", two_owners),
    ("I2", "consumer-4.3", "scale-up", two_targets),
    ("I4", "consumer-4.3", "wave", skipped_epoch),
    ("I4", "migration-4.0", "crash", skipped_epoch),
    ("I4", "consumer-4.3", "wave", repeated_epoch),
    ("I5", "consumer-4.3", "scale-up", target_ahead),
    ("I5", "consumer-4.3", "scale-up", target_back),
    ("I6", "consumer-4.3", "scale-up", member_ahead),
    ("I6", "migration-4.0", "scale-up", member_ahead),
    ("I7", "consumer-4.3", "scale-up", member_back),
    ("I8", "consumer-4.3", "scale-up", wrong_previous),
    ("I8", "migration-4.0", "scale-up", wrong_previous),
    ("I9", "consumer-4.3", "slow-revoker", nothing_pending),
    ("I9", "consumer-4.3", "wave", revoking_at_another_epoch),
    ("I10", "consumer-4.3", "scale-up", settled_with_pending),
    ("I11", "consumer-4.3", "scale-up", incomplete_when_stable),
    ("I11", "migration-4.0", "scale-up", incomplete_when_stable),
    ("I12", "consumer-4.3", "scale-up", waiting_for_nobody),
    ("I13", "consumer-4.3", "wave", gain_while_revoking),
    ("I13", "consumer-4.3", "scale-up", loss_without_request),
    ("I14", "consumer-4.3", "scale-up", grant_before_release),
    ("I15", "consumer-4.3", "scale-up", tombstones_of_a_member_out_of_order),
    ("I15", "consumer-4.3", "scale-up", member_gone_before_its_assignment),
    ("I15", "consumer-4.3", "deleted", tombstones_of_a_group_out_of_order),
    ("I15", "migration-4.3", "rollback", tombstones_of_a_group_out_of_order),
    ("I16", "consumer-4.3", "scale-up", removal_without_epoch),
    ("I17", "consumer-4.3", "scale-up", assignment_epoch_ahead),
    ("I17", "consumer-4.3", "scale-up", assignment_epoch_changed),
    ("I18", "migration-4.3", "mixed-stall", upgrade_without_end_of_the_classic_group),
    ("I18", "migration-4.3", "rollback", downgrade_without_end_of_the_consumer_group),
    ("I19", "classic-3.9", "classic-eager", generation_back),
    ("I19", "classic-3.9", "classic-eager", generation_again),
    ("I20", "classic-3.9", "classic-eager", leader_who_is_no_member),
    ("I20", "scala-3.9", "classic-coop-s", no_protocol),
    ("I21", "consumer-4.3", "slow-revoker", revocation_too_slow),
    ("I22", "consumer-4.3", "scale-up", silent_too_long),
    ("I24", "classic-3.9", "classic-eager", given_to_two),
    ("I24", "scala-3.9", "classic-coop-s", given_to_two),
]
"""(rule, recording, group, what is done to its log)"""
