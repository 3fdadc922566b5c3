"""The queries of `query_tables`."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.types import NullType

from groupreplay.cli.queries import QUERIES, queries
from groupreplay.report.summary.frames import SUMMARY_TABLES
from groupreplay.tables.schemas import table_schema


def test_queries_run_on_tables_as_they_are(spark: SparkSession) -> None:
    for name in SUMMARY_TABLES:
        spark.createDataFrame([], table_schema(spark, name).struct).createOrReplaceTempView(
            f"summary_{name}"
        )
    for _, statement in queries("/w", "it's"):
        for name in SUMMARY_TABLES:
            statement = statement.replace(f"delta.`/w/{name}`", f"summary_{name}")
        result = spark.sql(statement)
        assert result.collect() == []
        assert not any(isinstance(field.dataType, NullType) for field in result.schema)


def test_queries_quote_the_path_and_the_cluster() -> None:
    assert len(QUERIES) == 3
    for _, statement in queries("s3a://b/it`s/", "it's"):
        assert "delta.`s3a://b/it``s/" in statement
        assert "cluster = 'it\\'s'" in statement
        assert "{" not in statement
