"""The bundle on a real cluster: a standalone master and a worker in processes of their own, which
know nothing of this checkout.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import tarfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import compile_core
from groupreplay.compiled_core import CONTENTS, core_name, digest_of
from groupreplay.config.reader import load_config
from groupreplay.night.run import run_night
from tests.support.standalone_cluster import standalone_cluster

ROOT = Path(__file__).parent.parent
RECORDING = ROOT / "tests/recordings/migration-4.3"
RUN_S = 420
PAGED = ("local", "cluster")
"""Runs that leave pages. Of other nights than by default, else the session of tests draws none."""


def test_a_cluster_and_one_machine_give_the_same_tables(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Other slices, other partitions, another number of tasks and of Python processes: the digests
    are the same, and so is every page.
    """
    local = _on_one_machine(spark, tmp_path)
    pages = _pages(tmp_path / "local")
    archive = _archive(tmp_path, compile_core.CORES)
    with standalone_cluster(tmp_path) as master:
        cluster = _run(tmp_path, "cluster", master, ["--set", "replay.slices=5"], archive)
    assert cluster == local
    assert _pages(tmp_path / "cluster") == pages
    assert len(pages) > 5
    assert len(local) >= 9
    how = "compiled" if _is_compiled() else "interpreted"
    assert _core(tmp_path / "cluster").startswith(f"{how}: ")


@pytest.mark.soak
def test_executors_that_cannot_load_the_core_give_the_same_tables(
    spark: SparkSession, tmp_path: Path
) -> None:
    local = _on_one_machine(spark, tmp_path)
    with standalone_cluster(tmp_path) as master:
        other = _archive(tmp_path, _core_of_another_python(tmp_path))
        said = _submit(tmp_path, "other", master, [], other)
    assert _digests(tmp_path / "other") == local
    passed_over = "interpreted: 0123-cpython-39-plan9-vax is for another Python or machine"
    assert _core(tmp_path / "other").startswith(passed_over)
    assert said.count(f"the pure core of workers is {passed_over}") == 1, "one line for all workers"


def _on_one_machine(spark: SparkSession, tmp_path: Path) -> dict[str, str]:
    """The digests of a night in the session of the tests."""
    run_night(spark, load_config(str(_config(tmp_path, "local")), ["replay.slices=1"]))
    return _digests(tmp_path / "local")


@pytest.mark.soak
def test_an_executor_killed_in_the_middle_of_replay_changes_nothing(tmp_path: Path) -> None:
    with standalone_cluster(tmp_path) as master:
        undisturbed = _run(tmp_path, "cluster", master, [])
        killed: list[int] = []
        killer = threading.Thread(
            target=_kill_executor, args=(tmp_path, tmp_path / "killed", killed), daemon=True
        )
        killer.start()
        disturbed = _run(tmp_path, "killed", master, [])
        killer.join(1)
    assert killed, "the executor was there when what was landed had been committed"
    assert disturbed == undisturbed


def _kill_executor(tmp_path: Path, warehouse: Path, killed: list[int]) -> None:
    """SIGKILL for the executor of the run into this warehouse, once its workers replay."""
    landed = warehouse / "raw_records/_delta_log/00000000000000000001.json"
    until = time.monotonic() + RUN_S
    while not landed.exists() and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(1.5)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_mine = (process / "cwd").resolve().is_relative_to(tmp_path / "work")
            is_executor = b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes()
        except OSError:
            continue
        if is_mine and is_executor:
            os.kill(int(process.name), signal.SIGKILL)
            killed.append(int(process.name))


def _is_compiled() -> bool:
    """Whether there is a compiled core of these sources."""
    sources = compile_core.files_of(*compile_core.CORE)
    digest = digest_of((path, (compile_core.PACKAGE / path).read_bytes()) for path in sources)
    return (compile_core.CORES / core_name(digest) / CONTENTS).exists()


