"""Small text files beside the tables, and whether the warehouse can be written at all: through
Hadoop's file systems, as Spark itself goes.
"""

from __future__ import annotations

import uuid
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from groupreplay.errors import NotReady


def write_text(spark: SparkSession, path: str, text: str) -> None:
    """Writes a file, in place of the one that is there."""
    system, place = file_system(spark, path)
    stream = system.create(place, True)
    try:
        stream.write(bytearray(text.encode("utf-8")))
    finally:
        stream.close()


def check_writable(spark: SparkSession, root: str) -> None:
    """Raises NotReady unless a file can be made below `root`, and removed again. Leaves no folder
    that was not there.
    """
    path = f"{root}/_probe-{uuid.uuid4().hex}"
    try:
        system, folder = file_system(spark, root)
        is_new = not system.exists(folder)
        write_text(spark, path, "")
        system.delete(file_system(spark, path)[1], False)
        if is_new:
            system.delete(folder, False)
    except Py4JJavaError as error:
        raise NotReady(
            f"the warehouse {root} cannot be written: {_first_line(error)}",
            "give access, or another warehouse in the configuration",
        ) from error


def file_system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Hadoop's file system of the path, and the path as it knows it."""
    place = spark._jvm.org.apache.hadoop.fs.Path(path)  # type: ignore[union-attr]
    return place.getFileSystem(spark._jsc.hadoopConfiguration()), place


def first_cause(error: Py4JJavaError) -> str:
    """What the innermost exception of Java says, with its class."""
    cause = error.java_exception
    while (deeper := cause.getCause()) is not None:
        cause = deeper
    return str(cause.toString())


def _first_line(error: Py4JJavaError) -> str:
    return str(error.java_exception.toString()).splitlines()[0]
