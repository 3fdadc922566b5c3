"""The whole job on generated logs: records/s, fixed and marginal cost, time of each step, memory,
bytes shuffled.

    make bench                                              every case
    make bench PEER=1                                       and Kafka's own dump tool beside it
    .venv/bin/python -m tests.bench.run --case churn --quick

Every figure is of one run in a process of its own, from a fresh warehouse; logs of millions of
records run with Java's second compiler (LARGE). Fixed cost is that of a tiny log less the start of
a session; marginal cost is what the larger log of a case takes above the smaller one, by record.
Figures, not verdicts: nothing here fails for being slow.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from deltalake import DeltaTable

from tests.bench.generate import generate, groups_of
from tests.bench.peer import dump_seconds, kafka_jars
from tests.bench.processes import JVM, WORKER, Sampler, Usage

HOME = Path(__file__).resolve().parents[2]
CACHE = HOME / ".cache" / "bench"
CORES = 2
TINY = ("churn", 2_000, 5)
SIZES = {
    "churn": (2_000_000, 10_000_000),
    "steady": (2_000_000, 10_000_000),
    "small": (2_000_000,),
    "skew": (2_000_000,),
    "zipf": (2_000_000,),
    "one-group": (250_000,),
    "wide": (10_000,),
}
QUICK_SIZES = {
    "churn": (100_000, 300_000),
    "steady": (100_000, 300_000),
    "small": (100_000,),
    "skew": (100_000,),
    "zipf": (100_000,),
    "one-group": (5_000,),
    "wide": (500,),
}
QUICK_GROUPS = 250
LARGE = ("churn", "steady", "small", "skew", "zipf", "one-group")
"""Cases of millions of records: they run with Java's second compiler, as docs/cluster.md says of
large nights on one machine.
"""

SECOND_COMPILER = "-XX:TieredStopAtLevel=4"
_NOTHING = "from groupreplay.cli.session import start_session\nstart_session('bench').stop()\n"


@dataclass(slots=True)
class Measured:
    """One run.

    steps: ms of each, from the table `runs`.
    shuffled: bytes written for shuffles.
    spilled: to disk.
    """

    case: str
    records: int
    log_bytes: int
    seconds: float
    steps: dict[str, int]
    usage: Usage
    shuffled: int
    spilled: int
    warehouse_bytes: int
    rows: dict[str, int]


def segments(case: str, size: int, groups: int) -> tuple[Path, dict[str, int]]:
    """The folder of a generated log and its counts; made where it is not there yet.

    groups: 0: as many as the case usually has.
    """
    groups = groups or groups_of(case)
    folder = CACHE / "logs" / f"{case}-{size}-{groups}"
    manifest = folder / "counts.json"
    if not manifest.exists():
        shutil.rmtree(folder, ignore_errors=True)
        counts = generate(case, size, folder, groups)
        manifest.write_text(json.dumps(counts))
    return folder, json.loads(manifest.read_text())


def run_case(
    case: str,
    size: int,
    groups: int,
    settings: Mapping[str, str] | None = None,
    root: int | None = None,
) -> Measured:
    """Runs the job on one log from an empty warehouse. Raises CalledProcessError, with the job's
    last words printed, where it fails.

    settings: properties of Spark, over those of a run on two cores of this machine.
    root: the process below which all is counted; None: the job's own.
    """
    folder, counts = segments(case, size, groups)
    place = CACHE / "run"
    shutil.rmtree(place, ignore_errors=True)
    (place / "events").mkdir(parents=True)
    warehouse = place / "warehouse"
    config = place / "bench.yaml"
    config.write_text(
        f"cluster: bench\nwarehouse: {warehouse}\nsources:\n  - {{kind: segments, path:"
        f" {folder}}}\n"
    )
    command = [str(HOME / "spark-submit.sh"), "run_nightly", "--config", str(config)]
    is_large = case in LARGE and size > TINY[1]
    java = SECOND_COMPILER if is_large else ""
    seconds, usage = run_process(command, place, java, settings, root)
    shuffled, spilled = _shuffle(place / "events")
    run = _done(warehouse)
    log_bytes, written = (
        sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
        for root in (folder, warehouse)
    )
    rows = {name: count for name, count in run["counts"] if count}
    return Measured(
        case,
        counts["records"],
        log_bytes,
        seconds,
        dict(run["timings"]),
        usage,
        shuffled,
        spilled,
        written,
        rows,
    )


def session_seconds() -> float:
    """How long a session takes to start and stop, with nothing between."""
    place = CACHE / "nothing"
    shutil.rmtree(place, ignore_errors=True)
    (place / "events").mkdir(parents=True)
    script = place / "nothing.py"
    script.write_text(_NOTHING)
    jars = [str(path) for path in sorted((HOME / ".cache" / "jars").glob("*.jar"))]
    options = [
        "--properties-file",
        str(_properties(place, {})),
        "--jars",
        ",".join(jars),
        "--driver-class-path",
        ":".join(jars),
    ]
    # As spark-submit.sh starts a job: with the archive of classes, from which the session's are
    # loaded too.
    options += [
        "--driver-java-options",
        (
            f"-XX:SharedArchiveFile={HOME / '.cache' / 'classes.jsa'} -Xshare:auto -Xlog:cds=off"
            " -Xlog:cds+dynamic=off"
        ),
    ]
    return run_process(
        [str(HOME / ".venv" / "bin" / "spark-submit"), *options, str(script)], place
    )[0]


def run_process(
    command: Sequence[str],
    place: Path,
    java: str = "",
    settings: Mapping[str, str] | None = None,
    root: int | None = None,
) -> tuple[float, Usage]:
    """(seconds, what it used) of a command under the bench's settings.

    java: options of its JVM, which GROUPREPLAY_JAVA in the environment replaces. Raises
        CalledProcessError, with its last words printed, where it fails.
    """
    environment = os.environ | {
        "GROUPREPLAY_SPARK_CONF": str(_properties(place, settings or {})),
        "PATH": f"{HOME / '.venv' / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(HOME / "lib"),
        "GROUPREPLAY_JAVA": os.environ.get("GROUPREPLAY_JAVA", java),
    }
    began = time.monotonic()
    with open(place / "output.txt", "w") as output:
        process = subprocess.Popen(
            command, cwd=HOME, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        sampler = Sampler(root or process.pid)
        status = process.wait()
    seconds = time.monotonic() - began
    usage = sampler.stop()
    if status:
        print(
            "".join((place / "output.txt").read_text().splitlines(keepends=True)[-20:]),
            file=sys.stderr,
        )
        raise subprocess.CalledProcessError(status, command)
    return seconds, usage


def _properties(place: Path, settings: Mapping[str, str]) -> Path:
    """The local properties, on two cores, with an event log to read shuffled bytes from; and these
    settings.
    """
    extra = {
        "spark.master": f"local[{CORES}]",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (place / "events").as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        **settings,
    }
    kept = [
        line
        for line in (HOME / "conf" / "spark-local.conf").read_text().splitlines()
        if line.split(" ", 1)[0] not in extra
    ]
    path = place / "spark.conf"
    path.write_text("\n".join([*kept, *(f"{key} {value}" for key, value in extra.items())]) + "\n")
    return path


def _shuffle(events: Path) -> tuple[int, int]:
    """(bytes written for shuffles, bytes spilled to disk) by all tasks that ended well."""
    shuffled = spilled = 0
    for event in task_ends(events):
        metrics = event.get("Task Metrics") or {}
        shuffled += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
        spilled += metrics.get("Disk Bytes Spilled", 0)
    return shuffled, spilled


def task_ends(events: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(events.iterdir()):
        with open(path) as lines:
            for line in lines:
                if line.startswith('{"Event":"SparkListenerTaskEnd"'):
                    yield json.loads(line)


def _done(warehouse: Path) -> dict[str, Any]:
    rows = [
        row
        for path in DeltaTable(str(warehouse / "runs")).file_uris()
        for row in pq.ParquetFile(path).read().to_pylist()
    ]
    return next(row for row in rows if row["state"] == "DONE")


# ---------------------------------------------------------------- what is printed


def _print_head() -> None:
    print(
        f"{'case':<10}{'records':>12}{'MB':>7}{'seconds':>9}{'records/s':>11}{'JVM MB':>8}{'worker MB':>10}{'shuffled MB':>12}{'spilled MB':>11}{'JVM cpu':>9}{'Py cpu':>8}"
        "  steps (s)"
    )


def _print(one: Measured) -> None:
    steps = " ".join(f"{name} {ms / 1000:.1f}" for name, ms in one.steps.items())
    usage = one.usage
    print(
        f"{one.case:<10}{one.records:>12,}{one.log_bytes / 1e6:>7.0f}{one.seconds:>9.1f}{one.records / one.seconds:>11,.0f}{usage.peak_mb.get(JVM, 0):>8.0f}{usage.peak_mb.get(WORKER, 0):>10.0f}{one.shuffled / 1e6:>12.1f}{one.spilled / 1e6:>11.1f}{usage.cpu_seconds.get(JVM, 0):>9.1f}{usage.cpu_seconds.get(WORKER, 0):>8.1f}"
        f"  {steps}",
        flush=True,
    )


def _print_marginal(case: str, runs: Sequence[Measured], tiny: Measured | None) -> None:
    """The larger log against the smaller; a case of one size against the tiny log, whose fixed cost
    is the same.
    """
    lower = runs[0] if len(runs) > 1 else tiny
    if lower is None or runs[-1].records <= lower.records or runs[-1].seconds <= lower.seconds:
        return
    records, seconds = runs[-1].records - lower.records, runs[-1].seconds - lower.seconds
    each = f"{seconds / records * 1e6:.2f} us a record"
    print(
        f"{case}: marginal {records / seconds:,.0f} records/s ({each}), {runs[-1].records:,}"
        f" against {lower.records:,}",
        flush=True,
    )


def _print_peer(case: str, size: int, groups: int, jars: Path | None) -> None:
    if jars is None:
        print("PEER: Maven (mvn) is not on the PATH, so Kafka's own tool could not be fetched")
        return
    folder, counts = segments(case, size, groups)
    printed = CACHE / "peer.txt"
    seconds = dump_seconds(jars, folder, printed)
    size_mb = printed.stat().st_size / 1e6
    printed.unlink()
    print(
        f"{case}: kafka-dump-log {counts['records'] / seconds:,.0f} records/s ({seconds:.1f} s,"
        f" {size_mb:.0f} MB of text)",
        flush=True,
    )


def bench(cases: Sequence[str], sizes: dict[str, tuple[int, ...]], groups: int, peer: bool) -> None:
    session = session_seconds()
    _print_head()
    tiny = run_case(*TINY)
    _print(tiny)
    print(
        f"fixed cost: {tiny.seconds - session:.1f} s past the start of a session ({session:.1f} s)",
        flush=True,
    )
    jars = kafka_jars(CACHE) if peer else None
    for case in cases:
        runs = []
        for size in sizes[case]:
            runs.append(run_case(case, size, groups))
            _print(runs[-1])
        _print_marginal(case, runs, tiny)
        if peer:
            _print_peer(case, sizes[case][0], groups, jars)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--case", action="append", choices=sorted(SIZES), help="this case alone; may be given again"
    )
    parser.add_argument(
        "--records",
        type=int,
        action="append",
        help="sizes instead of the usual ones: records, epochs or members; may be given again",
    )
    parser.add_argument("--groups", type=int, help="groups of a log, instead of the usual number")
    parser.add_argument(
        "--quick", action="store_true", help="small logs: whether it works, not how fast it is"
    )
    parser.add_argument(
        "--peer", action="store_true", help="time kafka-dump-log on the same segments"
    )
    arguments = parser.parse_args()
    try:
        _bench(arguments)
    except subprocess.CalledProcessError as error:
        sys.exit(
            f"{Path(error.cmd[0]).name} ended with status {error.returncode}: what it said last is"
            " above"
        )


def _bench(arguments: argparse.Namespace) -> None:
    sizes = dict(QUICK_SIZES if arguments.quick else SIZES)
    cases = arguments.case or list(sizes)
    if arguments.records:
        sizes = dict.fromkeys(cases, tuple(sorted(arguments.records)))
    groups = arguments.groups or (QUICK_GROUPS if arguments.quick else 0)
    bench(cases, sizes, groups, arguments.peer)


if __name__ == "__main__":
    main()
