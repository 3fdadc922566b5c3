"""The names of a catalog as tools ask them: Spark's embedded metastore by a `spark-sql` of its own,
and over JDBC, through Spark's Thrift server, as BI tools do. All of it is of the pyspark
distribution. A night whose configuration names the catalog has registered them.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest

from groupreplay.tables.finished_night import FinishedNight
from tests.end_to_end.conftest import ROOT
from tests.faults.nights import POINTS
from tests.support.few_tables import FEW
from tests.support.processes import archived_classes, as_a_user_has_it

BIN = ROOT / ".venv/bin"
STUCK = """SELECT group_id, reason, member_id IS NULL AS is_of_group FROM groupreplay.stuck_now
WHERE member_id IS NULL ORDER BY group_id"""
ROLLED_BACK = "SELECT count(*) AS n FROM groupreplay.migration_progress WHERE phase = 'ROLLED_BACK'"
NIGHTS = """SELECT logical_date, count(*) AS n FROM groupreplay.migration_progress
WHERE phase = 'ROLLED_BACK' GROUP BY logical_date ORDER BY logical_date"""
NIGHT, NEXT = date(2026, 11, 21), date(2026, 11, 22)
PROPERTIES = """
spark.master local[1]
spark.driver.memory 1g
spark.driver.host localhost
spark.driver.bindAddress 127.0.0.1
spark.driver.defaultJavaOptions -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC {archive}
spark.ui.enabled false
spark.buffer.pageSize 1m
spark.sql.adaptive.enabled false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.sql.codegen.wholeStage false
spark.sql.shuffle.partitions 2
spark.databricks.delta.snapshotPartitions 1
spark.databricks.delta.stats.collect false
spark.sql.catalogImplementation hive
spark.sql.warehouse.dir {folder}/spark-warehouse
spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName={folder}/metastore;create=true
"""
STARTS_S = 200
ASKED = (*FEW, "stuck_members", "stuck_groups")
"""Tables that the second night publishes: few, and those that the statements ask."""


@pytest.fixture(scope="module")
def metastore(demo: FinishedNight, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a metastore that knows the names of the demo's warehouse, by the night after
    the demo's. In it no group is half-way for too long: what is stuck by then shows whose night the
    names are of. It publishes few tables.
    """
    folder = _folder(demo, tmp_path_factory.mktemp("metastore"))
    patient = ["thresholds.migration_stalled_ms=86400000", "page.enabled=false"]
    options = [word for each in patient for word in ("--set", each)]
    said = _job(folder, "run_nightly", "--logical-date", str(NEXT), *options, tables=ASKED)
    assert said.splitlines()[-1].startswith(f"Done: night {NEXT}"), said
    return folder


def _folder(demo: FinishedNight, folder: Path) -> Path:
    """A folder for a metastore, with `spark.conf` and what `_job` needs. The warehouse is a copy:
    other tests read the demo's.
    """
    shutil.copytree(demo.warehouse.root, folder / "demo")
    text = PROPERTIES.format(folder=folder, archive=" ".join(archived_classes()))
    (folder / "spark.conf").write_text(text, encoding="utf-8")
    config = folder / "demo.yaml"
    lines = (ROOT / "conf/demo.yaml").read_text(encoding="utf-8").splitlines()
    kept = [f"warehouse: {folder / 'demo'}" if "warehouse:" in each else each for each in lines]
    config.write_text("\n".join([*kept, "catalog: {schema: groupreplay}", ""]), encoding="utf-8")
    return folder


def _job(folder: Path, job: str, *options: str, tables: tuple[str, ...] = ()) -> str:
    """What a job of ours says that knows the metastore of this folder.

    tables: those that a night publishes, all where none is named.
    """
    command = [str(ROOT / "spark-submit.sh"), job, "--config", str(folder / "demo.yaml"), *options]
    return _run(
        command,
        folder,
        cwd=ROOT,
        GROUPREPLAY_SPARK_CONF=str(folder / "spark.conf"),
        PYTHONPATH=str(POINTS),
        FAULT_TABLES=",".join(tables),
    )


