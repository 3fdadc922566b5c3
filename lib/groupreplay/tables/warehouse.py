"""A warehouse: a folder of Delta tables, one per file in schemas/. The only code that creates,
reads and writes them.

Internal tables have a folder of their own where the others hide who the clients are. A write is one
commit. Every table holds rows of all clusters, so each write names what it replaces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, StructField, StructType

from groupreplay.errors import SchemaDrift, WarehouseDamaged
from groupreplay.shortcuts import CHECKSUM_FILES, COMMITTED_FILES, FIRST_VERSION, is_on
from groupreplay.tables.delta.checksum_files import listed_files, replace_files
from groupreplay.tables.delta.committed_files import PATHS_MAX, committed_rows, listed_rows
from groupreplay.tables.delta.damage import damage_of, guarded
from groupreplay.tables.delta.delta_log import DeltaLog, Snapshot, is_of_run
from groupreplay.tables.delta.first_version import write_first_version
from groupreplay.tables.delta.own_files import OwnFiles, commit_rows
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.schemas import (
    ALWAYS,
    INTERNAL,
    OPTIONAL,
    READER_VERSION,
    STAGING,
    TABLES,
    WRITER_VERSION,
    TableSchema,
    ddl_text,
    table_schema,
)

_THREADS = 4
"""Driver threads for what is done to every table: the work is Spark's planning on the driver, so
more than its cores gain nothing.
"""


NO_VERSION: Final = -1


class _Found(NamedTuple):
    """A table as it was found.

    added: nullable columns that it has yet to get.
    is_outdated: a staging table of another version.
    """

    exists: bool
    added: list[StructField]
    is_outdated: bool


class Warehouse:
    """The tables below `root` (directory or URI), as one cluster's run sees them.

    private_root: directory or URI of the internal tables, None if it is the same.
    """

    def __init__(
        self, spark: SparkSession, root: str, cluster: str, private_root: str | None = None
    ) -> None:
        self.spark, self.root, self.cluster = spark, root.rstrip("/"), cluster
        self.private_root = self.root if private_root is None else private_root.rstrip("/")
        self._logs: dict[str, DeltaLog] = {}

    def root_of(self, name: str) -> str:
        return self.private_root if name in INTERNAL else self.root

    def path(self, name: str) -> str:
        return f"{self.root_of(name)}/{name}"

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders of tables, each once."""
        return tuple(dict.fromkeys((self.root, self.private_root)))

    def schema(self, name: str) -> TableSchema:
        """The schema in schemas/<name>.sql."""
        return table_schema(self.spark, name)

    def exists(self, name: str) -> bool:
        return self.version(name) >= 0

    def version(self, name: str) -> int:
        """The newest version of the table, -1 where there is none. Raises WarehouseDamaged."""
        return self._snapshot(name).version

    def size_bytes(self, name: str) -> int:
        """Size of all data files of the newest version. Raises WarehouseDamaged."""
        return self._snapshot(name).size_bytes()

    def create_all(self, names: Sequence[str] | None = None) -> None:
        """Makes the tables that are missing, adds nullable columns that are new in a file, and
        empties a staging table of another version.

        names: None: the tables of every warehouse, and the optional ones that are there.

        Every table is looked at before any is touched. Raises SchemaDrift for one that is otherwise
        not what its file says, WarehouseDamaged for one that cannot be read.
        """
        schemas = [self.schema(name) for name in (self._expected() if names is None else names)]
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(self._bring_up, schemas, list(threads.map(self._found, schemas))))

    def check_all(self, names: Sequence[str] = ALWAYS) -> None:
        """For those who only read. Raises WarehouseDamaged for a table that is not there or cannot
        be read, SchemaDrift as `create_all` does.
        """
        with ThreadPoolExecutor(_THREADS) as threads:
            for name, found in zip(
                names, threads.map(lambda name: self._found(self.schema(name)), names), strict=True
            ):
                if not found.exists:
                    raise damage_of(self.root_of(name), name, "it is not there")

    def read(self, name: str, version: int | None = None) -> DataFrame:
        """All rows of all clusters, at a version or now; columns that it did not have yet are NULL.
        What is damaged shows only when the frame is used: see `damage.damaged_table`.
        """
        reader = self.spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        with guarded(self.root_of(name), name):
            frame = reader.load(self.path(name))
        there = set(frame.columns) if version is not None else set(self.schema(name).struct.names)
        added = {
            field.name: sf.lit(None).cast(field.dataType)
            for field in self.schema(name).struct
            if field.name not in there
        }
        return frame.withColumns(added) if added else frame

    def rows(self, name: str, of: RowRange, version: int | None = None) -> DataFrame:
        """The rows of a range, at a version or now. What is damaged shows as with `read`."""
        if is_on(COMMITTED_FILES):
            at = self.version(name) if version is None else version
            with guarded(self.root_of(name), name):
                listed = listed_rows(self.log(name), self.schema(name), at, of)
            if listed is not None:
                return listed
        return self.read(name, version).where(of.sql)

    def committed(
        self, name: str, version: int, user_metadata: Mapping[str, Any]
    ) -> DataFrame | None:
        """The rows that a run's step added in the commit of this version, where they can be read
        for less than what `read` costs; else None.

        user_metadata: what that commit was given; run_id and step count.
        """
        if not is_on(COMMITTED_FILES):
            return None
        return committed_rows(self.log(name), self.schema(name), version, user_metadata)

    def is_whole(self, name: str, version: int) -> bool:
        """Whether a version of the table can still be read: neither its log nor any of its files
        were cleaned up.
        """
        try:
            return self.log(name).are_there(self.read(name, version).inputFiles())
        except (WarehouseDamaged, PySparkException):
            return False

    def replace(
        self,
        name: str,
        frame: DataFrame,
        replaced: RowRange,
        user_metadata: Mapping[str, Any],
        options: Mapping[str, str] | None = None,
    ) -> int:
        """Replaces the rows of a range by the frame's, in one commit; returns the table's version
        after it.

        The frame is `shaped` first. An empty frame over an empty range makes no commit.

        options: further options of Delta's writer, None for none.
        """
        rows = self.shaped(name, frame)
        if options is None and is_on(CHECKSUM_FILES):
            with guarded(self.root_of(name), name):
                version = replace_files(self.log(name), rows, replaced, _as_text(user_metadata))
            if version is not None:
                return version
        # A table that was never written to has nothing to replace, and an append costs a third.
        is_new = self._snapshot(name).version == 0
        mode, how = ("append", {}) if is_new else ("overwrite", {"replaceWhere": replaced.sql})
        return self._write(name, rows, mode, {**how, **(options or {})}, user_metadata)

    def is_known(self, name: str, version: int, *, for_rows: bool) -> bool:
        """Whether `replace` knows without a job of Spark which files a version of the table has.

        for_rows: whether `rows` does, whatever the range.
        """
        files = listed_files(self.log(name), version)
        return files is not None and (
            (is_on(COMMITTED_FILES) and len(files) <= PATHS_MAX)
            if for_rows
            else is_on(CHECKSUM_FILES)
        )

    def replace_own(
        self,
        name: str,
        own: OwnFiles,
        rows: pa.Table,
        replaced: RowRange,
        user_metadata: Mapping[str, Any],
        transaction_id: tuple[str, int],
    ) -> int | None:
        """Replaces the rows of a partition whose files this process knows, in one commit; returns
        the table's version after it. None where it must be done by `replace`: see `commit_rows`.

        rows: as files of the table hold them.
        replaced: what the partition holds.
        transaction_id: name of the writer and number of the commit.
        """
        with guarded(self.root_of(name), name):
            operation = replaced.sql, _as_text(user_metadata)
            return commit_rows(self.log(name), own, rows, transaction_id, operation)

    def shaped(self, name: str, frame: DataFrame) -> DataFrame:
        """The frame's columns, cast to the table's as an assignment may, and in its order. Raises
        ValueError where one is missing.

        Shape a frame before you observe it: Spark does not merge the two steps in the other order,
        and would copy every row once more.
        """
        wanted, given = (
            _bare_struct(struct) for struct in (self.schema(name).struct, frame.schema)
        )
        if missing := sorted(set(wanted.names).difference(given.names)):
            raise ValueError(f"rows of {name} lack {', '.join(missing)}")
        # All columns in one call: a cast and a name for each are thousands of calls of Java in a
        # night. What must not be NULL is Delta's to refuse.
        return frame if given == wanted else frame.to(wanted)

    def version_of_run(self, name: str, user_metadata: Mapping[str, Any], above: int) -> int:
        """The version that a run's step made of a table, NO_VERSION where it made none.

        user_metadata: as that commit was given; run_id and step count.
        above: a version that is older.
        """
        log = self.log(name)
        for version in range(self.version(name), max(above, 0), -1):
            metadata = log.commit_metadata(version)
            if metadata is None:
                break
            if is_of_run(metadata, user_metadata):
                return version
        return NO_VERSION

    def replace_text(self, name: str, text: str) -> None:
        """Writes <root>/<name>, a small text beside the public tables, in place of what is there: a
        reader sees the one or the other.
        """
        self.log("runs").replace_text(f"{self.root}/{name}", text)

    def read_text(self, name: str) -> str:
        """What `replace_text` wrote, "" where there is nothing."""
        return self.log("runs").read_text(f"{self.root}/{name}") or ""

    def log(self, name: str) -> DeltaLog:
        if name not in self._logs:
            self._logs[name] = DeltaLog(self.spark, self.path(name))
        return self._logs[name]

    def _expected(self) -> list[str]:
        return [*ALWAYS, *(name for name in TABLES if name in OPTIONAL and self.exists(name))]

    def _snapshot(self, name: str) -> Snapshot:
        with guarded(self.root_of(name), name):
            return self.log(name).snapshot()

    def _write(
        self,
        name: str,
        rows: DataFrame,
        mode: str,
        options: Mapping[str, str],
        user_metadata: Mapping[str, Any],
    ) -> int:
        metadata = _as_text(user_metadata)
        with guarded(self.root_of(name), name):
            rows.write.format("delta").mode(mode).options(userMetadata=metadata, **options).save(
                self.path(name)
            )
            return self.log(name).snapshot().version

    def _found(self, schema: TableSchema) -> _Found:
        with guarded(self.root_of(schema.name), schema.name):
            snapshot = self.log(schema.name).snapshot()
            if snapshot.version < 0:
                # Delta would make a new table over what is left of the old one.
                if self.log(schema.name).stray_files():
                    raise damage_of(
                        self.root_of(schema.name),
                        schema.name,
                        "there are files in its place but no log of them",
                    )
                return _Found(False, [], False)
            differences, added = _compared(schema, snapshot)
        # Another protocol was given to it by somebody: a new version of the table would keep it.
        is_replaceable = schema.name in STAGING and snapshot.protocol == (
            READER_VERSION,
            WRITER_VERSION,
        )
        if differences and not is_replaceable:
            raise SchemaDrift(schema.name, differences)
        return _Found(True, added, bool(differences))

    def _bring_up(self, schema: TableSchema, found: _Found) -> None:
        """Makes the table what its file says."""
        with guarded(self.root_of(schema.name), schema.name):
            path = f"delta.`{self.path(schema.name).replace('`', '``')}`"
            create, ddl = f"CREATE TABLE IF NOT EXISTS {schema.name} ", ddl_text(schema.name)
            if not found.exists and is_on(FIRST_VERSION):
                write_first_version(self.log(schema.name), schema)
            elif not found.exists:
                self.spark.sql(ddl.replace(create, f"CREATE TABLE IF NOT EXISTS {path} "))
            elif found.is_outdated:
                self.spark.sql(ddl.replace(create, f"REPLACE TABLE {path} "))
            elif found.added:
                added = ", ".join(map(_as_ddl, found.added))
                self.spark.sql(f"ALTER TABLE {path} ADD COLUMNS ({added})")


