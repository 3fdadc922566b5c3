"""Segments to measure with: recordings multiplied to thousands of groups, and single groups larger
than any recording.

    python -m tests.bench.generate churn 2000000 FOLDER

* churn: the stories as they are, about a fifth of the records membership.
* steady: 99 % commits, of many groups in one batch, as in production.
* small: groups of 20 records.
* skew: churn, and a third of all records in one group.
* zipf: churn of 50,000 groups whose sizes fall as their ranks rise, the k-th 1/k of the largest.
* one-group: one group of so many epochs.
* wide: one group of so many members.

Everything follows from the arguments: the same ones give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import google_crc32c
import numpy as np

from tests.bench.coordinator import Coordinator, KeyValue
from tests.bench.plans import Ints, Plan, Templates, mostly_commits, whole
from tests.bench.segments import Copy, SegmentWriter, write_partition
from tests.bench.stories import (
    DAY_MS,
    HEADER_BYTES,
    RECORDINGS_FOLDER,
    Story,
    encode_record,
    read_stories,
)

PARTITIONS = 50
"""offsets.topic.num.partitions."""
BEGAN_MS = 1_750_000_000_000
RECORDINGS = ("churn-4.3", "consumer-4.3", "migration-4.3")
SMALL_RECORDS = 20
SKEW_SHARE = 1 / 3
ZIPF_GROUPS = 50_000
ZIPF_LEAST = 10
"""Records of the smallest groups: with fewer a group hardly begins."""
MEMBERSHIP_SHARE = {"steady": 0.01, "small": 0.3}
DEFAULT_SIZE = {
    "churn": 2_000_000,
    "steady": 2_000_000,
    "small": 2_000_000,
    "skew": 2_000_000,
    "zipf": 2_000_000,
    "one-group": 250_000,
    "wide": 10_000,
}
"""Records of a log; epochs of one group, or members of one group."""
DEFAULT_GROUPS = 5_000
WAVES = 100

Operation = tuple[int, list[KeyValue]]


def partition_of(group_id: str, partitions: int = PARTITIONS) -> int:
    """Where Kafka keeps a group: abs(String.hashCode) % partitions
    (GroupCoordinatorService.partitionFor, Utils.abs).
    """
    units = group_id.encode("utf-16-be")
    number = 0
    for (unit,) in struct.iter_unpack(">H", units):
        number = (31 * number + unit) & 0xFFFFFFFF
    signed = number - (1 << 32) if number >= 1 << 31 else number
    return (0 if signed == -(1 << 31) else abs(signed)) % partitions


def groups_of(case: str) -> int:
    """How many groups a log of a case has where nobody says so."""
    return ZIPF_GROUPS if case == "zipf" else DEFAULT_GROUPS


def generate(case: str, size: int, folder: Path, groups: int = 0) -> dict[str, int]:
    """Writes a case's segments below `folder`; returns its counts.

    size: records, epochs or members, as the case has it.
    groups: 0: as many as the case usually has.
    """
    groups = groups or groups_of(case)
    if case in ("one-group", "wide"):
        operations = one_group(size) if case == "one-group" else wide_group(size)
        return _write_operations(folder, f"bench-{case}", operations)
    if case == "small":
        groups = max(size // SMALL_RECORDS, 1)
    if case in ("skew", "zipf"):
        sizes = skewed(size, groups) if case == "skew" else zipf(size, groups)
        return _write_copies(folder, groups, _Sized(sizes))
    return _write_copies(folder, groups, _Alike(case, size // groups))


# ---------------------------------------------------------------- copies of stories


class _Alike:
    """Every copy of a story is the same."""

    def __init__(self, case: str, records: int) -> None:
        self._stories, self._plans, self.templates = _plans(case, records)

    def __getitem__(self, number: int) -> tuple[Story, Plan]:
        index = number % len(self._stories)
        return self._stories[index], self._plans[index]


class _Sized:
    """Each group has a size of its own: its story as it is, life after life."""

    def __init__(self, sizes: Ints) -> None:
        self._stories = _stories()
        self.templates = Templates(self._stories)
        self._sizes = sizes
        self._known: dict[tuple[int, int], Plan] = {}

    def __getitem__(self, number: int) -> tuple[Story, Plan]:
        index = number % len(self._stories)
        key = (index, int(self._sizes[number]))
        if key not in self._known:
            first = int(self.templates.first[index])
            self._known[key] = whole(self._stories[index], first, key[1])
        return self._stories[index], self._known[key]


def skewed(records: int, groups: int) -> Ints:
    """One group with a third of all records, and others that share the rest."""
    sizes = np.full(groups, max(int(records * (1 - SKEW_SHARE)) // max(groups - 1, 1), 1), np.int64)
    sizes[0] = int(records * SKEW_SHARE)
    return sizes


def zipf(records: int, groups: int) -> Ints:
    """Sizes by rank: the k-th has 1/k of the largest, and none fewer than ZIPF_LEAST. Raises
    ValueError where there are too few records for that.
    """
    if records < 2 * ZIPF_LEAST * groups:
        raise ValueError(f"{groups:,} groups of a Zipf need {2 * ZIPF_LEAST * groups:,} records")
    ranks = np.arange(1, groups + 1)
    low, high = 0.0, float(records)
    while high - low > 1:
        middle = (low + high) / 2
        total = np.maximum(middle / ranks, ZIPF_LEAST).sum()
        low, high = (middle, high) if total < records else (low, middle)
    return np.maximum(low / ranks, ZIPF_LEAST).astype(np.int64)


def _write_copies(folder: Path, groups: int, told: _Alike | _Sized) -> dict[str, int]:
    random = np.random.default_rng(groups)
    copies: list[list[Copy]] = [[] for _ in range(PARTITIONS)]
    for number in range(groups):
        story, plan = told[number]
        began_ms = BEGAN_MS + int(random.integers(0, max(DAY_MS - int(plan.unit_at[-1]), 1)))
        copies[partition_of(story.group_id(number))].append(Copy(plan, began_ms, number))
    counts = {"records": 0, "commits": 0, "groups": groups, "batches": 0}
    for partition, members in enumerate(copies):
        if members:
            counts["batches"] += write_partition(folder, partition, members, told.templates, random)
            counts["records"] += sum(copy.plan.records for copy in members)
            counts["commits"] += sum(copy.plan.commits for copy in members)
    return counts


def _stories() -> list[Story]:
    return [story for name in RECORDINGS for story in read_stories(RECORDINGS_FOLDER / name)]


def _plans(case: str, records: int) -> tuple[list[Story], list[Plan], Templates]:
    stories = _stories()
    templates = Templates(stories)
    plans: list[Plan | None]
    if case == "churn":
        plans = [
            whole(story, int(first), records)
            for story, first in zip(stories, templates.first, strict=False)
        ]
    else:
        others = int(records * MEMBERSHIP_SHARE[case])
        plans = [
            mostly_commits(story, int(first), records, others, case == "steady")
            for story, first in zip(stories, templates.first, strict=False)
        ]
    told = [(story, plan) for story, plan in zip(stories, plans, strict=True) if plan is not None]
    return [story for story, _ in told], [plan for _, plan in told], templates


# ---------------------------------------------------------------- groups larger than any recording


def one_group(epochs: int) -> Iterator[Operation]:
    """Three members stay; a fourth comes and goes, two epochs each time."""
    group = Coordinator("bench-one-group", 8)
    at_ms, every_ms = BEGAN_MS, max(DAY_MS // epochs, 10)
    for number in range(3):
        yield at_ms, group.join(f"stays-{number}")
        yield from _beat(group, at_ms)
    while group.epoch < epochs:
        at_ms += 2 * every_ms
        visitor = f"visits-{group.epoch:09}"
        yield at_ms, group.join(visitor)
        yield from _beat(group, at_ms)
        yield at_ms + every_ms, group.commit(group.epoch % 8, group.epoch, at_ms)
        yield at_ms + every_ms, group.leave(visitor)
        yield at_ms + every_ms, group.retarget("stays-0")
        yield from _beat(group, at_ms + every_ms)


def wide_group(members: int) -> Iterator[Operation]:
    """Members join in a hundred waves, each with its own epoch and target, and all react after each
    wave; then five times one in a hundred leaves.
    """
    group = Coordinator("bench-wide", 2 * members)
    at_ms = BEGAN_MS
    wave = max(members // WAVES, 1)
    while len(group.members) < members:
        for _ in range(wave):
            yield at_ms, group.join(f"member-{len(group.members):06}")
            at_ms += 5
        yield from _beat(group, at_ms)
        at_ms += 5_000
    for turn in range(5):
        for number in range(wave):
            yield at_ms, group.leave(f"member-{turn + number * 50:06}")
            at_ms += 5
        yield at_ms, group.retarget(f"member-{members - 1:06}")
        yield from _beat(group, at_ms)
        at_ms += 5_000
    for turn in range(5):
        for partition in range(2 * members):
            yield at_ms + turn * 5_000, group.commit(partition, turn, at_ms)


def _beat(group: Coordinator, at_ms: int) -> Iterator[Operation]:
    """Heartbeats until every member has what its target says."""
    waiting = list(group.members)
    for _ in range(4):
        behind = []
        for member_id in waiting:
            if records := group.heartbeat(member_id):
                yield at_ms, records
                behind.append(member_id)
        waiting = behind


def _write_operations(
    folder: Path, group_id: str, operations: Iterator[Operation]
) -> dict[str, int]:
    """Every operation is a batch of its own."""
    writer = SegmentWriter(folder, partition_of(group_id))
    counts = {"records": 0, "commits": 0, "groups": 1, "batches": 0}
    data, starts, offsets = bytearray(), list[int](), list[int]()
    for at_ms, records in operations:
        starts.append(len(data))
        offsets.append(counts["records"])
        data += _batch(counts["records"], at_ms, records)
        counts["records"] += len(records)
        counts["batches"] += 1
        counts["commits"] += records[0][0][1] <= 1
        if len(data) > 8 << 20:
            writer.write(memoryview(bytes(data)), starts, offsets)
            data, starts, offsets = bytearray(), [], []
    if data:
        writer.write(memoryview(bytes(data)), starts, offsets)
    writer.close()
    return counts


def _batch(base_offset: int, at_ms: int, records: list[KeyValue]) -> bytes:
    count = len(records)
    body = b"".join(
        encode_record(0, number, key, value)[0] for number, (key, value) in enumerate(records)
    )
    covered = struct.pack(">hiqqqhii", 0, count - 1, at_ms, at_ms, -1, -1, -1, count) + body
    return (
        struct.pack(
            ">qiibI", base_offset, HEADER_BYTES - 12 + len(body), 0, 2, google_crc32c.value(covered)
        )
        + covered
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", choices=sorted(DEFAULT_SIZE))
    parser.add_argument("size", type=int, help="records; epochs (one-group); members (wide)")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--groups", type=int, default=0, help="instead of the usual number")
    arguments = parser.parse_args()
    began = time.monotonic()
    counts = generate(arguments.case, arguments.size, arguments.folder, arguments.groups)
    seconds = time.monotonic() - began
    print(
        json.dumps(
            {
                **counts,
                "seconds": round(seconds, 1),
                "records_per_second": int(counts["records"] / seconds),
            }
        )
    )


if __name__ == "__main__":
    main()