def _run(command: list[str], folder: Path, cwd: Path | None = None, **environment: str) -> str:
    """What a command prints; it must not fail."""
    ended = subprocess.run(
        command,
        cwd=cwd or folder,
        env=_environment(folder, **environment),
        capture_output=True,
        text=True,
        timeout=STARTS_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    return ended.stdout


def _environment(folder: Path, **more: str) -> dict[str, str]:
    return {
        **as_a_user_has_it(),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(folder),
        "TZ": "UTC",
        **more,
    }


def _spark(program: str, folder: Path) -> list[str]:
    """As docs/sql.md says to start it."""
    jars = ":".join(str(each) for each in sorted((ROOT / ".cache/jars").glob("*.jar")))
    delta = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    return [
        *(str(BIN / program), "--properties-file", str(folder / "spark.conf")),
        *("--driver-class-path", jars),
        *[word for each in delta.items() for word in ("--conf", "=".join(each))],
    ]


@pytest.mark.soak
def test_a_session_of_spark_sql_knows_the_names(metastore: Path) -> None:
    """Before the Thrift server below has the metastore, which serves one process at a time."""
    assert _told(metastore)[-2:] == [["refused", "UPGRADE_REFUSED", "true"], ["6"]]


@pytest.mark.soak
def test_a_warehouse_that_is_there_is_registered(demo: FinishedNight, tmp_path: Path) -> None:
    folder = _folder(demo, tmp_path / "registered")
    said = _job(folder, "register_tables")
    assert "15 views" in said, said
    assert _told(folder)[-4:] == [
        ["mixed-stall", "MIGRATION_STALLED", "true"],
        ["refused", "UPGRADE_REFUSED", "true"],
        ["upgrade-slow", "MIGRATION_STALLED", "true"],
        ["3"],
    ]


def _told(folder: Path) -> list[list[str]]:
    """What a `spark-sql` of its own prints of STUCK and ROLLED_BACK."""
    said = _run([*_spark("spark-sql", folder), "-e", f"{STUCK}; {ROLLED_BACK}"], folder)
    return [line.split("\t") for line in said.splitlines()]


@pytest.fixture(scope="module")
def thrift_server(metastore: Path) -> Iterator[int]:
    """The port of Spark's Thrift server on that metastore. While it runs no other process opens it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "hive.server2.thrift.port": str(port),
        "hive.server2.thrift.bind.host": "127.0.0.1",
        "hive.exec.scratchdir": f"{metastore}/scratch",
        "hive.exec.local.scratchdir": f"{metastore}/local-scratch",
        "hive.server2.logging.operation.log.location": f"{metastore}/operations",
    }
    log = metastore / "server.txt"
    with log.open("w") as output:
        server = subprocess.Popen(
            [
                *_spark("spark-submit", metastore),
                *("--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"),
                "spark-internal",
                *[w for each in settings.items() for w in ("--hiveconf", "=".join(each))],
            ],
            cwd=metastore,
            env=_environment(metastore),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_for(port, server, log)
        yield port
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(STARTS_S):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert server.poll() is None, log.read_text()[-3000:]
        time.sleep(1)
    raise AssertionError(log.read_text()[-3000:])


def test_a_tool_that_speaks_jdbc_sees_the_night_that_ran_last(
    metastore: Path, thrift_server: int
) -> None:
    """Views hold to the night that named the catalog; tables show all nights."""
    url = f"jdbc:hive2://127.0.0.1:{thrift_server}/groupreplay"
    beeline = [str(BIN / "beeline"), "-u", url, "-n", "me", "--silent=true", "--outputformat=csv2"]
    asked = [f"{STUCK};", f"{NIGHTS};", "SHOW TABLES LIKE 'stuck*';"]
    words = [word for each in asked for word in ("-e", each)]
    said = _run([*beeline, *words], metastore)
    rows = [row for row in csv.reader(io.StringIO(said)) if row]
    at = rows.index(["group_id", "reason", "is_of_group"])
    assert rows[at + 1 : at + 6] == [
        ["refused", "UPGRADE_REFUSED", "true"],
        ["logical_date", "n"],
        [str(NIGHT), "3"],
        [str(NEXT), "3"],
        ["namespace", "tableName", "isTemporary"],
    ]
    names = {row[1] for row in rows[at + 6 :]}
    assert names >= {"stuck_members", "stuck_groups", "stuck_now"}