def _archive(tmp_path: Path, cores: Path) -> Path:
    """As `make compiled` packs it, of all cores in a folder; none where there are none."""
    path = tmp_path / f"{cores.name}.tar.gz"
    if cores.is_dir():
        with tarfile.open(path, "w:gz") as out:
            for core in cores.glob(f"*/{CONTENTS}"):
                out.add(core.parent, core.parent.name)
    return path


def _core_of_another_python(tmp_path: Path) -> Path:
    core = tmp_path / "wrong" / "0123-cpython-39-plan9-vax"
    core.mkdir(parents=True)
    (core / CONTENTS).write_text("{}", encoding="utf-8")
    return core.parent


def _run(
    tmp_path: Path, name: str, master: str, more: list[str], archive: Path | None = None
) -> dict[str, str]:
    """Digests of the tables that a run of the job leaves, read without Spark."""
    said = _submit(tmp_path, name, master, more, archive)
    assert said.splitlines()[-1].startswith("Done: night "), said[-4000:]
    return _digests(tmp_path / name)


def _config(tmp_path: Path, name: str) -> Path:
    pages = "nights: 7" if name in PAGED else "enabled: false"
    path = tmp_path / f"{name}.yaml"
    path.write_text(
        f"cluster: c\nwarehouse: {tmp_path / name}\npage: {{{pages}}}\n"
        f"sources:\n  - {{kind: segments, path: {RECORDING}/segments/}}\n"
        f"  - {{kind: topics, path: {RECORDING}/topics.json}}\n",
        encoding="utf-8",
    )
    return path


def _submit(
    tmp_path: Path, name: str, master: str, more: list[str], archive: Path | None = None
) -> str:
    """What a run of the job says. archive: of compiled cores; None: the core is interpreted."""
    config = _config(tmp_path, name)
    properties = tmp_path / f"{name}.conf"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        # Processes that live for seconds gain nothing by Java's second compiler.
        "spark.driver.defaultJavaOptions": (
            "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
        ),
        "spark.executor.defaultJavaOptions": (
            "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
        ),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "900m",
        "spark.cores.max": "2",
        "spark.sql.shuffle.partitions": "3" if name == "cluster" else "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.pyspark.python": _python(tmp_path),
    }
    properties.write_text(
        "".join(f"{key} {value}\n" for key, value in settings.items()), encoding="utf-8"
    )
    environment = {
        **os.environ,
        "GROUPREPLAY_MASTER": master,
        "GROUPREPLAY_SPARK_CONF": str(properties),
        "PYSPARK_PYTHON": _python(tmp_path),
        "GROUPREPLAY_COMPILED": "0" if archive is None else str(tmp_path / "no-cores"),
        "GROUPREPLAY_ARCHIVE": str(archive or ""),
    }
    environment.pop("PYTHONPATH", None)
    command = [str(ROOT / "spark-submit.sh"), "run_nightly", "--config", str(config), *more]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def _python(tmp_path: Path) -> str:
    """This Python, blind to what is installed in it by a link: the package is then in the bundle or
    nowhere.
    """
    path = tmp_path / "python"
    path.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{sysconfig.get_path("purelib")}" exec {sys.executable}'
        ' -S "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return str(path)


def _digests(warehouse: Path) -> dict[str, str]:
    return dict(_of_done_run(warehouse, "digest"))


def _pages(warehouse: Path) -> dict[str, str]:
    """Name below the warehouse -> page."""
    return {
        str(page.relative_to(warehouse)): page.read_text(encoding="utf-8")
        for page in sorted(warehouse.glob("_report/**/*.html"))
    }


def _core(warehouse: Path) -> str:
    return str(_of_done_run(warehouse, "core"))


def _of_done_run(warehouse: Path, column: str) -> Any:
    from deltalake import DeltaTable, QueryBuilder

    # Not to_pyarrow_table: it can abort the process when the interpreter exits.
    rows = (
        QueryBuilder()
        .register("runs", DeltaTable(str(warehouse / "runs")))
        .execute(f"SELECT {column} FROM runs WHERE state = 'DONE'")
        .read_all()
    )
    (found,) = rows.column(column).to_pylist()
    return found
