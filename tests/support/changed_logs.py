"""Recorded logs, changed: a record is found by what it is, and altered, dropped, moved or doubled,
and nothing else is touched.

Offsets and times stay where they were, unless the times are what is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    TopicPartitions,
)
from groupreplay.records.entries import Entry, Record

K3, K5, K6, K7, K8 = (
    ConsumerGroupMetadata,
    ConsumerGroupMemberMetadata,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupCurrentMemberAssignment,
)
STABLE, UNREVOKED, UNRELEASED = 0, 1, 2
Log = list[Entry]
Current = ConsumerGroupCurrentMemberAssignmentValue


class NotFound(AssertionError):
    """No record of that shape: the recording does not hold what the test was written for."""


# ---------------------------------------------------------------- finding records


def find(log: Log, wanted: Callable[[Record], Any], start: int = 0) -> int:
    """Index of the first record, from `start` on, that is wanted."""
    for index in range(start, len(log)):
        if wanted(log[index].record):
            return index
    raise NotFound


def value_of(record: Record, kind: type) -> Any:
    """The record's value, None if it is of another kind or a tombstone."""
    return getattr(record, "value", None) if isinstance(record, kind) else None


def current(log: Log, index: int) -> Current:
    value = value_of(log[index].record, K8)
    assert isinstance(value, Current)
    return value


def is_current(state: int, least_epoch: int = 1, **has: bool) -> Callable[[Record], bool]:
    """A K8 in a state, of an epoch at least; has: assigned or pending partitions, or none."""

    def wanted(record: Record) -> bool:
        value = value_of(record, K8)
        if value is None or value.state != state or value.member_epoch < least_epoch:
            return False
        return all(
            bool(
                {
                    "assigned": value.assigned_partitions,
                    "pending": value.partitions_pending_revocation,
                }[name]
            )
            is is_so
            for name, is_so in has.items()
        )

    return wanted


def is_tombstone(kind: type) -> Callable[[Record], bool]:
    return lambda record: isinstance(record, kind) and getattr(record, "value", None) is None


def following(log: Log, index: int) -> int:
    """The next K8 value of the same member."""
    member_id = getattr(log[index].record, "member_id", None)
    return find(
        log,
        lambda record: (
            value_of(record, K8) is not None and getattr(record, "member_id", None) == member_id
        ),
        index + 1,
    )


# ---------------------------------------------------------------- changing them


def altered(log: Log, index: int, record: Record) -> Log:
    return [*log[:index], log[index]._replace(record=record), *log[index + 1 :]]


def with_value(log: Log, index: int, **changes: Any) -> Log:
    """The record's value with other fields."""
    record: Any = log[index].record
    return altered(log, index, replace(record, value=replace(record.value, **changes)))


def dropped(log: Log, index: int) -> Log:
    return [*log[:index], *log[index + 1 :]]


def swapped(log: Log, one: int, other: int) -> Log:
    first, second = log[one].record, log[other].record
    return altered(altered(log, one, second), other, first)


def spread(log: Log) -> Log:
    """Ten times the offsets: room between any two records."""
    return [
        e._replace(
            offset=10 * e.offset,
            batch_base_offset=10 * e.batch_base_offset,
            last_hole=max(-1, 10 * e.last_hole),
        )
        for e in log
    ]


def doubled(log: Log, index: int) -> Log:
    """The record once more, right behind itself in its batch."""
    roomy = spread(log)
    return [
        *roomy[: index + 1],
        roomy[index]._replace(offset=roomy[index].offset + 1),
        *roomy[index + 1 :],
    ]


def later(log: Log, index: int, by_ms: int) -> Log:
    """Everything from there on happens so much later."""
    return [*log[:index], *(entry._replace(ts_ms=entry.ts_ms + by_ms) for entry in log[index:])]


def plus(
    topics: Sequence[TopicPartitions], topic_id: str, partition: int
) -> tuple[TopicPartitions, ...]:
    return (*topics, TopicPartitions(topic_id, (partition,), None))


def without_one(topics: Sequence[TopicPartitions]) -> tuple[TopicPartitions, ...]:
    first = topics[0]
    epochs = first.assignment_epochs[1:] if first.assignment_epochs is not None else None
    return (replace(first, partitions=first.partitions[1:], assignment_epochs=epochs), *topics[1:])
