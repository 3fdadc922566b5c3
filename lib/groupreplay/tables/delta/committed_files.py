"""A shortcut: rows that are read from the files that Delta's log names, without asking Delta.

Delta finds the files of each scan by a Spark job over the state of the whole table, in its rule
`PrepareDeltaScan`: a tenth of a second, whatever the size, and a summary and pages have seventy
scans. Of a new version it first makes that state, by another job. What the actions of a commit and
a checksum hold is fixed by Delta's PROTOCOL.md, "Actions" and "Version Checksum File".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from groupreplay.tables.delta.checksum_files import listed_files
from groupreplay.tables.delta.delta_log import DeltaLog, is_of_run, metadata_of
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.schemas import TableSchema

PATHS_MAX: Final = 32
"""Spark lists more paths by a job: `spark.sql.sources.parallelPartitionDiscovery.threshold`."""

_PATTERN: Final = frozenset("{}[]*?\\")
"""Spark takes a path with one of these for a pattern."""


def committed_rows(
    log: DeltaLog, schema: TableSchema, version: int, user_metadata: Mapping[str, Any]
) -> DataFrame | None:
    """The rows that the commit of this version added.

    None where they cannot be read so: the commit added none, is another run's, was cleaned away, or
    marked rows of its files as deleted; or a path is one that Spark takes for a pattern.

    user_metadata: what that commit was given; run_id and step count.
    """
    actions = list(log.commit_actions(version) or ())
    if not is_of_run(metadata_of(actions), user_metadata):
        return None
    added = [action["add"] for action in actions if "add" in action]
    return _rows(log, schema, added) if added else None


def listed_rows(log: DeltaLog, schema: TableSchema, version: int, of: RowRange) -> DataFrame | None:
    """The rows of a range in a version of the table.

    None where they cannot be read so: the checksum of the version does not name the files, they are
    many, one is missing, or as in `committed_rows`.
    """
    files = listed_files(log, version)
    if files is None:
        return None
    held = [each for each in files if of.holds(each["partitionValues"])]
    if not held:
        return schema.no_rows(log.spark)
    try:
        return _rows(log, schema, held) if len(held) <= PATHS_MAX else None
    except AnalysisException:
        return None


def _rows(
    log: DeltaLog, schema: TableSchema, added: Sequence[Mapping[str, Any]]
) -> DataFrame | None:
    """The rows of the files of these `add` actions; None where Spark could not read them as they
    are.
    """
    paths = [f"{log.path}/{unquote(each['path'])}" for each in added]
    has_deleted_rows = any(each.get("deletionVector") is not None for each in added)
    if has_deleted_rows or any(_PATTERN & set(path) for path in paths):
        return None
    # The names of folders hold the partition columns. Spark would put these last.
    reader = log.spark.read.schema(schema.struct).option("basePath", log.path)
    return reader.parquet(*paths).select(*schema.struct.names)
