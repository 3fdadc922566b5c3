"""What was so of a group, and through which of its operations, by the coordinator's own memory."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

from tests.simulator.lives import is_conversion
from tests.simulator.truth import Member, Operation, Partition, Truth

V = TypeVar("V")
Place = tuple[str, str, int]
"""Member id, topic name, partition."""
Ids = set[str | None]
"""What a partition's topic was known by through a stretch: its id; None by its name alone, as in a
classic group. Both over an online conversion, which breaks no span (measures.md 4)."""


@dataclass(slots=True)
class Stretch(Generic[V]):
    """A run of operations of one group through which something was so.

    value: what, as it was when it began. opened, closed: the first operation of the run, and the
    first after it (None while it lasts).
    """

    value: V
    opened: Operation
    closed: Operation | None = None

    def covers(self, operation: Operation) -> bool:
        """Whether it was so after an operation."""
        offset = operation.first_offset
        is_over = self.closed is not None and self.closed.first_offset <= offset
        return self.opened.first_offset <= offset and not is_over


Stretches = dict[str, list[Stretch[V]]]
Courses = dict[tuple[str, int], list[tuple[str, Stretch[Ids]]]]
"""Topic name and partition -> members and their stretches, in the order in which they began."""


def stretches(
    operations: Sequence[Operation],
    so_after: Callable[[Operation], Mapping[str, V]],
    goes_on: Callable[[V, V], bool] = lambda before, now: before == now,
) -> Stretches[V]:
    """The stretches of every key, in order. so_after: key -> value after an operation."""
    found: Stretches[V] = defaultdict(list)
    now: dict[str, Stretch[V]] = {}
    for operation in operations:
        so = so_after(operation)
        for key, stretch in list(now.items()):
            if key not in so or not goes_on(stretch.value, so[key]):
                stretch.closed = operation
                del now[key]
        for key, value in so.items():
            if key not in now:
                now[key] = Stretch(value, operation)
                found[key].append(now[key])
    return found


def at(known: Stretches[V], key: str, operation: Operation) -> Stretch[V] | None:
    """The stretch of a key that covers an operation."""
    return next((each for each in known.get(key, ()) if each.covers(operation)), None)


@dataclass
class GroupTruth:
    """One group's truth. operations: in the order of the log, over all its lives."""

    truth: Truth
    group_id: str
    operations: Sequence[Operation] = field(init=False)

    def __post_init__(self) -> None:
        self.operations = self.truth.operations.get(self.group_id, [])

    @cached_property
    def _offsets(self) -> list[int]:
        return [operation.first_offset for operation in self.operations]

    def index_at(self, offset: int) -> int:
        """Index of the operation that a record is of, -1 if of none."""
        index = bisect_right(self._offsets, offset) - 1
        return index if index >= 0 and offset <= self.operations[index].last_offset else -1

    def operation_at(self, offset: int | None) -> Operation | None:
        index = self.index_at(offset) if offset is not None else -1
        return self.operations[index] if index >= 0 else None

    def before(self, operation: Operation) -> Operation | None:
        """The operation before, None before the first and after a removal of the group."""
        index = self.index_at(operation.first_offset)
        earlier = self.operations[index - 1] if index > 0 else None
        return earlier if earlier is not None and earlier.protocol is not None else None

    def between(self, first: Operation, end: Operation | None) -> Sequence[Operation]:
        """From `first` on, up to but without `end`."""
        begin = self.index_at(first.first_offset)
        last = self.index_at(end.first_offset) if end is not None else len(self.operations)
        return self.operations[begin:last]

    def members_until(self, operation: Operation) -> int:
        """How many members the group has had up to an operation."""
        until = self.operations[: self.index_at(operation.first_offset) + 1]
        return len({member_id for each in until for member_id in each.members})

    @cached_property
    def memberships(self) -> Stretches[Member]:
        """Member id -> stretches in the group."""
        return stretches(self.operations, lambda each: dict(each.members), lambda *_: True)

    @cached_property
    def states(self) -> Stretches[tuple[int, str]]:
        """Member id -> stretches in one epoch and state."""
        return stretches(
            self.operations,
            lambda each: {
                name: (member.epoch, member.state) for name, member in each.members.items()
            },
        )

    @cached_property
    def held(self) -> dict[Place, list[Stretch[Ids]]]:
        return self._of_partitions("held")

    @cached_property
    def assigned(self) -> dict[Place, list[Stretch[Ids]]]:
        return self._of_partitions("assigned")

    @cached_property
    def pending(self) -> dict[Place, list[Stretch[Ids]]]:
        return self._of_partitions("pending")

    @cached_property
    def holders(self) -> Courses:
        """By partition whatever of `held` is of it."""
        return _courses(self.held)

    @cached_property
    def owners(self) -> Courses:
        """By partition whatever of `assigned` is of it."""
        return _courses(self.assigned)

    def _of_partitions(self, of: str) -> dict[Place, list[Stretch[Ids]]]:
        """Stretches in which a member had a partition. of: one of a Member's sets."""
        found: dict[Place, list[Stretch[Ids]]] = defaultdict(list)
        now: dict[tuple[Place, str | None], Stretch[Ids]] = {}
        for operation in self.operations:
            so = _partitions(operation, of)
            if self.converts(operation):
                _rename(now, so)
            for key in now.keys() - so:
                now.pop(key).closed = operation
            for key in sorted(so - now.keys(), key=repr):
                now[key] = Stretch({key[1]}, operation)
                found[key[0]].append(now[key])
        return found

    def converts(self, operation: Operation) -> bool:
        return is_conversion(self.before(operation), operation)


def _courses(known: Mapping[Place, Sequence[Stretch[Ids]]]) -> Courses:
    found: Courses = defaultdict(list)
    for (member_id, topic, number), own in known.items():
        found[topic, number] += [(member_id, each) for each in own]
    for course in found.values():
        course.sort(key=lambda each: (each[1].opened.first_offset, each[0]))
    return found


def _partitions(operation: Operation, of: str) -> set[tuple[Place, str | None]]:
    found: set[tuple[Place, str | None]] = set()
    for member_id, member in operation.members.items():
        partitions: frozenset[Partition] = getattr(member, of)
        found |= {((member_id, topic, number), topic_id) for topic_id, topic, number in partitions}
    return found


def _rename(
    now: dict[tuple[Place, str | None], Stretch[Ids]], so: set[tuple[Place, str | None]]
) -> None:
    """At a conversion: what was known by name is known by id, or the other way round."""
    renamed = dict(so)
    for place, topic_id in list(now):
        if (place, topic_id) not in so and place in renamed:
            stretch = now.pop((place, topic_id))
            stretch.value.add(renamed[place])
            now[place, renamed[place]] = stretch


def may_be(ids: Ids, others: Ids) -> bool:
    """Whether two may be the same topic, of one name."""
    return None in ids or None in others or not ids.isdisjoint(others)
