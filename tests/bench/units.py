"""What one record costs, and what the day of a whole company would: the figures of docs/scale.md.

    python -m tests.bench.units                 two logs of churn and two of steady, 2 cores
    python -m tests.bench.units --churn 50000 300000 --steady 50000 1500000 --groups 500

A log of churn and one of steady differ in their share of commits. What each takes more than a
smaller log of its kind is so much for a commit and so much for any other record, a membership
record: two equations for each resource. Times are CPU seconds, so that neighbours count little. The
rest is arithmetic, and planning so many files, which is done.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groupreplay.night.earlier.plan_json import joined_json
from groupreplay.night.plans.plan import Plan
from groupreplay.sources.log_files import LogFile
from groupreplay.sources.planning import pack, plan_units, unit_weight
from groupreplay.wire.segments.units import SEGMENTS
from tests.bench.generate import PARTITIONS
from tests.bench.processes import JVM, WORKER
from tests.bench.run import CACHE, run_case, segments
from tests.bench.segments import SEGMENT_BYTES

MEMBERSHIP, COMMITS = 100_000_000, 100_000_000_000
"""A day of 50,000 groups with 500,000 members."""

RESOURCES: Mapping[str, tuple[str, float]] = {
    "log": ("bytes", 1),
    "CPU time of Python": ("us", 1e6),
    "CPU time of Java": ("us", 1e6),
    "shuffled": ("bytes", 1),
    "raw_records": ("bytes", 1),
    "other tables": ("bytes", 1),
}
"""What is counted -> the unit of a record's share, and how many of it make the measured one."""


@dataclass(slots=True, frozen=True)
class Used:
    """By one run, in the order of RESOURCES: seconds and bytes."""

    records: int
    commits: int
    used: tuple[float, ...]


def used_by(case: str, records: int, groups: int) -> Used:
    """Runs the job on such a log."""
    _, counts = segments(case, records, groups)
    run = run_case(case, records, groups)
    raw = sum(
        path.stat().st_size
        for path in (CACHE / "run/warehouse/raw_records").rglob("*")
        if path.is_file()
    )
    cpu = run.usage.cpu_seconds
    of_python, of_java = cpu.get(WORKER, 0.0), cpu.get(JVM, 0.0)
    rest = run.warehouse_bytes - raw
    used = (run.log_bytes, of_python, of_java, run.shuffled, raw, rest)
    return Used(counts["records"], counts["commits"], used)


def unit_costs(pairs: Sequence[tuple[Used, Used]]) -> list[tuple[float, float]]:
    """Of each resource: (for a commit, for another record), by the growth from the smaller to the
    larger log of each pair. None is less than nothing: what cannot be told apart counts as 0.

    Raises ValueError where both pairs have the same share of commits.
    """
    commits = [larger.commits - smaller.commits for smaller, larger in pairs]
    records = [larger.records - smaller.records for smaller, larger in pairs]
    grown = np.array(
        [[each, count - each] for each, count in zip(commits, records, strict=True)], float
    )
    shares = [each / count for each, count in zip(commits, records, strict=True)]
    if abs(shares[0] - shares[1]) < 0.05:
        raise ValueError(f"logs of {shares[0]:.0%} and {shares[1]:.0%} commits tell nothing apart")
    found = []
    for resource in range(len(RESOURCES)):
        more = [larger.used[resource] - smaller.used[resource] for smaller, larger in pairs]
        commit, other = np.linalg.solve(grown, np.array(more, float))
        found.append((max(float(commit), 0.0), max(float(other), 0.0)))
    return found


def table(costs: Sequence[tuple[float, float]]) -> list[str]:
    """Rows of docs/scale.md."""
    lines = [
        "| resource | a commit | a membership record | of 10^11 commits | of 10^8 membership records |",
        "| --- | --- | --- | --- | --- |",
    ]
    for (name, (unit, times)), (commit, other) in zip(RESOURCES.items(), costs, strict=True):
        each = f"| {commit * times:.3g} {unit} | {other * times:.3g} {unit} "
        day = f"| {_day(commit * COMMITS, unit)} | {_day(other * MEMBERSHIP, unit)} |"
        lines.append(f"| {name} {each}{day}")
    return lines


def _day(amount: float, unit: str) -> str:
    """Bytes, or seconds of CPU time."""
    if unit == "us":
        return f"{amount / 3600:,.1f} core hours"
    return f"{amount / 1e12:,.2f} TB" if amount >= 1e12 else f"{amount / 1e9:,.2f} GB"


def day_of_files(log_bytes: float) -> list[LogFile]:
    """The segments of one replica that hold so much."""
    each = int(log_bytes // SEGMENT_BYTES // PARTITIONS) or 1
    return [
        LogFile(
            SEGMENTS,
            f"s3://logs/kafka-1/__consumer_offsets-{partition}/{number * 1_000_000:020}.log",
            SEGMENT_BYTES,
            f"kafka-1/{partition}",
            partition,
            number * 1_000_000,
        )
        for partition in range(PARTITIONS)
        for number in range(each)
    ]


def planning(files: Sequence[LogFile]) -> str:
    """What the driver does before the first task begins."""
    began = time.process_time()
    units = plan_units(files, {})
    tasks = pack(units, 64, unit_weight)
    text = joined_json(Plan(tuple(units)))
    seconds = time.process_time() - began
    return (
        f"planning {len(files):,} segments: {seconds:.1f} s of CPU time, {len(units):,} units in"
        f" {len(tasks):,} tasks, {len(text) / 1e6:.0f} MB of runs.plan"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--churn", type=int, nargs=2, default=(500_000, 2_000_000))
    parser.add_argument("--steady", type=int, nargs=2, default=(2_000_000, 10_000_000))
    parser.add_argument("--groups", type=int, default=0, help="instead of the usual number")
    arguments = parser.parse_args()
    pairs = []
    for case, sizes in (("churn", arguments.churn), ("steady", arguments.steady)):
        smaller, larger = (used_by(case, size, arguments.groups) for size in sorted(sizes))
        pairs.append((smaller, larger))
        for each in (smaller, larger):
            print(f"{case}: {each.records:,} records, {each.commits:,} commits: {each.used}")
    costs = unit_costs(pairs)
    print("\n".join(table(costs)))
    print(planning(day_of_files(costs[0][0] * COMMITS)))
    shutil.rmtree(Path(CACHE / "run"), ignore_errors=True)


if __name__ == "__main__":
    main()
