"""How a night scales on a cluster: the same log on a standalone cluster of this machine, by executors
of 1, 2 and 4 cores.

    make bench CLUSTER=1
    python -m tests.bench.cluster --case skew --records 1000000

Each run is a process of its own, into a fresh warehouse. Of every step its seconds and how many
times as fast it is; below that the seconds in which no task ran, so that the driver was alone, and
those in which a single one did: neither gets shorter by more cores. With more cores than the
machine has, the last column only shows the shape of what is to be had.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.generate import DEFAULT_SIZE
from tests.bench.processes import JVM, WORKER
from tests.bench.run import CACHE, HOME, QUICK_GROUPS, Measured, run_case, task_ends
from tests.support.standalone_cluster import standalone_cluster

CORES = (1, 2, 4)
QUICK_RECORDS = 100_000
SCALES = 0.75
"""A step scales that uses so much of each core that is added."""

_EXECUTOR = {
    "spark.executor.memory": "2g",
    # All runs have the same partitions, so that nothing but the cores differs.
    "spark.sql.shuffle.partitions": "8",
}


@dataclass(slots=True, frozen=True)
class Run:
    """One run. alone, single: seconds in which no task ran, and in which one did."""

    cores: int
    measured: Measured
    alone: float
    single: float
    task_seconds: float


def concurrency(tasks: Sequence[tuple[float, float]]) -> dict[int, float]:
    """Number of tasks -> seconds in which so many ran, from the first to the end of the last.

    tasks: when each began and ended, in seconds.
    """
    changes = sorted([*((began, 1) for began, _ in tasks), *((ended, -1) for _, ended in tasks)])
    found: dict[int, float] = {}
    running, since = 0, changes[0][0] if changes else 0.0
    for at, change in changes:
        found[running] = found.get(running, 0.0) + at - since
        running, since = running + change, at
    return found


def measured_on(master: str, cores: int, case: str, size: int, groups: int) -> Run:
    """One run with so many cores of the cluster."""
    settings = _EXECUTOR | {
        "spark.master": master,
        "spark.cores.max": str(cores),
        "spark.executor.cores": str(cores),
        # The executor is on this machine, so it may look where the driver does.
        "spark.executorEnv.GROUPREPLAY_COMPILED": str(HOME / ".cache/compiled"),
    }
    measured = run_case(case, size, groups, settings, os.getpid())
    tasks = [
        (event["Task Info"]["Launch Time"] / 1000, event["Task Info"]["Finish Time"] / 1000)
        for event in task_ends(CACHE / "run" / "events")
    ]
    ran = concurrency(tasks)
    busy = sum(seconds for number, seconds in ran.items() if number)
    total = sum(ended - began for began, ended in tasks)
    return Run(cores, measured, measured.seconds - busy, ran.get(1, 0.0), total)


def table(runs: Sequence[Run]) -> list[str]:
    """Rows of docs/scale.md: seconds by step, and speed-up against the first run."""
    more = runs[1:]
    speed_ups = [f"{run.cores} against {runs[0].cores}" for run in more]
    head = ["step", *(f"{run.cores} {_cores(run.cores)}, s" for run in runs), *speed_ups]
    lines = [_row(head), _row(["---"] * len(head))]
    for step in [*runs[0].measured.steps, "the whole job"]:
        seconds = [_seconds(run, step) for run in runs]
        faster = [f"{seconds[0] / each:.2f}" if each else "" for each in seconds[1:]]
        lines.append(_row([step, *(f"{each:.1f}" for each in seconds), *faster]))
    others = {
        "no task ran": [run.alone for run in runs],
        "a single task ran": [run.single for run in runs],
        "tasks, together": [run.task_seconds for run in runs],
        "CPU time of JVMs": [run.measured.usage.cpu_seconds.get(JVM, 0) for run in runs],
        "CPU time of Python workers": [
            run.measured.usage.cpu_seconds.get(WORKER, 0) for run in runs
        ],
    }
    blank = [""] * len(more)
    lines += [_row([name, *(f"{each:.1f}" for each in of), *blank]) for name, of in others.items()]
    return lines


def what_does_not_scale(runs: Sequence[Run]) -> list[str]:
    """Steps that use less than SCALES of the cores that the second run has more than the first, the
    longest first. Steps of less than a second are left out.
    """
    first, second = runs[0], runs[1]
    ideal = second.cores / first.cores
    found = []
    for step, ms in sorted(second.measured.steps.items(), key=lambda each: -each[1]):
        faster = _seconds(first, step) / max(ms / 1000, 0.001)
        if ms >= 1000 and (faster - 1) / (ideal - 1) < SCALES:
            found.append(f"{step} ({faster:.2f} times as fast on {ideal:.0f} times the cores)")
    return found


def _seconds(run: Run, step: str) -> float:
    if step == "the whole job":
        return run.measured.seconds
    return run.measured.steps.get(step, 0) / 1000


def _cores(number: int) -> str:
    return "core" if number == 1 else "cores"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def bench(cases: Sequence[str], records: int, groups: int, cores: Sequence[int]) -> None:
    place = CACHE / "cluster"
    for case in cases:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        size = records or DEFAULT_SIZE[case]
        with standalone_cluster(place, max(cores), "3g") as master:
            runs = []
            for each in cores:
                runs.append(measured_on(master, each, case, size, groups))
                print(
                    f"{case}, {each} {_cores(each)}: {runs[-1].measured.seconds:.0f} s", flush=True
                )
        there = os.cpu_count() or 1
        print(f"{case}, {runs[0].measured.records:,} records; this machine has {there} cores")
        print("\n".join(table(runs)))
        if len(runs) > 1:
            print(f"does not scale: {', '.join(what_does_not_scale(runs)) or 'nothing'}")
        if max(cores) > there:
            print(f"runs with more than {there} cores only show the shape", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", action="append", choices=sorted(DEFAULT_SIZE))
    parser.add_argument("--records", type=int, default=0, help="instead of the usual number")
    parser.add_argument("--groups", type=int, default=0, help="instead of the usual number")
    parser.add_argument("--cores", type=int, nargs="+", default=CORES)
    parser.add_argument("--quick", action="store_true", help="whether it works, not how fast it is")
    arguments = parser.parse_args()
    quick = (QUICK_RECORDS, QUICK_GROUPS) if arguments.quick else (0, 0)
    bench(
        arguments.case or ["churn"],
        arguments.records or quick[0],
        arguments.groups or quick[1],
        arguments.cores,
    )


if __name__ == "__main__":
    main()
