"""A shortcut: which files a commit replaces is read from the checksum of the version before.

Delta's writer looks for them by two jobs of Spark over the state of the whole log, which take three
quarters of the time of a small commit. The checksum that Delta leaves beside each version names all
files of a table that has not too many (`allFilesInCrc.thresholdNumFiles`). Spark's writer writes
the new files and Delta makes the transaction, as without this: it finds what other processes did at
the same time, and writes checkpoint and checksum.

Source: the Delta protocol, "Version Checksum File", "Add File and Remove File"; `WriteIntoDelta`
and `OptimisticTransaction` of Delta 4.4.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import DataFrame

from groupreplay.tables.delta.delta_log import DeltaLog
from groupreplay.tables.row_range import RowRange

_KEPT: Final = ("path", "partitionValues", "size", "tags")
"""What a `remove` says of a file as its `add` did."""


def listed_files(log: DeltaLog, version: int) -> list[dict[str, Any]] | None:
    """The `add` of each file of a version, by its checksum; None where it does not name them, and
    for files of which some rows are deleted.
    """
    files = log.checksum(version).get("allFiles")
    if files is None or any(each.get("deletionVector") for each in files):
        return None
    return list(files)


def replace_files(
    log: DeltaLog, rows: DataFrame, replaced: RowRange, user_metadata: str
) -> int | None:
    """Replaces the rows of a range in one commit; returns the table's version after it.

    rows: with the table's columns; all of them in the range.

    None, and nothing is written, where there is no checksum of the newest version or it does not
    name the files. No rows in place of none make no commit. Raises ValueError for rows outside the
    range, and what Delta raises where a process commits at the same time.
    """
    transaction = log.java_log.startTransaction(log.nothing, log.nothing)
    version = int(transaction.readVersion())
    files = listed_files(log, version)
    if files is None:
        return None
    log.track_read(transaction, replaced.sql)
    actions = [json.loads(each) for each in log.written_files(transaction, rows)]
    for action in actions:
        if not replaced.holds(action["add"]["partitionValues"]):
            raise ValueError(f"rows of {action['add']['path']} are not in {replaced.sql}")
    now = int(time.time() * 1000)
    actions += [
        {"remove": removed(each, now)} for each in files if replaced.holds(each["partitionValues"])
    ]
    if not actions:
        return version
    return log.commit(
        transaction, [json.dumps(each) for each in actions], replaced.sql, user_metadata
    )


def removed(add: Mapping[str, Any], now: int) -> dict[str, Any]:
    """The `remove` of a file. now: Unix milliseconds."""
    kept = {name: add[name] for name in _KEPT if add.get(name) is not None}
    return {**kept, "deletionTimestamp": now, "dataChange": True, "extendedFileMetadata": True}
