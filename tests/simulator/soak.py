"""Histories that nobody has seen: a new seed of each profile and version of Kafka, checked row by
row, and what else `further` looks at. At the end estimates of all of them are held to their bounds.

    make soak
    GROUPREPLAY_COMPILED=0 python -m tests.simulator.soak [--groups 60] [--hours 1] [--seed N]
    GROUPREPLAY_COMPILED=0 python -m tests.simulator.soak [--profile P] [--version V] [--no-job]

Rows are those of the replay in pure Python. One of the histories goes through the real job too,
with and without the logs of its brokers, into Delta tables, and these are checked. Of a history
that fails the command that repeats it is printed. Exit status 1 if any did.
"""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from groupreplay.compiled_core import running
from tests.simulator.check import (
    CHECKS,
    JOB_CHECKS,
    PROVED_CHECKS,
    STORED_CHECKS,
    check_history,
    differences,
)
from tests.simulator.check_streams import anomalies_of, check_all
from tests.simulator.check_streams import differences as streams_differences
from tests.simulator.compare import ROWS, Comparison
from tests.simulator.criteria import OTHER_HEARTBEAT_MS, PROVEN_MS, STALLED_MS
from tests.simulator.expected.estimates import (
    Estimate,
    estimates_of,
    faults,
    wrong_estimates,
)
from tests.simulator.expected.history import History
from tests.simulator.expected.told import Told
from tests.simulator.further import look_further
from tests.simulator.played import LOW_THRESHOLDS_MS, Played, brokers_of
from tests.simulator.proved import ProvedTables
from tests.simulator.replayed import replay_recording
from tests.simulator.simulate import (
    PROFILES,
    STREAMS_PROFILES,
    VERSIONS,
    NotSimulated,
    simulate,
)
from tests.simulator.streams.history import read_streams
from tests.simulator.tables import DeltaTables, FactTables, Tables
from tests.simulator.truth import Truth, read_truth
from tests.support.log_lines import logs_in
from tests.support.processes import as_a_user_has_it

ROOT: Final = Path(__file__).parents[2]
GROUPS: Final = 60
HOURS: Final = 1.0
BEFORE_STREAMS: Final = "4.0.2"
"""A version without streams groups."""
ENOUGH: Final = 10
"""Histories that must have estimates of each kind."""
FOR_JOB_CHECKS: Final = (
    f"thresholds: {LOW_THRESHOLDS_MS | {'migration_stalled_ms': STALLED_MS}}\n"
    f"readiness: {{min_observed_ms: 0, proven_ms: {PROVEN_MS}}}\n"
    f"what_if: {{other_heartbeat_ms: {OTHER_HEARTBEAT_MS}}}\n"
)
"""What is checked with lines is judged by these, as `built.py` does."""
SHOWN: Final = 2
"""Differences shown of each table and column."""


class JobFailed(RuntimeError):
    """The real job did not end well; the message is the end of what it said."""


def play(history: Played, folder: Path) -> Path:
    """The recording of a history. Raises NotSimulated."""
    return simulate(
        folder, history.seed, history.groups, history.hours, history.profile, history.version
    )


def run_job(recording: Path, warehouse: Path, *, with_logs: bool = False) -> DeltaTables:
    """What the real job makes of a recording, or of its topic alone. Raises JobFailed."""
    config = warehouse.parent / "simulated.yaml"
    logs = [
        f"  - {{kind: {kind}, path: {path}, timezone: UTC,"
        f" broker: {path.name.split('.')[0].removeprefix('broker-')}}}\n"
        for kind, path in logs_in(recording)
    ]
    config.write_text(
        f"cluster: simulated\nwarehouse: {warehouse}\nbrokers: {brokers_of(recording)}\nsources:\n"
        f"  - {{kind: segments, path: {recording / 'segments'}}}\n"
        f"  - {{kind: topics, path: {recording / 'topics.json'}}}\n"
        + "".join([*logs, FOR_JOB_CHECKS] if with_logs else ())
    )
    command = [str(ROOT / "spark-submit.sh"), "run_nightly", "--config", str(config)]
    environment = as_a_user_has_it()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise JobFailed((done.stdout + done.stderr)[-2_000:])
    return DeltaTables(warehouse)


def check_further(history: Played, recording: Path, truth: Truth) -> bool:
    """Whether episodes, cleaned logs and nights agree too; says so, and shows what does not."""
    began, is_of_streams = time.monotonic(), history.profile in STREAMS_PROFILES
    found = look_further(recording, truth, history.seed, has_truth=not is_of_streams)
    said = "FAILED" if found.wrong else "ok"
    told = f"{', '.join(found.compared)}, {found.differ} differ"
    print(f"{said}: {history.name} further: {told}, {time.monotonic() - began:.0f} s")
    print(*found.wrong[:SHOWN], sep="\n", end="\n" if found.wrong else "")
    if found.wrong:
        print(f"to repeat: {history.command()}")
    sys.stdout.flush()
    return not found.wrong


def check_groups_of_streams(history: Played, recording: Path, truth: Truth) -> bool:
    """Whether all rows of streams groups agree; says so, and shows what does not."""
    began = time.monotonic()
    groups = read_streams(recording, truth)
    replayed = replay_recording(recording)
    compared = check_all(groups, replayed, FactTables(recording, replayed))
    anomalies = anomalies_of(groups, replayed)
    wrong = [each for each in compared if each.differ]
    said = "FAILED" if wrong or anomalies else "ok"
    print(
        f"{said}: {history.name}: {_counted(recording, compared)}, {time.monotonic() - began:.0f} s"
    )
    for each in wrong:
        print(*streams_differences(each, groups, SHOWN), sep="\n")
    print(*anomalies[:SHOWN], sep="\n", end="\n" if anomalies else "")
    if wrong or anomalies:
        print(f"to repeat: {history.command()}")
    sys.stdout.flush()
    return not (wrong or anomalies)


