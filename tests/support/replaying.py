"""Running machines: whole logs, logs cut anywhere, and what of their facts must be equal."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.facts import FACTS, Fact, GroupSnapshot
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.operations import Operation, OperationReader

FactKey = tuple[str, str]

_values: dict[type[Fact], Callable[[Fact], tuple[object, ...]]] = {}
"""What gives the values of the fields that `fact_keys` compares: tests ask it of a million facts."""


def replayed(
    entries: Sequence[Entry],
    names: Mapping[str, str],
    cuts: Iterable[int] = (),
    group_id: str = "g",
    offsets_partition: int = 0,
) -> list[Fact]:
    """Every fact of a log, the open ones last. At each cut the machine goes to bytes and back, as
    from one night to the next.
    """
    facts: list[Fact] = []
    machine = GroupReplay(group_id, offsets_partition, names)
    begin = 0
    for end in (*sorted(set(cuts)), len(entries)):
        for entry in entries[begin:end]:
            machine.replay(entry)
        machine.flush()
        facts += machine.take_facts()
        if end < len(entries):
            machine = carried(machine, group_id, offsets_partition, names)
        begin = end
    return facts + machine.open_facts()


def carried(
    machine: GroupReplay, group_id: str, offsets_partition: int, names: Mapping[str, str]
) -> GroupReplay:
    """The machine as the next night has it."""
    state = machine.state()
    if state is None:
        return GroupReplay(group_id, offsets_partition, names)
    return GroupReplay.restore(group_id, offsets_partition, names, state)


def boundaries(entries: Sequence[Entry]) -> list[int]:
    """Indexes at which an operation, or a commit, begins; not the first one. A log is cut at these
    alone: an operation is atomic.
    """
    index_of = {entry.offset: index for index, entry in enumerate(entries)}
    found = {index for index, entry in enumerate(entries) if isinstance(entry.record, OffsetCommit)}
    found |= {index_of[operation.offset] for operation in operations_of(entries)}
    return sorted(found - {0})


def operations_of(entries: Iterable[Entry]) -> list[Operation]:
    """The operations of one group's records, as the replay tells them apart."""
    reader = OperationReader()
    found: list[Operation] = []
    for entry in entries:
        found += reader.flush() if isinstance(entry.record, OffsetCommit) else reader.feed(entry)
    return found + reader.flush()


def fact_keys(facts: Iterable[Fact]) -> Counter[FactKey]:
    """Facts as things that can be compared as bags: the values of their fields, in order. is_final
    is left out, for it says when a row was told, not what it tells.
    """
    found: Counter[FactKey] = Counter()
    for fact in facts:
        kind = type(fact)
        if kind not in _values:
            _values[kind] = attrgetter(*_names_of(kind))
        found[fact.KIND, repr(_values[kind](fact))] += 1
    return found


def _names_of(kind: type[Fact]) -> list[str]:
    return [field.name for field in dataclasses.fields(kind) if field.name != "is_final"]


def difference(wanted: Counter[FactKey], got: Counter[FactKey]) -> str:
    """A few of the facts that one side lacks, to be read; "" where both are equal."""
    lost, more = sorted((wanted - got).elements())[:3], sorted((got - wanted).elements())[:3]
    fields = {kind.KIND: _names_of(kind) for kind in FACTS}
    kinds = sorted({kind for kind, _ in lost + more} & fields.keys())
    lines = [f"{kind}: {', '.join(fields[kind])}" for kind in kinds]
    lines += [f"- {kind} {text}" for kind, text in lost]
    lines += [f"+ {kind} {text}" for kind, text in more]
    return "\n".join(lines)


def snapshot_of(facts: Iterable[Fact]) -> GroupSnapshot | None:
    """The group as it stood at the end; None where it is gone."""
    return next((fact for fact in facts if isinstance(fact, GroupSnapshot)), None)


def reduced(entries: Sequence[Entry], edges: frozenset[int] = frozenset()) -> list[Entry]:
    """The exact reduction of commits (docs/measures.md, Commits): the first and the last of a partition
    between two other records are kept, and so are those on both sides of a change of the leader.

    edges: indexes at which a file or a night ends besides; what stands at an edge is kept too.
    """
    kept: set[int] = set()
    stretch: dict[tuple[str, int], list[int]] = {}

    def end_stretch() -> None:
        for indexes in stretch.values():
            kept.update((indexes[0], indexes[-1]))
        stretch.clear()

    for index, entry in enumerate(entries):
        if index in edges or (index and entry.leader_epoch != entries[index - 1].leader_epoch):
            end_stretch()
        record = entry.record
        if isinstance(record, OffsetCommit) and record.value is not None:
            stretch.setdefault((record.topic, record.partition), []).append(index)
        else:
            end_stretch()
            kept.add(index)
    end_stretch()
    return [entries[index] for index in sorted(kept)]
