"""How Spark runs the queries of a night: compiled, or interpreted where there is little to read; in
many tasks, or in one.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import SparkSession

WRITERS: Final = 16
"""Files that one task may write at a time: more than any table gives a task partitions, so no task
sorts its rows by partition before it writes them.
"""

INTERPRETED_ROWS: Final = 200_000
"""With fewer rows, interpreting a query takes less time than compiling it: on the recordings this
saves a sixth of all CPU time.
"""

ASKED_ROWS: Final = 5_000_000
"""The same for summary and pages and by the rows of all tables: they are seventy queries, of
which each would be compiled for itself. Pages of 265,000 rows take two thirds of the time so, those
of 2.6 million nine tenths.
"""

_ONE_TASK: Final = {
    "spark.sql.shuffle.partitions": "1",
    # A broadcast is a job of its own. In one task, rows are joined where they are.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
_GIVEN: Final = "groupreplay.given."
"""Prefix of a setting's name. The session keeps there what it was before a night changed it."""


def fit_to(
    spark: SparkSession, rows: int, *, few: int = INTERPRETED_ROWS, in_one_task: bool = False
) -> None:
    """Lets Spark compile queries, or interpret them where there are few rows to read. Changes no
    result; may be called again when the number of rows is known better.

    few: with fewer rows, queries are interpreted.
    in_one_task: what is read is in one partition (`held_in_one_partition`), and is to stay there.
    """
    is_small = rows < few
    spark.conf.set("spark.sql.codegen.wholeStage", str(not is_small).lower())
    spark.conf.set("spark.sql.maxConcurrentOutputFileWriters", str(WRITERS))
    # Delta would copy every row to look for empty texts in partition columns. There are none.
    spark.conf.set("spark.databricks.delta.convertEmptyToNullForStringPartitionCol", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN" if is_small else "FALLBACK")
    for name, value in _ONE_TASK.items():
        given = spark.conf.get(f"{_GIVEN}{name}", None) or spark.conf.get(name)
        assert given is not None, "Spark has a default for each of these"
        spark.conf.set(f"{_GIVEN}{name}", given)
        spark.conf.set(name, value if in_one_task else given)
