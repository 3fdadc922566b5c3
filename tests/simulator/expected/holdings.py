"""Who held each partition from when to when in one life of a group, and which targets left one out.

Held is what is assigned or pending revocation; an unchanged assignment over an online conversion or
in a new classic generation goes on (measures.md, who holds what). Operations are told by their
place in the life.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.simulator.lives import Life, is_conversion
from tests.simulator.truth import CLASSIC, Operation, Partition

Named = tuple[str, int]
"""A partition by its topic's name."""


def named(partition: Partition) -> Named:
    return partition.topic, partition.number


def same(one: Partition, other: Partition) -> bool:
    """Whether two may be the same partition: a topic that was created anew has its old name and
    another id."""
    ids = (one.topic_id, other.topic_id)
    return named(one) == named(other) and (ids[0] == ids[1] or None in ids)


@dataclass(slots=True)
class Span:
    """One member holding one partition. opened, closed: places of operations; closed is None while
    it is held.

    partition: by its id once any operation of the span told it. epoch: the member's when it got it.
    """

    member_id: str
    partition: Partition
    opened: int
    epoch: int
    closed: int | None = None


@dataclass(slots=True)
class _Target:
    """A target: which partitions it gives to anybody. by_name: where it is told by names, of a
    classic generation."""

    place: int
    given: frozenset[Partition]
    by_name: frozenset[Named]


@dataclass
class Holdings:
    """spans: in the order in which they began."""

    life: Life
    spans: list[Span] = field(default_factory=list)
    _by_partition: dict[Named, list[Span]] = field(default_factory=lambda: defaultdict(list))
    _targets: list[_Target] = field(default_factory=list)
    _contested: set[Named] = field(default_factory=set)
    _returns: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        is_open: dict[tuple[str, Partition], Span] = {}
        for place, (before, operation) in enumerate(self.life.steps()):
            self._note_target(place, before, operation)
            self._note_returns(place, before, operation)
            now = {
                (member_id, partition)
                for member_id, member in operation.members.items()
                for partition in member.held
            }
            if is_conversion(before, operation):
                _carry_over(is_open, now)
            for key in is_open.keys() - now:
                is_open.pop(key).closed = place
            for key in sorted(now - is_open.keys(), key=str):
                is_open[key] = self._begin(*key, place, operation)

    def _begin(
        self, member_id: str, partition: Partition, place: int, operation: Operation
    ) -> Span:
        span = Span(member_id, partition, place, operation.members[member_id].epoch)
        self.spans.append(span)
        self._by_partition[named(partition)].append(span)
        return span

    def _note_target(self, place: int, before: Operation | None, operation: Operation) -> None:
        members = operation.members.values()
        if operation.protocol == CLASSIC and is_new_generation(before, operation):
            given: Iterable[Partition] = (each for member in members for each in member.assigned)
        elif operation.target_epochs:
            given = (each for member in members for each in member.target)
        else:
            return
        told = list(given)
        partitions = frozenset(told)
        if operation.protocol == CLASSIC and len(told) > len(partitions):
            counted = Counter(map(named, told))
            self._contested |= {each for each, times in counted.items() if times > 1}
        if operation.protocol == CLASSIC and is_conversion(before, operation):
            return  # a downgrade: what members had, and the next generation gives out the rest
        by_name = frozenset(named(each) for each in partitions)
        self._targets.append(_Target(place, partitions, by_name))

    def _note_returns(self, place: int, before: Operation | None, operation: Operation) -> None:
        for member_id, was in before.members.items() if before is not None else ():
            now = operation.members.get(member_id)
            if was.is_away and now is not None and not now.is_away:
                self._returns[member_id].append(place)

    def returns_in(self, span: Span) -> list[int]:
        """Places at which a member that had left for a while came back under its own id, and had
        the partition still: its process had let go of it."""
        places = self._returns.get(span.member_id, ())
        closed = len(self.life.operations) if span.closed is None else span.closed
        return [place for place in places if span.opened < place < closed]

    def is_contested(self, partition: Partition) -> bool:
        """Whether a classic generation gave a partition to two members at once: a leader's assignor
        can, where members claim the same."""
        return named(partition) in self._contested

    def left_out(self, partition: Partition, first: int, before: int) -> bool:
        """Whether a target made at the places from first, and before another, gives the partition
        to nobody."""
        place = bisect_left(self._targets, first, key=lambda each: each.place)
        for target in self._targets[place:]:
            if target.place >= before:
                return False
            by_id = partition.topic_id is not None and self._protocol(target.place) != CLASSIC
            if (
                (partition not in target.given)
                if by_id
                else (named(partition) not in target.by_name)
            ):
                return True
        return False

    def _protocol(self, place: int) -> str | None:
        return self.life.operations[place].protocol

    def next_after(self, span: Span) -> Span | None:
        """Who held the partition next, from the release on; None where nobody did, or a target left
        it out before. From one K2 to another a name is one partition, though its topic was created
        again while a classic group went on with it."""
        if span.closed is None:
            return None
        by_name = self._protocol(span.closed) == CLASSIC
        for each in self._by_partition[named(span.partition)]:
            if each.opened >= span.closed and (
                same(each.partition, span.partition)
                or (by_name and self._protocol(each.opened) == CLASSIC)
            ):
                return None if self.left_out(span.partition, span.closed + 1, each.opened) else each
        return None

    def has_at(self, member_id: str, partition: Partition, place: int) -> bool:
        """Whether a member has a partition after an operation, and not one of a topic that was
        created again."""
        return any(self._held_at(member_id, partition, place))

    def held_at(self, member_id: str, partition: Partition, place: int) -> Span:
        """The span in which a member has a partition after an operation. Raises StopIteration where
        it has not."""
        return next(self._held_at(member_id, partition, place))

    def _held_at(self, member_id: str, partition: Partition, place: int) -> Iterator[Span]:
        return (
            each
            for each in self._by_partition[named(partition)]
            if each.member_id == member_id
            and same(each.partition, partition)
            and each.opened <= place
            and (each.closed is None or place < each.closed)
        )


def is_new_generation(before: Operation | None, operation: Operation) -> bool:
    """Whether a classic group's K2 is that of a new generation, or of a group that just became
    classic."""
    return before is None or (before.protocol, before.epoch) != (
        operation.protocol,
        operation.epoch,
    )


def generation_before(life: Life, operation: Operation) -> Operation:
    """The K2 before an operation: a generation is told of after that."""
    found = life.operations[0]
    for was, each in life.steps():
        if each is operation:
            break
        if was is None or is_new_generation(was, each):
            found = each
    return found


def _carry_over(
    is_open: dict[tuple[str, Partition], Span], now: set[tuple[str, Partition]]
) -> None:
    """Over a conversion names and ids stand for each other."""
    for member_id, partition in now:
        if (member_id, partition) in is_open:
            continue
        for key in [key for key in is_open if key not in now and key[0] == member_id]:
            if same(key[1], partition):
                span = is_open.pop(key)
                if partition.topic_id is not None:
                    span.partition = partition
                is_open[member_id, partition] = span
                break
