"""The rows that one commit added, read from the files that it names, without asking Delta for them.

Delta finds the files of each scan by a Spark job over the state of the whole table, in its rule
`PrepareDeltaScan`: a tenth of a second, whatever the size, and a summary and pages have seventy
scans. What the actions of a commit hold is fixed by Delta's PROTOCOL.md, "Actions".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import unquote

from pyspark.sql import DataFrame

from groupreplay.tables.delta.delta_log import DeltaLog, is_of_run, metadata_of
from groupreplay.tables.schemas import TableSchema

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
    paths = _paths(log.path, actions)
    if not paths:
        return None
    # The names of folders hold the partition columns. Spark would put these last.
    reader = log.spark.read.schema(schema.struct).option("basePath", log.path)
    return reader.parquet(*paths).select(*schema.struct.names)


def _paths(root: str, actions: Iterable[Mapping[str, Any]]) -> list[str]:
    """The files that these actions add; none where Spark could not read them as they are."""
    added = [action["add"] for action in actions if "add" in action]
    paths = [f"{root}/{unquote(each['path'])}" for each in added]
    has_deleted_rows = any(each.get("deletionVector") is not None for each in added)
    return [] if has_deleted_rows or any(_PATTERN & set(path) for path in paths) else paths
