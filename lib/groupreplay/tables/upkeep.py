"""What keeps a warehouse small for years: files that piled up are put together, and files that no
version names any more are deleted.

Both are Delta's own: OPTIMIZE packs the small files of a partition, VACUUM deletes. Neither changes
a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Final, NamedTuple

from groupreplay.config.model import SAFE_VACUUM_HOURS
from groupreplay.shortcuts import CHECKSUM_FILES, is_on
from groupreplay.tables.delta.checksum_files import listed_files
from groupreplay.tables.delta.damage import guarded
from groupreplay.tables.warehouse import Warehouse

SMALL_BYTES: Final = 32 << 20
"""A file below this costs a reader more to open than to read."""

PILE_FILES: Final = 2
"""So many small files in one partition of a table are put together."""

THREADS: Final = 4
"""A vacuum waits for the driver and the file system, not for cores."""


class _DataFile(NamedTuple):
    """partition: partition column -> value, as the log has it."""

    partition: Mapping[str, str]
    size_bytes: int


def small_files(warehouse: Warehouse, name: str) -> dict[date, int]:
    """Night -> small files of this cluster that one commit could put together, where there are
    PILE_FILES of them or more in a partition.
    """
    piles = Counter(
        tuple(sorted(each.partition.items()))
        for each in _files(warehouse, name)
        if each.size_bytes < SMALL_BYTES
    )
    nights: Counter[date] = Counter()
    for partition, files in piles.items():
        if files >= PILE_FILES:
            nights[date.fromisoformat(dict(partition)["logical_date"])] += files
    return dict(nights)


def count_files(warehouse: Warehouse, name: str) -> tuple[int, int]:
    """(files, small files) of this cluster in the newest version of a table."""
    files = _files(warehouse, name)
    return len(files), sum(each.size_bytes < SMALL_BYTES for each in files)


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


def _files(warehouse: Warehouse, name: str) -> list[_DataFile]:
    """The data files of this cluster in the newest version of a table: by its checksum where that
    names them, else by a job over the state of its log.
    """
    with guarded(warehouse.root_of(name), name):
        log = warehouse.log(name)
        snapshot = log.snapshot()
        listed = listed_files(log, snapshot.version) if is_on(CHECKSUM_FILES) else None
        if listed is not None:
            found = [_DataFile(each["partitionValues"], each["size"]) for each in listed]
        else:
            rows = snapshot.files().select("partitionValues", "size").collect()
            found = [_DataFile(dict(row["partitionValues"]), row["size"]) for row in rows]
    return [each for each in found if each.partition["cluster"] == warehouse.cluster]


def _quoted(warehouse: Warehouse, name: str) -> str:
    return "delta.`{}`".format(warehouse.path(name).replace("`", "``"))
