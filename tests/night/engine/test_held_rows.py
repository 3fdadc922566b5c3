"""Rows that are held: the same ones, made once."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.night.engine.held_rows import held


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
