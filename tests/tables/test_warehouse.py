"""Tables on a real Delta: made, replaced, drifting and damaged.

Holds tables/delta/delta_log.py.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import Observation
from pyspark.sql import functions as sf

from groupreplay.errors import SchemaDrift, WarehouseDamaged
from groupreplay.tables.delta.damage import damaged_table
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.schemas import (
    ALWAYS,
    OPTIONAL,
    READER_VERSION,
    TABLES,
    WRITER_VERSION,
    ddl_text,
    table_schema,
)
from groupreplay.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NIGHT = RowRange("c", datetime.date(2026, 1, 2))


def test_every_table_is_made_once_with_the_protocol_of_the_design(
    spark: SparkSession, tmp_path: Path
) -> None:
    warehouse = Warehouse(spark, str(tmp_path / "with space's"), "c")
    assert not warehouse.exists("runs")
    warehouse.create_all()
    warehouse.create_all()
    missing = [name for name in TABLES if not warehouse.exists(name)]
    assert missing == [name for name in TABLES if name in OPTIONAL]
    warehouse.check_all()
    warehouse.create_all(missing)
    assert warehouse._expected() == [*ALWAYS, *missing]
    for name in TABLES:
        snapshot = warehouse.log(name).snapshot()
        assert snapshot.protocol == (READER_VERSION, WRITER_VERSION), name
        assert snapshot.version == 0, name
        assert snapshot.struct == table_schema(spark, name).struct, name
    for name in ("topics", "members"):
        (detail,) = spark.sql(f"DESCRIBE DETAIL delta.`{warehouse.path(name)}`").collect()
        assert (detail["minReaderVersion"], detail["minWriterVersion"]) == (
            READER_VERSION,
            WRITER_VERSION,
        ), name
        assert warehouse.read(name).schema == table_schema(spark, name).struct, name


def test_a_new_table_says_what_it_holds_and_delta_agrees(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The checksum that `create` writes beside the log's first entry, against what Delta computes
    from the log.
    """
    warehouse = Warehouse(spark, str(tmp_path), "c")
    warehouse.create_all(["topics"])
    snapshot, jvm = warehouse.log("topics").snapshot()._snapshot, spark._jvm
    assert jvm is not None
    assert snapshot.checksumOpt().isDefined()
    assert snapshot.validateChecksum(
        getattr(jvm.scala.collection.immutable, "Map$").__getattr__("MODULE$").empty()
    )
    warehouse.replace("topics", _topics(spark, [("a", 1)]), NIGHT, {})
    assert (tmp_path / "topics/_delta_log/00000000000000000001.crc").exists(), (
        "the next one is made of it"
    )


def test_replace_is_one_commit_of_its_range_in_the_types_of_the_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    warehouse = Warehouse(spark, str(tmp_path), "c")
    warehouse.create_all(["topics"])
    first = warehouse.replace(
        "topics", _topics(spark, [("a", 1), ("b", 2)]), NIGHT, {"run_id": "r1"}
    )
    other = warehouse.replace(
        "topics",
        _topics(spark, [("x", 9)], cluster="d"),
        replace(NIGHT, cluster="d"),
        {"run_id": "r2"},
    )
    again = warehouse.replace("topics", _topics(spark, [("a", 3)]), NIGHT, {"run_id": "r3"})
    assert (first, other, again) == (1, 2, 3)
    assert warehouse.log("topics").commit_metadata(3) == {"run_id": "r3"}
    assert {
        (row["cluster"], row["topic_id"], row["partitions"])
        for row in warehouse.read("topics").collect()
    } == {("c", "a", 3), ("d", "x", 9)}
    assert warehouse.read("topics", version=1).count() == 2
    assert warehouse.replace("topics", _topics(spark, [("a", 3)]).limit(0), NIGHT, {}) == 4
    assert warehouse.read("topics").where("cluster = 'c'").count() == 0


