"""How Spark runs the queries of a night: compiled, or interpreted where there is little to read."""

from __future__ import annotations

from pyspark.sql import SparkSession

WRITERS = 16
"""Files that one task may write at a time: more than any table gives a task partitions, so no task
sorts its rows by partition before it writes them.
"""

SMALL_ROWS = 200_000
"""With fewer rows, interpreting a query takes less time than compiling it: on the recordings this
saves a sixth of all CPU time.
"""


def fit_to(spark: SparkSession, rows: int) -> None:
    """Lets Spark compile queries, or interpret them where there are few rows to read. Changes no
    result; may be called again when the number of rows is known better.
    """
    is_small = rows < SMALL_ROWS
    spark.conf.set("spark.sql.codegen.wholeStage", str(not is_small).lower())
    spark.conf.set("spark.sql.maxConcurrentOutputFileWriters", str(WRITERS))
    # Delta would copy every row to look for empty texts in partition columns. There are none.
    spark.conf.set("spark.databricks.delta.convertEmptyToNullForStringPartitionCol", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN" if is_small else "FALLBACK")
