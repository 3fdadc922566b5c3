"""Rows that are held: the same ones, made once."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.night.engine.held_rows import held, held_in_one_partition
from groupreplay.night.engine.query_compiler import fit_to


def drawn(spark: SparkSession) -> DataFrame:
    """Other numbers each time they are made."""
    return spark.range(100).withColumn("number", sf.expr("uuid()")).where("id % 2 = 0")


def test_rows_are_made_once(spark: SparkSession) -> None:
    frame = held(drawn(spark))
    rows = frame.collect()
    assert [row["id"] for row in rows] == list(range(0, 100, 2))
    assert frame.collect() == rows
    assert frame.where("id = 4").collect() == [row for row in rows if row["id"] == 4]


def test_one_machine_forgets_what_made_them(spark: SparkSession) -> None:
    assert "Range" in drawn(spark)._jdf.queryExecution().toString()
    assert "Range" not in held(drawn(spark))._jdf.queryExecution().toString()


def test_where_executors_go_spark_can_make_them_again(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "master", "spark://host:7077")
    frame = held(drawn(spark))
    assert "Range" in frame._jdf.queryExecution().toString()
    assert frame.storageLevel.useMemory
    frame.unpersist()


def test_rows_in_one_partition_are_grouped_and_joined_without_a_shuffle(
    spark: SparkSession,
) -> None:
    names = ("spark.sql.shuffle.partitions", "spark.sql.autoBroadcastJoinThreshold")
    fit_to(spark, 0)
    before = [spark.conf.get(name) for name in names]
    fit_to(spark, 0, in_one_task=True)
    assert [spark.conf.get(name) for name in names] == ["1", "-1"] != before
    few, more = (
        held_in_one_partition(spark.range(0, 40, 1, 3)),
        held_in_one_partition(spark.range(0, 80, 1, 2)),
    )
    joined = few.join(more, "id").groupBy((sf.col("id") % 3).alias("k")).count()
    plan = joined._jdf.queryExecution().executedPlan().toString()
    assert "Exchange" not in plan, plan
    assert sorted((row["k"], row["count"]) for row in joined.collect()) == [
        (0, 14),
        (1, 13),
        (2, 13),
    ]
    fit_to(spark, 0)
    assert [spark.conf.get(name) for name in names] == before, "the next night is not of this size"