def test_a_shaped_frame_is_observed_and_written_without_a_copy_of_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    warehouse = Warehouse(spark, str(tmp_path), "prod")
    columns = {
        "cluster": sf.lit("prod"),
        "logical_date": sf.lit(datetime.date(2026, 1, 2)),
        "kind": sf.lit("epoch"),
    }
    missing = {
        field.name: sf.lit(None).cast(field.dataType)
        for field in warehouse.schema("replayed").struct
        if field.name not in columns
    }
    frame = spark.range(1).withColumns({**missing, **columns})

    def projections(rows: DataFrame) -> int:
        return int(rows._jdf.queryExecution().executedPlan().toString().count("Project ["))

    shaped = warehouse.shaped("replayed", frame)
    assert shaped.dtypes == [
        (field.name, field.dataType.simpleString()) for field in warehouse.schema("replayed").struct
    ]
    observed = shaped.observe(Observation("rows"), sf.count(sf.lit(1)).alias("rows"))
    assert projections(warehouse.shaped("replayed", observed)) == projections(shaped) == 1
    late = frame.observe(Observation("late"), sf.count(sf.lit(1)).alias("rows"))
    assert projections(warehouse.shaped("replayed", late)) == 2, (
        "a frame that is observed first is copied once more"
    )
    with pytest.raises(ValueError, match="rows of replayed lack cluster, kind$"):
        warehouse.shaped("replayed", frame.drop("kind", "cluster"))