def check(
    history: Played,
    recording: Path,
    known: History,
    tables: tuple[Tables, Tables],
    with_job: bool,
) -> bool:
    """Whether all rows agree; says so, and shows what does not.

    known: what the coordinator's memory says of it. tables: of the topic, and of what logs of
    brokers prove too. with_job: they are the job's.
    """
    began = time.monotonic()
    of_topic, of_logs = tables
    compared = check_history(known, of_topic, checks=STORED_CHECKS if with_job else CHECKS)
    compared += check_history(known, of_logs, checks=JOB_CHECKS if with_job else PROVED_CHECKS)
    wrong = [each for each in compared if each.differ]
    said, through = "FAILED" if wrong else "ok", "through the job" if with_job else "in Python"
    took_s = time.monotonic() - began
    counted = _counted(recording, compared)
    print(f"{said}: {history.name} {through}: {counted}, {took_s:.0f} s")
    for each in wrong:
        print(*differences(each, known.truth, SHOWN), sep="\n")
    if wrong:
        print(f"to repeat: {history.command(with_job)}")
    sys.stdout.flush()
    return not wrong


def _counted(recording: Path, compared: Sequence[Comparison]) -> str:
    records = json.loads((recording / "recording.json").read_text())["simulated"]["records"]
    rows = sum(each.agree[ROWS] for each in compared)
    agree = sum(each.agree.total() for each in compared)
    differ = sum(each.differ.total() for each in compared)
    left_out = sum(each.left_out.total() for each in compared)
    told = f"{records} records, {rows} rows, {agree} values agree, {differ} differ"
    return f"{told}, {left_out} rows left out"


def soak(history: Played, with_job: bool, estimates: list[Estimate]) -> bool:
    """Plays and checks one history; whether all was right. estimates: its own are added."""
    with tempfile.TemporaryDirectory(prefix="simulated-") as scratch:
        try:
            recording = play(history, Path(scratch) / "recording")
        except NotSimulated as error:
            print(f"FAILED: {history.name} could not be played: {error}")
            return False
        truth = read_truth(recording)
        if history.profile in STREAMS_PROFILES:
            is_right = check_groups_of_streams(history, recording, truth)
            return check_further(history, recording, truth) and is_right
        known, replayed = History(truth), FactTables(recording)
        in_python = replayed, ProvedTables(recording, replayed)
        is_right = check(history, recording, known, in_python, with_job=False)
        is_right &= check_further(history, recording, truth)
        estimates += estimates_of(recording, known, Told(known))
        if with_job:
            try:
                tables = run_job(recording, Path(scratch) / "warehouse")
                of_logs = run_job(recording, Path(scratch) / "with-logs", with_logs=True)
            except JobFailed as error:
                print(f"FAILED: {history.name}, the job: {error}")
                print(f"to repeat: {history.command(with_job=True)}")
                return False
            is_right &= check(history, recording, known, (tables, of_logs), with_job=True)
        return is_right


def check_estimates(estimates: Sequence[Estimate], histories: int) -> bool:
    """Whether they are as near as said; few histories need not have enough of each kind."""
    wrong = wrong_estimates(estimates) if histories < ENOUGH else faults(estimates)
    print(f"{'FAILED' if wrong else 'ok'}: {len(estimates)} estimates", *wrong, sep="\n")
    return not wrong


def _histories(told: argparse.Namespace) -> list[Played]:
    """Each profile and version that was asked for, each with a seed of its own unless one was
    given."""
    seed = secrets.randbelow(1_000_000) * 1_000 if told.seed is None else told.seed
    step = 1 if told.seed is None else 0
    chosen = [
        (profile, version)
        for profile in told.profile
        for version in told.version
        if profile not in STREAMS_PROFILES or version != BEFORE_STREAMS
    ]
    return [
        Played(seed + step * place, told.groups, told.hours, profile, version)
        for place, (profile, version) in enumerate(chosen)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, help="default: new ones")
    parser.add_argument("--profile", action="append", choices=PROFILES, help="default: each")
    parser.add_argument("--version", action="append", choices=VERSIONS, help="default: each")
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--hours", type=float, default=HOURS, help="of simulated time")
    parser.add_argument("--no-job", action="store_true", help="in pure Python alone")
    told = parser.parse_args(arguments)
    if running().startswith("compiled"):
        parser.error("estimates are listened to in the sources: set GROUPREPLAY_COMPILED=0")
    told.profile, told.version = told.profile or PROFILES, told.version or VERSIONS
    histories = _histories(told)
    for_job = [each for each in histories if each.profile not in STREAMS_PROFILES]
    through_job = secrets.choice(for_job) if for_job and not told.no_job else None
    print(f"{len(histories)} histories, seeds from {histories[0].seed}", flush=True)
    estimates: list[Estimate] = []
    failed = [each for each in histories if not soak(each, each is through_job, estimates)]
    for each in failed:
        print(f"failed: {each.command(each is through_job)}")
    are_near = check_estimates(estimates, len(for_job))
    return int(bool(failed) or not are_near)


if __name__ == "__main__":
    sys.exit(main())
