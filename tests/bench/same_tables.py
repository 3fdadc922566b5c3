"""The tables of every recording, kept by one commit and compared with those of another.

    python -m tests.bench.same_tables keep FOLDER      # on each of the two commits
    python -m tests.bench.same_tables compare OLD NEW  # exits 1 where a value differs

`keep` runs the job as a user does: with and without logs of brokers, and one recording over two
nights. `compare` takes rows as a multiset and names each table and column that differs. It leaves
out what may differ between two runs: run ids, clock times, versions and bytes of states.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deltalake import DeltaTable, QueryBuilder

from tests.support.recordings import recordings

ROOT = Path(__file__).parents[2]
TABLES_OF_THE_JOB = {"raw_records", "raw_lines", "replayed", "evidence", "group_state"}
OF_A_RUN = {
    "runs": {
        "run_id", "started_at", "ended_at", "holder", "renewed_at", "code_version", "config_hash",
        "plan", "table_versions", "timings", "config", "digest", "digest_final",
        "core",
    }
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the tables of all recordings.")
    commands = parser.add_subparsers(dest="command", required=True)
    keep = commands.add_parser("keep", help="run the job on every recording")
    keep.add_argument("folder", type=Path)
    keep.add_argument("--only", help="a part of the names of the runs")
    compare = commands.add_parser("compare", help="compare what two commits kept")
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    options = parser.parse_args()
    if options.command == "keep":
        return _keep(options.folder.resolve(), options.only or "")
    return _compare(options.old, options.new)


# ------------------------------------------------------------------------------ keep


def _keep(folder: Path, only: str) -> int:
    for name, nights in _runs():
        if only not in name:
            continue
        for night, sources in enumerate(nights):
            config = folder / f"{name}-{night}.yaml"
            config.parent.mkdir(parents=True, exist_ok=True)
            config.write_text(_config(folder / name, sources), encoding="utf-8")
            command = [str(ROOT / "spark-submit.sh"), "run_nightly", "--config", str(config)]
            command += ["--logical-date", f"2030-01-0{night + 1}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
            last = (done.stdout or done.stderr).strip().splitlines()[-1]
            print(f"{name} {night}: {last}", flush=True)
            if done.returncode:
                print(done.stdout[-2000:], done.stderr[-2000:])
                return 1
    return 0


def _runs() -> Iterator[tuple[str, list[list[dict[str, Any]]]]]:
    """(name, sources of each night)."""
    for name, path in recordings().items():
        topic = [
            {"kind": "segments", "path": str(path / "segments")},
            {"kind": "topics", "path": str(path / "topics.json")},
        ]
        logs = list(_logs(path))
        yield f"{name}-topic", [topic]
        if logs:
            yield f"{name}-logs", [[*topic, *logs]]
        if logs and name == "migration-4.3":
            yield f"{name}-late-logs", [topic, [*topic, *logs]]


def _logs(path: Path) -> Iterator[dict[str, Any]]:
    for log in sorted(path.glob("broker-*.log*")):
        broker, kind = log.name.split(".")[:2]
        yield {
            "kind": f"{kind}_log",
            "path": str(log),
            "broker": int(broker.removeprefix("broker-")),
            "timezone": "UTC",
        }


def _config(warehouse: Path, sources: list[dict[str, Any]]) -> str:
    thresholds = {"slow_revocation_ms": 1000, "waiting_on_holder_ms": 1000}
    return json.dumps(
        {"cluster": "c", "warehouse": str(warehouse), "sources": sources, "thresholds": thresholds}
    )


# --------------------------------------------------------------------------- compare


def _compare(old: Path, new: Path) -> int:
    differences = 0
    for run in sorted(
        {each.name for root in (old, new) for each in root.iterdir() if each.is_dir()}
    ):
        for table in _tables(old / run, new / run):
            for told in _differences(old / run / table, new / run / table, table):
                print(f"{run} {table}: {told}")
                differences += 1
    print(f"{differences} differences")
    return 1 if differences else 0


def _tables(*warehouses: Path) -> list[str]:
    found = {log.parent.name for root in warehouses for log in root.glob("*/_delta_log")}
    return sorted(found - TABLES_OF_THE_JOB)


def _differences(old: Path, new: Path, table: str) -> Iterator[str]:
    if not (old.is_dir() and new.is_dir()):
        yield "the table is in one of them alone"
        return
    before, after = _columns(old), _columns(new)
    names = [name for name in before if name in after and name not in OF_A_RUN.get(table, ())]
    for name in sorted(before.keys() ^ after.keys()):
        yield f"the column {name} is in one of them alone"
    for name in names:
        gone = Counter(map(_plain, before[name])) - Counter(map(_plain, after[name]))
        come = Counter(map(_plain, after[name])) - Counter(map(_plain, before[name]))
        if gone or come:
            yield f"{name}: {_shown(gone)} became {_shown(come)}"
    rows = [
        Counter(zip(*[map(_plain, each[name]) for name in names], strict=True))
        for each in (before, after)
    ]
    if rows[0] != rows[1]:
        yield f"{(rows[0] - rows[1]).total()} rows gone, {(rows[1] - rows[0]).total()} come"


def _columns(path: Path) -> dict[str, list[Any]]:
    table = DeltaTable(str(path))
    rows = QueryBuilder().register("t", table).execute("SELECT * FROM t").read_all()
    return {name: list(rows.column(name).to_pylist()) for name in rows.schema.names}


def _plain(value: Any) -> str:
    """Without the folder of the checkout, and without an order of maps."""
    is_map = isinstance(value, list) and all(isinstance(each, tuple) for each in value)
    text = json.dumps(sorted(value) if is_map else value, default=str, sort_keys=True)
    return re.sub(r'"[^"]*/recordings/', '"recordings/', text)


def _shown(values: Counter[str]) -> str:
    return (
        ", ".join(f"{value[:100]} x{count}" for value, count in values.most_common(3)) or "nothing"
    )


if __name__ == "__main__":
    sys.exit(main())
