"""The Spark session of a job: what must hold whatever a cluster's own settings say, and nothing
else.

Master, memory, jars come from spark-submit and conf/spark-*.conf. What is set here decides results,
or that Delta is there at all.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from groupreplay.errors import NotReady
from groupreplay.tables.delta.delta_jars import has_delta
from groupreplay.tables.java_members import look_up_once

_REQUIRED: Mapping[str, str] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Times are UTC, and every reader must see them alike: the old default INT96 has no statistics.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # By its newer way Spark's Kafka source looks for partitions among those that are not internal,
    # so it never finds any of __consumer_offsets.
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true",
    # Else PySpark sends Java, with every call of a column's method, the line of Python that made
    # it: ten calls for one, 30,000 of them in a night.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


def start_session(name: str, settings: Mapping[str, str] | None = None) -> SparkSession:
    """The session that spark-submit prepared, with what every job needs. Raises NotReady where
    Java, Spark or the Delta jars are missing.
    """
    # Workers run this Python unless a cluster says otherwise: a virtual environment of the driver
    # does not carry over by itself.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.Builder().appName(name)
    for key, value in {**_REQUIRED, **(settings or {})}.items():
        builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise NotReady(
            f"Spark did not start: {str(error).splitlines()[0]}",
            "look above for Java's own words; Java 17 is needed",
        ) from error
    look_up_once(spark)
    if not has_delta(spark):
        spark.stop()
        raise NotReady(
            "the Delta jars are not on Spark's class path",
            "run make setup, or name a folder that holds them in GROUPREPLAY_JARS",
        )
    return spark
