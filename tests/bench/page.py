"""What the pages of a night cost: the tables of a night that is done, multiplied to many groups.

    python -m tests.bench.page WAREHOUSE CLUSTER [--groups 5000 --groups 50000]

WAREHOUSE is one that a night left, such as `.cache/demo` after `make demo`. Each group is copied
under other names, so lists, timelines and the finder have what real groups have. Prints a row of
docs/benchmarks.md a size: seconds, CPU seconds of driver and JVM, those of Python alone, and by how
much the memory of Python grows while pages are drawn, at most. The night itself is drawn first: in
a job, too, the session is warm when pages are drawn.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.cli.session import start_session
from groupreplay.config.model import PageConfig
from groupreplay.night.engine.query_compiler import ASKED_ROWS, fit_to
from groupreplay.night.pages import asked_tables, drawn_pages
from groupreplay.night.plans.night import Night
from groupreplay.tables.delta.committed_files import committed_rows
from groupreplay.tables.delta.delta_log import DeltaLog
from groupreplay.tables.finished_night import FinishedNight
from groupreplay.tables.schemas import table_schema

ROOT = Path(__file__).parents[2]
PAGE = PageConfig()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the pages of a night.")
    parser.add_argument("warehouse", type=Path)
    parser.add_argument("cluster")
    parser.add_argument("--groups", type=int, action="append", default=[])
    options = parser.parse_args()
    spark = _session()
    of = FinishedNight.newest(spark, str(options.warehouse.resolve()), options.cluster)
    tables = {name: of.read(name) for name in asked_tables(PAGE)}
    own = tables["migration_progress"].where(sf.col("logical_date") == sf.lit(of.logical_date))
    own_groups = own.count()
    for groups in (own_groups, *(options.groups or [5_000, 50_000])):
        with tempfile.TemporaryDirectory(prefix="page-") as folder:
            many = _many(spark, tables, -(-groups // own_groups), Path(folder))
            counts = {name: frame.count() for name, frame in many.items()}
            fit_to(spark, sum(counts.values()), few=ASKED_ROWS)
            print(_measured(spark, _night(of), many, counts, groups), flush=True)
    spark.stop()


def _session() -> SparkSession:
    """As `spark-submit.sh` starts it on one machine."""
    settings = {}
    for line in (ROOT / "conf/spark-local.conf").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            key, value = line.split(maxsplit=1)
            settings[key] = value
    jars = ",".join(str(each) for each in sorted((ROOT / ".cache/jars").glob("*.jar")))
    return start_session("page", {**settings, "spark.jars": jars, "spark.log.level": "ERROR"})


def _many(
    spark: SparkSession, tables: Mapping[str, DataFrame], copies: int, folder: Path
) -> dict[str, DataFrame]:
    """Each group as often as asked, as tables of their own, read as a night reads what it
    committed.
    """
    of_run = {"run_id": "bench", "step": "publish"}
    numbers = spark.range(copies).withColumnRenamed("id", "_copy")
    found = {}
    for name, rows in tables.items():
        if "group_id" in rows.columns:
            renamed = sf.concat("group_id", sf.lit("-"), sf.col("_copy"))
            rows = rows.crossJoin(numbers).withColumn("group_id", renamed).drop("_copy")
        path = str(folder / name)
        schema = table_schema(spark, name)
        written = rows.write.format("delta").partitionBy(*schema.partition_columns)
        written.option("userMetadata", json.dumps(of_run)).save(path)
        committed = committed_rows(DeltaLog(spark, path), schema, 0, of_run)
        found[name] = rows.limit(0) if committed is None else committed
    return found


def _night(of: FinishedNight) -> Night:
    night = SimpleNamespace(
        config=SimpleNamespace(cluster=of.warehouse.cluster, page=PAGE),
        warehouse=of.warehouse,
        logical_date=of.logical_date,
        nights=[],
        keys=None,
        rows=lambda name, _=None: of.read(name),
    )
    return cast(Night, night)


def _measured(
    spark: SparkSession,
    night: Night,
    tables: Mapping[str, DataFrame],
    counts: Mapping[str, int],
    groups: int,
) -> str:
    newest = tables["migration_progress"].agg(sf.max("as_of_at")).collect()[0][0]
    Path("/proc/self/clear_refs").write_text("5")  # The highest so far is forgotten.
    before_mb = memory_mb("VmRSS")
    began = (time.monotonic(), _cpu_s(spark), time.process_time())
    pages = drawn_pages(night, int(newest.timestamp() * 1000), tables, counts)
    ended = (time.monotonic(), _cpu_s(spark), time.process_time())
    if pages is None:
        raise SystemExit("the pages could not be drawn; the warning above says why")
    wall, cpu, python = (after - before for before, after in zip(began, ended, strict=True))
    grown = memory_mb("VmHWM") - before_mb
    size = len(pages.index.encode()) / 1000
    return (
        f"| pages, {groups:,} groups | {len(pages.groups)} of single groups, overview {size:,.0f}"
        f" kB | {sum(counts.values()):,} rows | {wall:.1f}, of CPU {cpu + python:.1f}, of Python"
        f" {python:.1f} | {grown:.0f} MB | |"
    )


def memory_mb(name: str) -> float:
    """Of this process, the driver's Python."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1000


def _cpu_s(spark: SparkSession) -> float:
    """Of the JVM so far."""
    jvm: Any = spark._jvm
    stat = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
