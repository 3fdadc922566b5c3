"""What a session has whatever a cluster's settings say, and how it is fitted to a night.

Holds tables/delta/delta_jars.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groupreplay.night.engine.query_compiler import INTERPRETED_ROWS, fit_to
from groupreplay.tables.delta.delta_jars import has_delta

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_session_has_delta_and_utc(spark: SparkSession) -> None:
    assert has_delta(spark)
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.parquet.outputTimestampType") == "TIMESTAMP_MICROS"


def test_queries_over_few_rows_are_interpreted_and_give_the_same(spark: SparkSession) -> None:
    def answer() -> list[object]:
        return list(
            spark.range(10)
            .selectExpr("id % 3 AS k", "cast(id AS string) AS v")
            .groupBy("k")
            .agg({"v": "max"})
            .orderBy("k")
            .collect()
        )

    before = {
        key: spark.conf.get(key)
        for key in ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")
    }
    fit_to(spark, INTERPRETED_ROWS - 1)
    assert spark.conf.get("spark.sql.codegen.wholeStage") == "false"
    interpreted = answer()
    fit_to(spark, INTERPRETED_ROWS)
    assert spark.conf.get("spark.sql.codegen.wholeStage") == "true"
    assert answer() == interpreted
    for key, value in before.items():
        assert value is not None
        spark.conf.set(key, value)
