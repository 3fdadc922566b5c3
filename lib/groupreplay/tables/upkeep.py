"""What keeps a warehouse small for years: files that piled up are put together, and files that no
version names any more are deleted.

Both are Delta's own: OPTIMIZE packs the small files of a partition, VACUUM deletes. Neither changes
a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.config.model import SAFE_VACUUM_HOURS
from groupreplay.tables.delta.damage import guarded
from groupreplay.tables.warehouse import Warehouse

SMALL_BYTES: Final = 32 << 20
"""A file below this costs a reader more to open than to read."""

PILE_FILES: Final = 2
"""So many small files in one partition of a table are put together."""

THREADS: Final = 4
"""A vacuum waits for the driver and the file system, not for cores."""


def small_files(warehouse: Warehouse, name: str) -> dict[date, int]:
    """Night -> small files of this cluster that one commit could put together, where there are
    PILE_FILES of them or more in a partition.
    """
    piles = (
        _files(warehouse, name)
        .where(sf.col("size") < SMALL_BYTES)
        .groupBy("partitionValues")
        .agg(sf.count("*").alias("files"))
    )
    nights: dict[date, int] = {}
    for row in piles.where(sf.col("files") >= PILE_FILES).collect():
        night = date.fromisoformat(dict(row["partitionValues"])["logical_date"])
        nights[night] = nights.get(night, 0) + row["files"]
    return nights


def count_files(warehouse: Warehouse, name: str) -> tuple[int, int]:
    """(files, small files) of this cluster in the newest version of a table."""
    row = (
        _files(warehouse, name)
        .agg(sf.count("*").alias("files"), sf.count_if(sf.col("size") < SMALL_BYTES).alias("small"))
        .collect()[0]
    )
    return row["files"], row["small"]


def compact(warehouse: Warehouse, name: str, nights: Sequence[date]) -> None:
    """Puts the files of these nights' partitions together."""
    dates = ", ".join(f"DATE'{night}'" for night in nights)
    with guarded(warehouse.root_of(name), name):
        warehouse.spark.sql(
            f"OPTIMIZE {_quoted(warehouse, name)} WHERE cluster = '{warehouse.cluster}' AND"
            f" logical_date IN ({dates})"
        )


def vacuum(warehouse: Warehouse, names: Sequence[str], hours: int) -> None:
    """Deletes files of these tables that no version named for so many hours; of all clusters, since
    a table's files are everybody's.
    """
    spark = warehouse.spark
    # Listing takes ten thousand tasks by default, half a minute a table.
    settings = {
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(
            spark.sparkContext.defaultParallelism
        )
    }
    if hours < SAFE_VACUUM_HOURS:
        settings["spark.databricks.delta.retentionDurationCheck.enabled"] = "false"

    def one(name: str) -> None:
        with guarded(warehouse.root_of(name), name):
            spark.sql(f"VACUUM {_quoted(warehouse, name)} RETAIN {hours} HOURS").collect()

    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(one, names))
    finally:
        for key in settings:
            spark.conf.unset(key)


def _files(warehouse: Warehouse, name: str) -> DataFrame:
    """partitionValues, size in bytes: of each file of this cluster."""
    return (
        warehouse.log(name)
        .snapshot()
        .files()
        .where(sf.col("partitionValues")["cluster"] == warehouse.cluster)
    )


def _quoted(warehouse: Warehouse, name: str) -> str:
    return "delta.`{}`".format(warehouse.path(name).replace("`", "``"))
