"""Whether Spark has Delta at all."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


def has_delta(spark: SparkSession) -> bool:
    """Whether Spark can load Delta's classes and those of its storage jar."""
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        for name in ("org.apache.spark.sql.delta.DeltaLog", "io.delta.storage.LogStore"):
            jvm.java.lang.Class.forName(name, False, loader)
    except Exception as error:  # noqa: BLE001  (py4j wraps ClassNotFoundException and its kin)
        return "ClassNotFoundException" not in str(error) and "NoClassDefFoundError" not in str(
            error
        )
    return True
