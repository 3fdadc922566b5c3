"""How Spark runs the queries of a night: compiled, or interpreted where there is little to read."""

from __future__ import annotations

from pyspark.sql import SparkSession

WRITERS = 16
"""Files that one task may write at a time. No table gives a task so many partitions, so none sorts
its rows by partition before it writes them.
"""

SMALL_ROWS = 200_000
"""Fewer rows than this are read by an interpreter before a compiler is done with the query: on the
recordings it saves a sixth of all CPU time.
"""


def fit_to(spark: SparkSession, rows: int) -> None:
    """Lets Spark compile queries, or interpret them where there are few rows to read. Decides no
    result; may be called again when more is known.
    """
    is_small = rows < SMALL_ROWS
    spark.conf.set("spark.sql.codegen.wholeStage", str(not is_small).lower())
    spark.conf.set("spark.sql.maxConcurrentOutputFileWriters", str(WRITERS))
    # No column that a table is partitioned by is ever an empty text, and looking for one copies
    # every row.
    spark.conf.set("spark.databricks.delta.convertEmptyToNullForStringPartitionCol", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN" if is_small else "FALLBACK")
