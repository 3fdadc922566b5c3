"""One table's Delta log, asked through the JVM: versions cost milliseconds here and a Spark job by
DESCRIBE.

The only module that calls Delta's internal classes; names and signatures are those of 4.4.0, and
tests/tables pins each call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from groupreplay.tables.delta import local_files

NO_TRANSACTION: Final = -1
"""In place of a txnVersion, as Delta has it."""


class DeltaLog:
    """The log of the table at `path` (directory or URI), whether or not there is one."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark, self.path = spark, path
        jvm: Any = spark._jvm
        self.jvm = jvm
        # By its whole name: Java is asked for each part of one that is written with dots.
        self.java_log = getattr(jvm, "org.apache.spark.sql.delta.DeltaLog").forTable(
            spark._jsparkSession, path
        )
        self.java_path = getattr(jvm, "org.apache.hadoop.fs.Path")
        self.nothing = getattr(jvm, "scala.Option").empty()

    def local_folder(self) -> str | None:
        """The folder of the log's files, None where it is not on a local file system."""
        place = self.java_log.logPath()
        system = place.getFileSystem(self.spark._jsc.hadoopConfiguration())
        return str(place.toUri().getPath()) if system.getScheme() == "file" else None

    def snapshot(self) -> Snapshot:
        """The newest snapshot; lists the log and reads no more than it must."""
        return Snapshot(self.java_log.update(False, self.nothing, self.nothing), self)

    def replace_text(self, path: str, text: str) -> None:
        """Writes a file, wherever it is, in place of the one that is there: readers see the one or
        the other.

        Through Delta's own LogStore, which knows how each file system does that; but for local
        files, which it deletes before it renames.
        """
        place, configuration = (
            self.java_path(path),
            self.java_log.newDeltaHadoopConf(),
        )
        system = place.getFileSystem(configuration)
        system.mkdirs(place.getParent())
        if system.getScheme() == "file":
            local_files.replace_text(place.toUri().getPath(), text)
            return
        lines = self.jvm.java.util.ArrayList()
        for line in text.splitlines():
            lines.add(line)
        self.java_log.store().write(
            place,
            self.jvm.scala.jdk.javaapi.CollectionConverters.asScala(lines.iterator()),
            True,
            configuration,
        )

    def read_text(self, path: str) -> str | None:
        """The text of a file, None where there is none."""
        place = self.java_path(path)
        system = place.getFileSystem(self.spark._jsc.hadoopConfiguration())
        if not system.exists(place):
            return None
        stream = system.open(place)
        try:
            return bytes(stream.readAllBytes()).decode("utf-8")
        finally:
            stream.close()

    def partition_folder(self, values: Mapping[str, str]) -> str:
        """The folder of a partition below the table, as a URI: as Spark's writer names it.

        values: partition column -> value as the log has it.
        """
        names = getattr(self.jvm, "org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils")
        parts = [f"{key}={names.escapePathName(value)}" for key, value in values.items()]
        return str(self.java_path("/".join(parts)).toUri().toString())

    def write_new(self, path: str, content: bytes) -> None:
        """Writes a data file that is not there yet. path: below the table, as a URI."""
        place = self.java_path(
            self.java_log.dataPath(), self.java_path(self.jvm.java.net.URI(path))
        )
        system = place.getFileSystem(self.java_log.newDeltaHadoopConf())
        stream = system.create(place, False)
        try:
            stream.write(content)
        finally:
            stream.close()

    def commit(
        self, transaction: Any, actions: Sequence[str], predicate: str, user_metadata: str
    ) -> int:
        """Commits an OptimisticTransaction as an overwrite of what holds the predicate; returns
        the version. Raises the exceptions of `delta.exceptions`.

        actions: JSON of each action but commitInfo, by Delta's PROTOCOL.md.
        """
        of_delta = "org.apache.spark.sql.delta"
        from_json = getattr(self.jvm, f"{of_delta}.actions.Action").fromJson
        some, none = getattr(self.jvm, "scala.Option").apply, self.nothing
        operation = getattr(self.jvm, f"{of_delta}.DeltaOperations$Write")(
            getattr(self.jvm, "org.apache.spark.sql.SaveMode").Overwrite,
            *(none, some(predicate), some(user_metadata)),
            *(none, none, none, none, none),
        )
        listed = self._as_scala(map(from_json, actions))
        return int(transaction.commit(listed, operation))

    def _as_scala(self, values: Iterable[Any]) -> Any:
        """A list of Scala."""
        listed = self.jvm.java.util.ArrayList()
        for value in values:
            listed.add(value)
        return self.jvm.scala.jdk.javaapi.CollectionConverters.asScala(listed).toList()

    def checksum(self, version: int) -> dict[str, Any]:
        """The version checksum that Delta left of a version, by its protocol; {} where there is
        none that can be read.
        """
        text = self.read_text(f"{self.java_log.logPath().toString()}/{version:020d}.crc")
        try:
            value = json.loads(text or "{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def transaction_versions(self, version: int) -> dict[str, int] | None:
        """The last txnVersion of each txnAppId, by the checksum of a version; None where it does
        not name them.
        """
        known = self.checksum(version).get("setTransactions")
        return None if known is None else {each["appId"]: int(each["version"]) for each in known}

    def track_transaction(self, transaction: Any, app_id: str) -> int:
        """The last txnVersion of a txnAppId as an OptimisticTransaction sees it, NO_TRANSACTION for
        none; another one that is committed meanwhile is a conflict.
        """
        known = self.transaction_versions(int(transaction.readVersion()))
        if known is None:
            return int(transaction.txnVersion(app_id))
        transaction.readTxn().addOne(app_id)
        return known.get(app_id, NO_TRANSACTION)

    def written_files(self, transaction: Any, rows: DataFrame) -> list[str]:
        """Writes rows as data files of a table, in an OptimisticTransaction that has yet to commit
        them; returns the JSON of their actions. The table's columns and conditions hold for them.
        """
        files = transaction.writeFiles(rows._jdf)
        return [str(files.apply(place).json()) for place in range(files.size())]

    def track_read(self, transaction: Any, predicate: str) -> None:
        """Notes what an OptimisticTransaction has read: a commit that changes it meanwhile is a
        conflict. predicate: over partition columns.
        """
        parser = self.spark._jsparkSession.sessionState().sqlParser()
        transaction.trackReadPredicates(
            self._as_scala([parser.parseExpression(predicate)]), False, True
        )

    def names_in(self, folder: str) -> list[str]:
        """Names of files and folders in a folder, wherever it is; none where there is no folder."""
        place = self.java_path(folder)
        system = place.getFileSystem(self.spark._jsc.hadoopConfiguration())
        if not system.exists(place):
            return []
        return sorted(each.getPath().getName() for each in system.listStatus(place))

    def delete(self, path: str) -> None:
        """Deletes a file, or a folder with all that is in it."""
        place = self.java_path(path)
        system = place.getFileSystem(self.spark._jsc.hadoopConfiguration())
        system.delete(place, True)

    def stray_files(self) -> list[str]:
        """Names of what lies in the table's folder but for its log and hidden files: with no log,
        data that nobody can read any more.
        """
        path = self.java_path(self.path)
        system = path.getFileSystem(self.spark._jsc.hadoopConfiguration())
        names = (
            [each.getPath().getName() for each in system.listStatus(path)]
            if system.exists(path)
            else []
        )
        return [name for name in names if not name.startswith(("_", "."))]

    def are_there(self, files: Sequence[str]) -> bool:
        """Whether all these files, as URIs, exist."""
        configuration = self.spark._jsc.hadoopConfiguration()
        paths = [self.java_path(self.jvm.java.net.URI(file)) for file in files]
        return all(path.getFileSystem(configuration).exists(path) for path in paths)

    def commit_actions(self, version: int) -> Iterator[dict[str, Any]] | None:
        """The actions of the commit of this version, by Delta's PROTOCOL.md; None where the log has
        been cleaned of it.
        """
        text = self.read_text(f"{self.java_log.logPath().toString()}/{version:020d}.json")
        return None if text is None else map(json.loads, text.splitlines())

    def commit_metadata(self, version: int) -> dict[str, Any] | None:
        """The userMetadata that was given to the commit of this version, {} for none that is a JSON
        mapping; None where the log has been cleaned of it.
        """
        actions = self.commit_actions(version)
        return None if actions is None else metadata_of(actions)


class Snapshot:
    """A table as one version of its log leaves it. version is -1 where there is no table."""

    def __init__(self, snapshot: Any, log: DeltaLog) -> None:
        self._snapshot, self._log = snapshot, log
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

    def files(self) -> DataFrame:
        """One row for each data file: its path, size in bytes, partitionValues, and what else the
        log says of it.
        """
        return DataFrame(self._snapshot.allFiles().toDF(), self._log.spark)

    def count_files(self) -> int:
        """How many data files it has. Delta reads the whole log for it, and keeps what it read for
        the writes that follow on this version.
        """
        return int(self._snapshot.numOfFiles())

    def size_bytes(self) -> int:
        """Size of all its data files."""
        known = self._log.checksum(self.version).get("tableSizeBytes")
        return int(self._snapshot.sizeInBytes()) if known is None else int(known)

    def transaction(self, app_id: str) -> int:
        """The last txnVersion of this txnAppId, -1 for none."""
        known = self._log.transaction_versions(self.version)
        if known is not None:
            return known.get(app_id, NO_TRANSACTION)
        found = self._snapshot.transactions().get(app_id)
        return int(found.get()) if found.isDefined() else NO_TRANSACTION


def metadata_of(actions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The userMetadata of a commit, {} for none that is a JSON mapping."""
    infos = (action["commitInfo"] for action in actions if action.get("commitInfo") is not None)
    info: Mapping[str, Any] = next(infos, {})
    try:
        value = json.loads(info.get("userMetadata") or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def is_of_run(metadata: Mapping[str, Any], user_metadata: Mapping[str, Any]) -> bool:
    """Whether a commit is that of a run's step.

    metadata: of the commit.
    user_metadata: what the step gives its commits; run_id and step count.
    """
    sought = {key: user_metadata[key] for key in ("run_id", "step")}
    return sought.items() <= metadata.items()
