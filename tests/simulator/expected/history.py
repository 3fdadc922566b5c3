"""What the checks of all tables begin with: the truth, its lives, and where a row begins."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, TypeVar, cast

from tests.simulator.compare import Between, Key, OneOf, Wanted
from tests.simulator.expected.holdings import Holdings, Span, named
from tests.simulator.injected import Injected
from tests.simulator.lives import Life, is_conversion, is_unwritten, lives_of
from tests.simulator.tables import Row
from tests.simulator.truth import CONSUMER, STREAMS, Operation, Partition, Truth
from tests.simulator.truth_log import Commit, CommitKey

Made = TypeVar("Made")

SETTLED_MS: Final = 3_600_000
"""How long a row waits for what may follow."""

OFFSETS_DELETED: Final = (
    "a group of commits alone, whose offsets were deleted before it had members"
)


@dataclass
class History:
    """One recording, as all checks see it."""

    truth: Truth
    lives: list[Life] = field(default_factory=list)
    _holdings: dict[int, Holdings] = field(default_factory=dict)
    _made: dict[tuple[object, int], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lives = lives_of(self.truth)

    @cached_property
    def _first_offsets(self) -> dict[str, list[int]]:
        return {
            group_id: [each.first_offset for each in operations]
            for group_id, operations in self.truth.operations.items()
        }

    def opened_by(self, row: Row) -> int:
        """Which operation of its group a row begins in, by the first offset of it; a row that
        begins in none has its own offset, negative."""
        operation = self.operation_at(row["group_id"], row["from_offset"])
        return -1 - row["from_offset"] if operation is None else operation.first_offset

    def operation_at(self, group_id: str, offset: int) -> Operation | None:
        """The operation of a group that a record at this offset is of."""
        place = bisect_right(self._first_offsets.get(group_id, []), offset) - 1
        operation = self.truth.operations[group_id][place] if place >= 0 else None
        return operation if operation is not None and offset <= operation.last_offset else None

    def partition_of(self, row: Row) -> Partition:
        """The partition that a row tells of, by the topic's true name, though the product may know
        the id alone."""
        topic_id = row["topic_id"]
        return Partition(topic_id, self.truth.names.get(topic_id, row["topic"]), row["partition"])

    def topic_of(self, partition: Partition) -> Any:
        """What `topic` says: the name, or the id's text where the name need not be known."""
        if partition.topic_id is None or partition.topic not in self.truth.deleted:
            return partition.topic
        return OneOf((partition.topic, partition.topic_id))

    def partition_key(self, partition: Partition) -> Key:
        """What tells partitions apart: the name, and the id of a name that several topics had."""
        is_one = self.ids_of_name[partition.topic] < 2
        return partition.topic, None if is_one else partition.topic_id, partition.number

    @cached_property
    def ids_of_name(self) -> Counter[str]:
        return Counter(self.truth.names.values())

    def holdings(self, life: Life) -> Holdings:
        """Who held what in a life; made once."""
        found = self._holdings.get(id(life))
        if found is None:
            found = self._holdings[id(life)] = Holdings(life)
        return found

    def made_once(self, make: Callable[[History, Life], Made], life: Life) -> Made:
        """What is made of a life, and asked for again and again."""
        key = make, id(life)
        if key not in self._made:
            self._made[key] = make(self, life)
        return cast("Made", self._made[key])

    def made_of_all(self, make: Callable[[History], Made]) -> Made:
        """What is made of all of it, and asked for again and again."""
        if (make, 0) not in self._made:
            self._made[make, 0] = make(self)
        return cast("Made", self._made[make, 0])

    def begins_by_conversion(self, life: Life) -> bool:
        """Whether an offline conversion began a life, and the log says so."""
        before = self._before(life)
        return before is not None and is_conversion(before, life.operations[0])

    def was_streams(self, life: Life) -> bool:
        """Whether a life was a streams group: what was committed before is of that one."""
        return self._streams_before(life) is not None

    def _streams_before(self, life: Life) -> Operation | None:
        """The last operation of the streams group that a life was; None of any other life."""
        operations = self.truth.operations[life.group_id]
        place = next(place for place, each in enumerate(operations) if each is life.operations[0])
        before = operations[place - 1] if place else None
        return before if before is not None and before.protocol == STREAMS else None

    def last_commit(self, life: Life, partition: Partition, offset: int) -> Commit | None:
        """The last commit of a partition below an offset; None without one in a life that was a
        streams group before (streams.md, Conversions)."""
        key = CommitKey(life.group_id, *named(partition))
        since = life.operations[0].first_offset if self.was_streams(life) else -1
        return self.truth.last_commit_before(key, offset, since)

    def begins_unwritten(self, life: Life) -> bool:
        """Whether a life began because the coordinator had forgotten the group."""
        before = self._before(life) or self._streams_before(life)
        return before is not None and is_unwritten(before, life.operations[0])

    def chain(self, life: Life) -> list[Life]:
        """The lives that went over into this one by offline conversions, and this one, in order."""
        found = [life]
        while not self.begins_unwritten(found[0]):
            ended = [each for each in self.lives if each.converted_by is found[0].operations[0]]
            if not ended:
                break
            found.insert(0, ended[0])
        return found

    def judged(self, life: Life, wanted: Wanted) -> Wanted:
        """A row of a life that hangs on its birth: left out where the log need not show that.

        A group that only commits lives on in the coordinator's memory when its offsets are deleted,
        and its first consumer takes away a K2 that was never written. So does that of a group
        that is older than the log (measures.md, history_complete).
        """
        first = life.operations[0]
        if first.protocol != CONSUMER or not first.has("K2 gone") or self._before(life) is not None:
            return wanted
        operations = self.truth.operations[life.group_id]
        place = next(place for place, each in enumerate(operations) if each is first)
        since = operations[place - 1].last_offset if place else -1
        if not self.truth.has_tombstone(life.group_id, since, first.first_offset):
            return wanted
        return replace(wanted, left_out=OFFSETS_DELETED)

    def _before(self, life: Life) -> Operation | None:
        """The last operation of the life that went over into this one; None of any other life."""
        ended = (each for each in self.lives if each.converted_by is life.operations[0])
        return next((each.operations[-1] for each in ended), None)

    def first_commit(self, life: Life, span: Span, granted: int) -> int | None:
        """When the holder of a span committed the partition for the first time after an operation
        of the life; None where it did not."""
        key = CommitKey(life.group_id, *named(span.partition))
        after = life.operations[granted].last_offset
        before = None if span.closed is None else life.operations[span.closed].first_offset
        return self.truth.commit_after(key, after, before)

    def is_final(self, is_over: bool, ended_at: int) -> Any:
        """Whether no later record can change a row of decisions. is_over: nothing goes on. Else it
        is final when it was read an hour past its end; by the group's records alone, when they go
        on so long."""
        if is_over:
            return True
        return OneOf((True, False)) if self.truth.as_of_ms - ended_at > SETTLED_MS else False

    def incarnation(self, life: Life) -> Between:
        """A life is named by its first record. Commits of a group that only commits begin the life
        that follows."""
        first = life.operations[0]
        operations = self.truth.operations[life.group_id]
        place = next(place for place, each in enumerate(operations) if each is first)
        since = operations[place - 1].last_offset if place else -1
        offsets: list[int] = []
        if self._before(life) is None and not self.was_streams(life):
            offsets = self.truth.commit_offsets.get(life.group_id, [])
        before = bisect_right(offsets, since)
        if before < len(offsets) and offsets[before] < first.first_offset:
            # Where these offsets were deleted again, their life may have ended with them.
            is_deleted = self.truth.has_tombstone(life.group_id, since, first.first_offset)
            return Between(offsets[before], first.last_offset if is_deleted else offsets[before])
        return Between(first.first_offset, first.last_offset)

    def is_converted(self, group_id: str, since: int, until: int | None) -> bool:
        """Whether a group went over to another protocol between two offsets, None: to the end."""
        return any(
            since <= each.last_offset and (until is None or each.first_offset <= until)
            for each in self._conversions.get(group_id, ())
        )

    @cached_property
    def _conversions(self) -> dict[str, list[Operation]]:
        return {
            group_id: [later for before, later in pairwise(each) if is_conversion(before, later)]
            for group_id, each in self.truth.operations.items()
        }

    @cached_property
    def led(self) -> dict[tuple[str, int, int], list[Injected]]:
        """Elections and resignations of each broker in each partition of the offsets topic:
        (`elect` or `resign`, partition, broker) -> in the order of the broker's clock."""
        found: dict[tuple[str, int, int], list[Injected]] = defaultdict(list)
        for event in self.truth.injected:
            if event.what in ("elect", "resign"):
                found[event.what, event.offsets_partition, event.broker].append(event)
        for events in found.values():
            events.sort(key=lambda event: event.broker_at)
        return found

    @cached_property
    def loads(self) -> dict[tuple[int, int], Injected]:
        """Which broker had read a partition of the offsets topic when: (partition, leader epoch) ->
        it."""
        return {
            (int(partition), int(leader_epoch)): event
            for event in self.truth.injected
            if event.what == "loaded"
            for partition, leader_epoch in [event.detail.split()]
        }

    def has_other_leader(self, since: Operation, until: Operation | None) -> bool:
        """Whether the partition got another leader between two operations, None: to the end."""
        last = self.truth.ended_at if until is None else until.true_at
        return self.is_elected_between(since.offsets_partition, since.true_at, last)

    def is_elected_between(self, offsets_partition: int, since: int, until: int) -> bool:
        """Whether a partition got another leader between two true times."""
        elected = self.truth.elected.get(offsets_partition, ())
        return any(since <= at <= until for at in elected)

    def lasted_ms(self, since: Operation, until: Operation | None) -> int:
        """How long a stretch lasted by the times of its records, None: to as-of."""
        return (self.truth.as_of_ms if until is None else until.at) - since.at


@dataclass(frozen=True, slots=True)
class Check:
    """The check of one table: which rows must be, and what tells its rows apart.

    excuse: why a row that must not be is not judged, "" where it is. gathered: a table's rows as
    the check takes them.
    """

    table: str
    wanted: Callable[[History], Mapping[Key, Wanted]]
    key_of: Callable[[History, Row], Key]
    excuse: Callable[[History, Row], str] = lambda history, row: ""
    gathered: Callable[[History, Sequence[Row]], Sequence[Row]] = lambda history, rows: rows
