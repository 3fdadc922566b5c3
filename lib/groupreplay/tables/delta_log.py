"""One table's Delta log, asked through the JVM: versions cost milliseconds here and a Spark job by DESCRIBE.

The only module that calls Delta's internal classes; names and signatures are those of 4.4.0, and tests/tables pins each call.
"""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType


class DeltaLog:
    """The log of the table at `path` (directory or URI), whether or not there is one."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark, self.path = spark, path
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)

    def snapshot(self) -> Snapshot:
        """The newest snapshot; lists the log and reads no more than it must."""
        nothing = self._jvm.scala.Option.empty()
        return Snapshot(self._log.update(False, nothing, nothing))

    def stray_files(self) -> list[str]:
        """Names of what lies in the table's folder but for its log and hidden files: with no log, data that nobody can read any more."""
        path = self._jvm.org.apache.hadoop.fs.Path(self.path)
        system = path.getFileSystem(self.spark._jsc.hadoopConfiguration())
        names = [each.getPath().getName() for each in system.listStatus(path)] if system.exists(path) else []
        return [name for name in names if not name.startswith(("_", "."))]

    def commit_metadata(self, version: int) -> dict[str, Any]:
        """The userMetadata that was given to the commit of this version, {} for none that is a JSON mapping."""
        path = self._jvm.org.apache.hadoop.fs.Path(self._log.logPath(), f"{version:020d}.json")
        stream = path.getFileSystem(self.spark._jsc.hadoopConfiguration()).open(path)
        try:
            text = bytes(stream.readAllBytes()).decode("utf-8")
        finally:
            stream.close()
        for line in text.splitlines():
            info = json.loads(line).get("commitInfo")
            if info is not None:
                return _mapping(info.get("userMetadata"))
        return {}


class Snapshot:
    """A table as one version of its log leaves it. version is -1 where there is no table."""

    def __init__(self, snapshot: Any) -> None:
        self._snapshot = snapshot
        self.version: int = snapshot.version()

    @property
    def struct(self) -> StructType:
        return StructType.fromJson(json.loads(self._snapshot.schema().json()))

    @property
    def partition_columns(self) -> tuple[str, ...]:
        columns = self._snapshot.metadata().partitionColumns()
        return tuple(columns.apply(place) for place in range(columns.size()))

    @property
    def protocol(self) -> tuple[int, int]:
        """(reader, writer) version."""
        protocol = self._snapshot.protocol()
        return protocol.minReaderVersion(), protocol.minWriterVersion()

    def transaction(self, app_id: str) -> int:
        """The last txnVersion of this txnAppId, -1 for none."""
        found = self._snapshot.transactions().get(app_id)
        return int(found.get()) if found.isDefined() else -1


def _mapping(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
