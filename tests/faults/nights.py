"""Nights in processes of their own, which can be killed, and what they leave, read without
Spark.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from deltalake import DeltaTable

from tests.support.processes import as_a_user_has_it

ROOT = Path(__file__).parent.parent.parent
POINTS = Path(__file__).parent / "points"
RUN_S = 500

_SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    # A process that lives for seconds gains nothing by Java's second compiler, nor by code that
    # Spark writes for a question that is asked once.
    "spark.driver.defaultJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    ),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.buffer.pageSize": "1m",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.stats.collect": "false",
    "spark.task.maxFailures": "2",
}


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    status: negative: the signal that killed it.
    output: all it said.
    """

    status: int
    output: str
    seconds: float

    @property
    def was_killed(self) -> bool:
        return self.status == -signal.SIGKILL

    @property
    def sentence(self) -> str:
        return self.output.splitlines()[-1]


@dataclass(frozen=True)
class Nights:
    """A warehouse, and the configuration file of it in `folder`. cluster: always `c`.

    tables: those that runs publish, all where none is named.
    """

    folder: Path
    warehouse: Path
    tables: tuple[str, ...] = ()

    @property
    def config(self) -> Path:
        return self.folder / f"{self.warehouse.name}.yaml"

    def configure(self, *sources: tuple[str, Path], more: str = "", pages: bool = False) -> Nights:
        lines = [f"  - {{kind: {kind}, path: {path}}}" for kind, path in sources]
        # Few faults are about pages, and a kill point counts the small files that are written.
        # Nights in the session of the tests draw pages only where `page` is not the default.
        page = "page: {nights: 20}" if pages else "page: {enabled: false}"
        head = ["cluster: c", f"warehouse: {self.warehouse}", page, "sources:"]
        self.config.write_text("\n".join([*head, *lines, more, ""]), encoding="utf-8")
        return self

    def run(
        self,
        *arguments: str,
        job: str = "run_nightly",
        point: str = "",
        kill_after_s: float | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Ended:
        """Runs a job in a session of its own.

        point: where it dies by itself (`points/sitecustomize.py`).
        kill_after_s: when it is killed from outside.
        """
        properties = self.folder / "spark.conf"
        properties.write_text(
            "".join(f"{key} {value}\n" for key, value in _SETTINGS.items()), encoding="utf-8"
        )
        own = {
            "GROUPREPLAY_SPARK_CONF": str(properties),
            "FAULT_POINT": point,
            "FAULT_TABLES": ",".join(self.tables),
            "PYTHONPATH": str(POINTS),
            "TZ": "UTC",
        }
        command = [str(ROOT / "spark-submit.sh"), job, "--config", str(self.config), *arguments]
        log = self.folder / "output.txt"
        began = time.monotonic()
        with log.open("w") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**as_a_user_has_it(), **own, **(environment or {})},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = process.wait(kill_after_s or RUN_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                status = process.wait()
        _end_session(process.pid)
        return Ended(
            status, log.read_text(encoding="utf-8", errors="replace"), time.monotonic() - began
        )


def _end_session(session: int) -> None:
    """Kills what is left of a session (Python workers have a process group of their own), and waits
    until it is gone.
    """
    while left := list(_processes(session)):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _processes(session: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, of_session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(of_session) == session and state != "Z":
                found.append(int(stat.parent.name))
    return found


# ---------------------------------------------------------------- what is in the tables

Rows = Counter[tuple[tuple[str, str], ...]]


def contents(warehouse: Path) -> dict[str, Rows]:
    """Table -> its rows with how often each is there; `runs`, which says when and by whom, is left
    out.
    """
    names = sorted(
        path.name
        for path in warehouse.iterdir()
        if (path / "_delta_log").is_dir() and path.name != "runs"
    )
    return {name: table_rows(warehouse / name) for name in names}


def table_rows(table: Path, version: int | None = None) -> Rows:
    found: Rows = Counter()
    for uri in DeltaTable(str(table), version=version).file_uris():
        path = Path(uri.removeprefix("file://"))
        partition = [
            (each.partition("=")[0], each.partition("=")[2])
            for each in path.relative_to(table).parts[:-1]
        ]
        for row in pq.ParquetFile(path).read().to_pylist():
            found[(*partition, *((name, repr(value)) for name, value in sorted(row.items())))] += 1
    return found


def run_rows(warehouse: Path) -> list[dict[str, Any]]:
    """The rows of `runs`, the oldest first."""
    paths = [uri.removeprefix("file://") for uri in DeltaTable(str(warehouse / "runs")).file_uris()]
    return sorted(
        (row for path in paths for row in pq.ParquetFile(path).read().to_pylist()),
        key=lambda row: (row["started_at"], row["run_id"]),
    )


def assert_same(found: dict[str, Rows], expected: dict[str, Rows]) -> None:
    """Every table holds the same rows, each as often; names what differs."""
    assert set(found) == set(expected)
    for name, rows in expected.items():
        lost, more = rows - found[name], found[name] - rows
        assert (len(lost), len(more)) == (
            0,
            0,
        ), f"{name}: lost {list(lost)[:2]}, and there are instead {list(more)[:2]}"
