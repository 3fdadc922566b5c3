"""Rows of a table as a file for who has no reader of Delta: CSV, JSON lines or Parquet, through
Hadoop's file systems, as Spark itself goes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import (
    ArithmeticException,
    DateTimeException,
    NumberFormatException,
    PySparkException,
)
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StructType

from groupreplay.errors import ConfigError, NotReady
from groupreplay.tables.delta.damage import damaged_table, lack_of_space
from groupreplay.tables.storage import file_system, first_cause

CSV, PARQUET, JSON = "csv", "parquet", "json"
FORMATS: Final = (CSV, PARQUET, JSON)

_TIMES: Final = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"
_OPTIONS: Final[dict[str, dict[str, str]]] = {
    # As RFC 4180 has it: quotes inside of a quoted text are doubled. NULL is nothing, an empty text
    # is "".
    CSV: {
        "header": "true",
        "escape": '"',
        "quote": '"',
        "nullValue": "",
        "emptyValue": '""',
        "timestampFormat": _TIMES,
    },
    JSON: {"ignoreNullFields": "false", "timestampFormat": _TIMES},
    PARQUET: {},
}


def chosen(rows: DataFrame, name: str, where: str | None) -> DataFrame:
    """The rows of the table `name` for which the condition holds, in Spark's SQL, which may name
    the table itself in a query inside. Raises ConfigError for one that cannot be.
    """
    if where is None:
        return rows
    rows.createOrReplaceTempView(name)
    try:
        return rows.where(where)
    except PySparkException as error:
        raise ConfigError("--where", "", _first_line(error)) from error


def export(rows: DataFrame, form: str, path: str) -> int:
    """Writes the rows to `path`, which must not be there: one file, or, where `path` ends with a
    slash, a folder of as many files as Spark likes. Gives how many rows there are.

    form: one of FORMATS. Times are ISO 8601 in UTC. In CSV lists, mappings and structs are JSON,
    and bytes hex digits. Raises ConfigError where something is there, NotReady where nothing can be
    written.
    """
    spark, counted = rows.sparkSession, Observation()
    folder = path if path.endswith("/") else f"{path}.{uuid.uuid4().hex}"
    frame = rows.observe(counted, sf.count(sf.lit(1)).alias("rows"))
    written = _flat(frame) if form == CSV else frame
    try:
        system, place = file_system(spark, path)
        if system.exists(place):
            raise ConfigError("--to", "", f"{path} is there already; remove it, or name another")
        with _without_checksums(system):
            if folder == path:
                _save(written, form, path)
            else:
                try:
                    _save(written.coalesce(1), form, folder)
                    _move_file(spark, folder, path)
                finally:
                    system.delete(file_system(spark, folder)[1], True)
    except (ArithmeticException, DateTimeException, NumberFormatException) as error:
        raise ConfigError("--where", "", _first_line(error)) from error
    except (Py4JJavaError, PySparkException) as error:
        if lack_of_space(error) or damaged_table(error):
            raise
        why = _first_line(error)
        raise NotReady(
            f"{path} cannot be written: {why}", "give access, or name another"
        ) from error
    return int(counted.get["rows"])


def _save(rows: DataFrame, form: str, folder: str) -> None:
    rows.write.format(form).options(**_OPTIONS[form]).save(folder)


@contextmanager
def _without_checksums(system: Any) -> Iterator[None]:
    """Local files get none beside them: nobody who reads an export looks for `.name.crc`."""
    system.setWriteChecksum(False)
    try:
        yield
    finally:
        system.setWriteChecksum(True)


def _move_file(spark: SparkSession, folder: str, path: str) -> None:
    """The one file of rows in the folder to its place."""
    system, place = file_system(spark, folder)
    names = [status.getPath() for status in system.listStatus(place)]
    (file,) = (name for name in names if name.getName().startswith("part-"))
    if not system.rename(file, file_system(spark, path)[1]):
        raise NotReady(f"{path} cannot be written", "give access, or name another")


def _flat(rows: DataFrame) -> DataFrame:
    """With what no cell of CSV can hold as text."""
    return rows.select(
        *[_cell(field.name, field.dataType).alias(field.name) for field in rows.schema]
    )


def _cell(name: str, kind: DataType) -> Any:
    column = sf.col(f"`{name}`")
    if isinstance(kind, (ArrayType, MapType, StructType)):
        times = {"timestampFormat": _TIMES, "ignoreNullFields": "false"}
        return sf.to_json(column, times)
    return sf.hex(column) if isinstance(kind, BinaryType) else column


def _first_line(error: Exception) -> str:
    """An error of Java has causes: the first one says what is wrong, all others that a job was
    aborted.
    """
    said = first_cause(error) if isinstance(error, Py4JJavaError) else str(error)
    return next(line.strip() for line in said.splitlines() if line.strip())
