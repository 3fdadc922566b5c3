"""What a night reads: files and where the nights before stopped -> units.

A partition is read in units that tasks share, one a segment of its busiest replica; every replica's
files that overlap a unit go with it, because replicas of one log are merged while they are read.
Nothing below the offset where the last night stopped is landed again, and segments wholly below it
are not opened. Pure: the same files and watermarks give the same units, in any order of the files.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from itertools import pairwise
from typing import Final, TypeVar

from groupreplay.sources.log_files import LogFile
from groupreplay.sources.watermark import PartitionWatermark
from groupreplay.wire.segments.units import NO_BOUND, SEGMENTS, Unit, UnitFile

TASK_BYTES: Final = 64 << 20
"""Small units share a task: a task and its output files cost more than reading this takes to
begin.
"""

GZIP_WEIGHT: Final = 8
"""How much longer a .gz takes than its size says."""

T = TypeVar("T")


def plan_units(
    files: Iterable[LogFile], watermarks: Mapping[int, PartitionWatermark]
) -> list[Unit]:
    """Units of one night, by partition and offset. A partition whose files are those that were read
    to their end before has none.
    """
    partitions: dict[int, list[LogFile]] = defaultdict(list)
    for file in files:
        partitions[file.offsets_partition].append(file)
    return [
        unit
        for partition in sorted(partitions)
        for unit in _plan_partition(partition, partitions[partition], watermarks.get(partition))
    ]


def fingerprint(unit: Unit) -> str:
    """Changes when a file of the unit is added, removed, or grows."""
    names = sorted(f"{file.path}\0{file.size}" for file in unit.files)
    return hashlib.sha256("\n".join(names).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def pack(units: Sequence[T], cores: int, weight: Callable[[T], int]) -> list[list[T]]:
    """Units for each task, the most work first: as many tasks as cores, more if there is much to
    read, never more than units.

    weight: bytes to read, those of a .gz counted for more.
    """
    weights = {index: weight(unit) for index, unit in enumerate(units)}
    tasks = min(len(units), max(cores, -(-sum(weights.values()) // TASK_BYTES)))
    loads = [(0, task) for task in range(tasks)]
    packed: list[list[int]] = [[] for _ in range(tasks)]
    for index in sorted(weights, key=lambda index: (-weights[index], index)):
        load, task = heappop(loads)
        packed[task].append(index)
        heappush(loads, (load + weights[index], task))
    heaviest_first = [task for _, task in sorted(loads, key=lambda load: (-load[0], load[1]))]
    return [[units[index] for index in sorted(packed[task])] for task in heaviest_first]


def unit_weight(unit: Unit) -> int:
    """For `pack`."""
    return sum(
        file.size * GZIP_WEIGHT if file.path.endswith(".gz") else file.size for file in unit.files
    )


def _plan_partition(
    partition: int, files: list[LogFile], watermark: PartitionWatermark | None
) -> list[Unit]:
    source = "+".join(sorted({file.kind for file in files}))
    start = watermark.next_position if watermark else NO_BOUND
    replicas = _replicas([file for file in files if file.kind == SEGMENTS])
    whole_logs = sorted(
        (file for file in files if file.kind != SEGMENTS), key=lambda file: file.path
    )
    units = []
    for first, end in _stretches(replicas, start, split=not whole_logs):
        overlapping = [file for replica in replicas for file in _overlapping(replica, first, end)]
        chosen = tuple(
            UnitFile(file.kind, file.path, file.size, file.replica)
            for file in [*overlapping, *whole_logs]
        )
        units.append(Unit(partition, first, end, chosen, source, f"__consumer_offsets-{partition}"))
    if watermark and len(units) == 1 and fingerprint(units[0]) == watermark.files:
        units = []
    if watermark and watermark.missing:
        units = [
            *_late_unit(
                partition, replicas, watermark, {file.path for unit in units for file in unit.files}
            ),
            *units,
        ]
    return units


def key_of(path: str) -> str:
    """Stands for a file where many are remembered."""
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def seen_after(
    files: Iterable[LogFile], watermark: PartitionWatermark, read: Iterable[UnitFile]
) -> dict[str, int]:
    """`PartitionWatermark.seen` after a night: segments that are there, were read by then, and may
    hold some of what is missing.

    files: all files of one partition.
    watermark: its watermark after the night, but for `seen`.
    read: files of the units that the night read.
    """
    if not watermark.missing:
        return {}
    sizes = {
        **watermark.seen,
        **{key_of(file.path): file.size for file in read if file.kind == SEGMENTS},
    }
    there = {
        key_of(file.path)
        for file in _holding(
            _replicas([file for file in files if file.kind == SEGMENTS]), watermark.missing
        )
    }
    return {key: size for key, size in sizes.items() if key in there}


def _late_unit(
    partition: int,
    replicas: list[list[LogFile]],
    watermark: PartitionWatermark,
    read_anyway: set[str],
) -> list[Unit]:
    """A unit of the segments that may hold the missing offsets: those that are new, or have grown
    since they were searched.

    read_anyway: paths of segments that brokers still write to. They grow above the missing offsets,
        so they are not searched again.
    """
    chosen = [
        file
        for file in _holding(replicas, watermark.missing)
        if (size := watermark.seen.get(key_of(file.path))) is None
        or (file.size > size and file.path not in read_anyway)
    ]
    if not chosen:
        return []
    files = tuple(UnitFile(file.kind, file.path, file.size, file.replica) for file in chosen)
    first, end = watermark.missing[0][0], watermark.missing[-1][1]
    return [
        Unit(
            partition,
            first,
            end,
            files,
            SEGMENTS,
            f"__consumer_offsets-{partition}",
            watermark.missing,
        )
    ]


def _holding(replicas: list[list[LogFile]], holes: Sequence[tuple[int, int]]) -> list[LogFile]:
    """Segments that may hold offsets of the holes."""
    found = {
        file.path: file
        for replica in replicas
        for first, end in holes
        for file in _overlapping(replica, first, end)
    }
    return list(found.values())


def _replicas(segments: list[LogFile]) -> list[list[LogFile]]:
    """The segments of each replica, by base offset. A second file of the same base (.log and
    .log.gz) becomes a replica of its own.
    """
    replicas: dict[str, dict[int, LogFile]] = defaultdict(dict)
    for file in sorted(segments, key=lambda file: file.path):
        if file.base_offset in replicas[file.replica]:
            file = replace(file, replica=file.path)
        replicas[file.replica][file.base_offset] = file
    return [[replica[base] for base in sorted(replica)] for _, replica in sorted(replicas.items())]


def _stretches(replicas: list[list[LogFile]], start: int, *, split: bool) -> list[tuple[int, int]]:
    """Ranges [first, end) that cover everything from `start` on, cut where segments of the replica
    with the most of them begin.
    """
    if not split or not replicas:
        return [(start, NO_BOUND)]
    busiest = max(replicas, key=lambda replica: (len(replica), sum(file.size for file in replica)))
    cuts = [file.base_offset for file in busiest[1:] if file.base_offset > start]
    return [*pairwise([start, *cuts]), (cuts[-1] if cuts else start, NO_BOUND)]


def _overlapping(replica: list[LogFile], first: int, end: int) -> list[LogFile]:
    """Segments of one replica that may hold offsets of [first, end); one reaches to where the next
    begins.
    """
    bounds = [file.base_offset for file in replica[1:]]
    return [
        file
        for file, next_base in zip(replica, [*bounds, None], strict=True)
        if (end == NO_BOUND or file.base_offset < end) and (next_base is None or next_base > first)
    ]
