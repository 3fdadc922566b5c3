"""Named step: columns of Kafka Streams tasks, as every table of tasks has them.

Source: `TaskId.toString` of Kafka Streams. A task of a topology with a name is
`<topology>__<subtopology>_<partition>`, any other `<subtopology>_<partition>`; facts name the
subtopology as the part before the last underscore.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as sf

from groupreplay.report.joins.columns import integer

_NAMED: Final = r"(?s)\A(.+)__([0-9]+)\z"


def subtopology_columns() -> list[Column]:
    """topology (NULL unless it has a name), subtopology."""
    text = sf.col("subtopology")
    return [
        _part(text, 1).alias("topology"),
        sf.coalesce(_part(text, 2), text).alias("subtopology"),
    ]


def task_columns() -> list[Column]:
    """topology, subtopology, partition, task_id."""
    task = sf.concat_ws("_", "subtopology", sf.col("partition").cast("string"))
    return [*subtopology_columns(), integer("partition"), task.alias("task_id")]


def _part(text: Column, group: int) -> Column:
    return sf.nullif(sf.regexp_extract(text, _NAMED, group), sf.lit(""))
