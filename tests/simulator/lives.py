"""The operations of each group, cut into its lives: the incarnations of docs/measures.md, Operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.simulator.truth import CLASSIC, CONSUMER, STREAMS, Operation, Truth


@dataclass(slots=True)
class Life:
    """One life of a group id. operations: in order; one that removed the group is the last of them.

    converted_by: the operation that turned the group, when it was empty, over to the other
    protocol: it begins the next life. None otherwise.
    """

    group_id: str
    operations: list[Operation]
    converted_by: Operation | None = None

    @property
    def offsets_partition(self) -> int:
        return self.operations[0].offsets_partition

    @property
    def is_removed(self) -> bool:
        return self.operations[-1].protocol is None

    def is_seen_to_begin(self, operation: Operation) -> bool:
        """Whether the log shows what an operation begins. A classic group whose first K2 is past
        generation 1 may have had others, which no log that began later would have (measures.md,
        history_complete). That of a static member's return repeats generation 1."""
        first = self.operations[0]
        if operation is not first or first.protocol == CONSUMER:
            return True
        has_static = any(each.instance_id is not None for each in first.members.values())
        return first.epoch < 1 or (first.epoch == 1 and not has_static)

    @property
    def end(self) -> Operation | None:
        """The operation that ended it, None while it lasts."""
        return self.operations[-1] if self.is_removed else self.converted_by

    def steps(self) -> Iterator[tuple[Operation | None, Operation]]:
        """(the operation before, the operation), in order."""
        before: Operation | None = None
        for operation in self.operations:
            yield before, operation
            before = operation


def lives_of(truth: Truth) -> list[Life]:
    """Every life of every group: a removal ends one, and so does a conversion of a group without
    members (offline). Those of streams groups are told in `streams/`."""
    return [
        life for group_id, each in truth.operations.items() for life in _group_lives(group_id, each)
    ]


def _group_lives(group_id: str, operations: Sequence[Operation]) -> list[Life]:
    lives: list[Life] = []
    current: Life | None = None
    for operation in operations:
        if operation.protocol == STREAMS:
            if current is not None:
                current.converted_by = operation
            current = None
            continue
        if operation.protocol is None:
            if current is not None:
                current.operations.append(operation)
            current = None
            continue
        if current is not None and is_offline(current.operations[-1], operation):
            current.converted_by = operation
            current = None
        if current is None:
            current = Life(group_id, [])
            lives.append(current)
        current.operations.append(operation)
    return lives


def is_offline(before: Operation, operation: Operation) -> bool:
    """Whether a group without members went over to the other protocol.

    Members that joined a classic group whose rebalance is not over are in no K2, nor in what is
    written down of it. An upgrade takes them over all the same, as those that it shows.
    """
    if before.protocol == operation.protocol or before.members:
        return False
    # One that was taken over may be replaced in the same operation.
    replaced = any(each.startswith("K5 ") and each.endswith(" gone") for each in operation.records)
    classic = any(member.is_classic for member in operation.members.values())
    return operation.protocol != CONSUMER or not (classic or replaced)


def is_conversion(before: Operation | None, operation: Operation) -> bool:
    """Whether the group went over to the other protocol between the two, and the log says so."""
    return _differ(before, operation) and not is_unwritten(before, operation)


def is_unwritten(before: Operation | None, operation: Operation) -> bool:
    """Whether the coordinator dropped the group from its memory, and wrote no tombstone of it.

    Brokers 4.0 to 4.3 do so where a classic member comes back to a consumer group that is empty
    (docs/rules.md, I18_ONE_KIND): what follows in the log begins another life.
    """
    gone = ("K3 gone", "K17 gone") if operation.protocol == CLASSIC else ("K2 gone",)
    is_told = any(operation.has(each) for each in gone)
    return _differ(before, operation) and bool(operation.records) and not is_told


def _differ(before: Operation | None, operation: Operation) -> bool:
    return (
        before is not None
        and before.protocol is not None
        and operation.protocol is not None
        and before.protocol != operation.protocol
    )


def given_to_several(operation: Operation) -> Mapping[tuple[str, int], Sequence[str]]:
    """(topic, partition) -> members, of what several members of a classic group of consumers have
    at once by its K2. Kafka Streams has rules of its own for that."""
    given: dict[tuple[str, int], list[str]] = defaultdict(list)
    if operation.protocol_type == "consumer" and operation.protocol_name != "stream":
        for member_id, member in sorted(operation.members.items()):
            for topic, number in {(each.topic, each.number) for each in member.assigned}:
                given[topic, number].append(member_id)
    return {each: holders for each, holders in given.items() if len(holders) > 1}
