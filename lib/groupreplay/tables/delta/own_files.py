"""A shortcut: a few rows of a partition written by Delta's transaction, without Spark's writer.

Spark's writer first looks for the files that it replaces, by a job over the state of the whole log.
That takes half of the time of a commit of one row. Whoever made the newest commit of a partition
knows its files: its log names them. Delta makes the transaction: it finds what other processes did
at the same time, and writes checkpoint and checksum.

Source: the Delta protocol, "Add File and Remove File" and "Transaction Identifiers";
`OptimisticTransaction` of Delta 4.4.
"""

from __future__ import annotations

import io
import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from groupreplay.tables.delta.checksum_files import removed
from groupreplay.tables.delta.delta_log import DeltaLog


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """The data files of one partition, none or more.

    version: of the table in which they are all that the partition has.
    folder: of the partition, below the table and as a URI.
    values: partition column -> value, as the log has it.
    adds: their `add` actions; None where they are not known.
    """

    version: int
    folder: str
    values: Mapping[str, str]
    adds: tuple[Mapping[str, Any], ...] | None

    def after(self, log: DeltaLog, version: int) -> OwnFiles:
        """The partition after a commit that replaced all of it."""
        actions = log.commit_actions(version)
        adds = None if actions is None else tuple(each["add"] for each in actions if "add" in each)
        return OwnFiles(version, self.folder, self.values, adds)

    def are_there(self, log: DeltaLog, version: int) -> bool:
        """Whether no commit up to this version took one of them away."""
        own = {each["path"] for each in self.adds or ()}
        for later in range(self.version + 1, version + 1) if own else ():
            actions = log.commit_actions(later)
            if actions is None or any(
                each["remove"]["path"] in own for each in actions if "remove" in each
            ):
                return False
        return True


def partition_files(
    log: DeltaLog, version: int, values: Mapping[str, str], *, is_empty: bool
) -> OwnFiles:
    """What is known of a partition's files before this process has committed any.

    is_empty: whether it has no rows in this version of the table.
    """
    return OwnFiles(version, log.partition_folder(values), values, () if is_empty else None)


def commit_rows(
    log: DeltaLog,
    own: OwnFiles,
    rows: pa.Table,
    transaction_id: tuple[str, int],
    operation: tuple[str, str],
) -> int | None:
    """Replaces the rows of a partition in one commit and returns its version.

    rows: as a file of the table holds them.
    transaction_id: name of the writer and number of the commit, one above its last one.
    operation: predicate and userMetadata that the log shows.

    None, and nothing is written, where the files are not known, and where another process has
    committed with that name or took one of them away. Raises what Delta raises where a process
    commits at the same time.
    """
    transaction = log.java_log.startTransaction(log.nothing, log.nothing)
    app_id, number = transaction_id
    is_newest = log.track_transaction(transaction, app_id) == number - 1
    if not is_newest or own.adds is None or not own.are_there(log, transaction.readVersion()):
        return None
    now = int(time.time() * 1000)
    actions: list[dict[str, Any]] = [{"remove": removed(each, now)} for each in own.adds]
    actions.append({"add": _written(log, own, rows, now)})
    actions.append({"txn": {"appId": app_id, "version": number, "lastUpdated": now}})
    return log.commit(transaction, [json.dumps(each) for each in actions], *operation)


def _written(log: DeltaLog, own: OwnFiles, rows: pa.Table, now: int) -> dict[str, Any]:
    """The `add` of a new file with these rows."""
    content = io.BytesIO()
    pq.write_table(rows, content)
    path = f"{own.folder}/part-00000-{uuid.uuid4()}.c000.snappy.parquet"
    log.write_new(path, content.getvalue())
    return {
        "path": path,
        "partitionValues": own.values,
        "size": content.tell(),
        "modificationTime": now,
        "dataChange": True,
        "stats": json.dumps({"numRecords": rows.num_rows}),
    }