def _as_text(user_metadata: Mapping[str, Any]) -> str:
    return json.dumps(dict(user_metadata), sort_keys=True, default=str)


def _as_ddl(field: StructField) -> str:
    comment = field.metadata.get("comment", "").replace("\\", "\\\\").replace("'", "\\'")
    return f"`{field.name}` {field.dataType.simpleString()} COMMENT '{comment}'"


def _compared(schema: TableSchema, snapshot: Snapshot) -> tuple[list[str], list[StructField]]:
    """(differences that nobody may mend silently, nullable columns that the table has yet to get).
    Comments and the order of columns are neither.
    """
    here, there = (
        {field.name: field for field in schema.struct},
        {field.name: field for field in snapshot.struct},
    )
    differences = [f"the column {name} is in the table alone" for name in there if name not in here]
    added = []
    for name, field in here.items():
        if name in there:
            differences += _field_differences(field, there[name])
        elif field.nullable:
            added.append(field)
        else:
            differences.append(f"the column {name} NOT NULL is missing")
    if schema.partition_columns != snapshot.partition_columns:
        expected, found = ", ".join(schema.partition_columns), ", ".join(snapshot.partition_columns)
        differences.append(f"it is partitioned by ({found}), expected ({expected})")
    if snapshot.protocol != (READER_VERSION, WRITER_VERSION):
        differences.append(
            f"its Delta protocol is {snapshot.protocol}, expected"
            f" {(READER_VERSION, WRITER_VERSION)}"
        )
    return differences, added


def _field_differences(expected: StructField, found: StructField) -> list[str]:
    if _bare(expected.dataType) != _bare(found.dataType):
        return [
            f"the column {expected.name} is {found.dataType.simpleString()}, expected"
            f" {expected.dataType.simpleString()}"
        ]
    if expected.nullable != found.nullable:
        return [
            f"the column {expected.name} is {'nullable' if found.nullable else 'NOT NULL'},"
            " expected the opposite"
        ]
    return []


def _bare_struct(struct: StructType) -> StructType:
    """The columns without comments, and with nothing that must not be NULL."""
    return StructType([StructField(field.name, field.dataType) for field in struct]).toNullable()


def _bare(data_type: DataType) -> str:
    """The type without comments."""
    return StructType([StructField("x", data_type)]).simpleString()