def test_a_table_is_what_spark_would_make_of_its_file(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(spark, str(tmp_path / "ours"), "c")
    warehouse.create_all(["stuck_members", "stuck_members"])
    theirs = str(tmp_path / "theirs")
    spark.sql(
        ddl_text("stuck_members").replace("EXISTS stuck_members (", f"EXISTS delta.`{theirs}` (")
    )
    alike = (
        "format",
        "description",
        "partitionColumns",
        "properties",
        "minReaderVersion",
        "minWriterVersion",
        "tableFeatures",
        "numFiles",
    )
    details = [
        spark.sql(f"DESCRIBE DETAIL delta.`{path}`").select(*alike).first()
        for path in (warehouse.path("stuck_members"), theirs)
    ]
    assert details[0] == details[1]
    schemas = [
        spark.read.format("delta").load(path).schema
        for path in (warehouse.path("stuck_members"), theirs)
    ]
    assert schemas[0].json() == schemas[1].json()


def test_drift_is_found_before_anything_is_written_and_new_columns_are_added(
    spark: SparkSession, tmp_path: Path
) -> None:
    warehouse = Warehouse(spark, str(tmp_path), "c")
    statement = ddl_text("undecoded").replace(
        "EXISTS undecoded (", f"EXISTS delta.`{warehouse.path('undecoded')}` ("
    )
    spark.sql(re.sub(r"(?m)^  path .*\n(?:    .*\n)*", "", statement))
    spark.sql(
        f"CREATE TABLE delta.`{warehouse.path('topics')}` (cluster STRING NOT NULL, logical_date"
        " STRING NOT NULL, stray INT) USING delta PARTITIONED BY (logical_date)"
    )
    with pytest.raises(SchemaDrift) as caught:
        warehouse.create_all(["undecoded", "topics", "runs"])
    assert caught.value.table == "topics"
    says = str(caught.value)
    for part in (
        "stray is in the table alone",
        "logical_date is string, expected date",
        "topic_id NOT NULL is missing",
        "partitioned by (logical_date)",
    ):
        assert part in says
    assert not warehouse.exists("runs")
    assert "path" not in warehouse.read("undecoded").columns
    warehouse.create_all(["undecoded"])
    assert warehouse.read("undecoded", version=0).select("path").collect() == [], (
        "a version before it came has it too"
    )
    added = warehouse.read("undecoded").schema["path"]
    assert (
        added.metadata["comment"]
        == table_schema(spark, "undecoded").struct["path"].metadata["comment"]
    )


def test_a_staging_table_of_another_version_is_made_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Its rows can all be made again; those of another cluster too."""
    warehouse = Warehouse(spark, str(tmp_path / "with space's"), "c")
    path = warehouse.path("replayed")
    spark.sql(
        "SELECT 'c' AS cluster, DATE'2026-01-02' AS logical_date, 'epoch' AS kind, 3L AS epoch"
    ).write.format("delta").save(path)
    Warehouse(spark, warehouse.root, "c").check_all(["replayed"])
    warehouse.create_all()
    assert warehouse.version("replayed") == 1
    schema = table_schema(spark, "replayed")
    assert warehouse.read("replayed").schema == schema.struct
    assert warehouse.read("replayed").count() == 0
    (detail,) = spark.sql(f"DESCRIBE DETAIL delta.`{path}`").collect()
    assert (tuple(detail["partitionColumns"]), detail["description"]) == (
        schema.partition_columns,
        schema.comment,
    )
    assert (detail["minReaderVersion"], detail["minWriterVersion"]) == (
        READER_VERSION,
        WRITER_VERSION,
    )
    warehouse.create_all()
    assert warehouse.version("replayed") == 1, "once"
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.minWriterVersion' = '4')")
    with pytest.raises(SchemaDrift, match="protocol"):
        warehouse.create_all()


def test_a_damaged_table_is_named_with_its_remedy(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(spark, str(tmp_path), "c")
    names = ["topics", "runs", "coverage", "undecoded"]
    warehouse.create_all(names)
    warehouse.replace("topics", _topics(spark, [("a", 1)]), NIGHT, {})

    # A data file that is gone shows when rows are read, wherever that is.
    for file in (tmp_path / "topics").rglob("*.parquet"):
        file.unlink()
    with pytest.raises(Exception) as caught:
        warehouse.read("topics").collect()
    damage = damaged_table(caught.value)
    assert damage is not None
    assert (damage.table, damage.exit_code) == ("topics", 5)
    assert f"restore {warehouse.root}/topics from a copy" in str(damage)

    # A log that was cut, emptied or lost shows at once to a process that has not read it yet.
    (tmp_path / "coverage/_delta_log/00000000000000000000.json").write_text('{"commitInfo":{"time')
    (tmp_path / "coverage/_delta_log/00000000000000000000.crc").unlink(missing_ok=True)
    (tmp_path / "undecoded/_delta_log/00000000000000000000.json").unlink()
    (tmp_path / "undecoded/part-0.parquet").write_bytes(b"x")
    _forget(spark)
    fresh = Warehouse(spark, str(tmp_path), "c")
    for name in ("coverage", "undecoded"):
        with pytest.raises(WarehouseDamaged, match=f"the table {name} is damaged"):
            fresh.create_all([name])
    assert damaged_table(ValueError("DELTA_FILE_NOT_FOUND")) is None


def _topics(spark: SparkSession, rows: list[tuple[str, int]], cluster: str = "c") -> DataFrame:
    """Partitions as BIGINT, columns in another order: `replace` has to put both right."""
    columns = {field.name: "CAST(NULL AS STRING)" for field in table_schema(spark, "topics").struct}
    frame = spark.createDataFrame(
        [(name, partitions, name, cluster, datetime.date(2026, 1, 2)) for name, partitions in rows],
        _DDL,
    )
    stamp = "timestamp_millis(1000) AS first_seen_at"
    have = {"topic_id", "partitions", "topic", "cluster", "logical_date", "first_seen_at"}
    return frame.selectExpr("*", stamp, *[f"'' AS {name}" for name in columns if name not in have])


_DDL = "topic_id STRING, partitions BIGINT, topic STRING, cluster STRING, logical_date DATE"


def _forget(spark: SparkSession) -> None:
    """As a new process would find the tables."""
    jvm = spark._jvm
    assert jvm is not None
    jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
