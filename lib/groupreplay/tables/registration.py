"""Tables and views of a warehouse as names of a catalog, for who asks by name: Spark's embedded
metastore, Hive's, or any other catalog that Spark knows.

A table is registered by its location, once, and shows all rows of all clusters as they are now. A
view is replaced after each night: it reads the tables at the versions that belong together, and the
rows of one cluster. A catalog that knows no views gets the tables alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final, NamedTuple

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from groupreplay.errors import ConfigError, NotReady
from groupreplay.tables.finished_night import FinishedNight
from groupreplay.tables.views import VIEWS, over

_log = logging.getLogger(__name__)

_SESSION_CATALOG: Final = "spark_catalog"
_COMMENT: Final = "What group coordinators of Kafka decided, by groupreplay"
_LACKS: Final = "MISSING_CATALOG_ABILITY"
"""How the conditions of Spark begin for what a catalog cannot do."""


class Registered(NamedTuple):
    """Names that the catalog now has, without the schema.

    views: none in a catalog that knows no views.
    """

    tables: tuple[str, ...]
    views: tuple[str, ...]


def check_lasting(spark: SparkSession, schema: str) -> None:
    """Raises NotReady where the catalog forgets its names when the job ends.

    schema: a schema of Spark's own catalog, or `<catalog>.<schema>`.
    """
    catalog = schema.rpartition(".")[0] or _SESSION_CATALOG
    kept_in = spark.conf.get("spark.sql.catalogImplementation", "in-memory")
    if catalog == _SESSION_CATALOG and kept_in == "in-memory":
        raise NotReady(
            "Spark keeps its catalog in memory, so that the names of catalog.schema would be gone"
            " when the job ends",
            "set spark.sql.catalogImplementation to hive in the properties file that"
            " GROUPREPLAY_SPARK_CONF names, or give a schema of another catalog",
        )


def register(night: FinishedNight, schema: str, prefix: str = "") -> Registered:
    """Registers the public tables where they are missing, and replaces the views by those of the
    night. Makes the schema.

    prefix: text that every name begins with, "" for none.

    Raises ConfigError where a name is another table's, NotReady where the catalog refuses.
    """
    try:
        return _register(night, ".".join(_quoted(part) for part in schema.split(".")), prefix)
    except PySparkException as error:
        why = next(line.strip() for line in str(error).splitlines() if line.strip())
        raise NotReady(
            f"the tables cannot be registered in {schema}: {why}",
            "see to the catalog, then run register_tables; the tables themselves are whole",
        ) from error


def _register(night: FinishedNight, schema: str, prefix: str) -> Registered:
    spark = night.warehouse.spark
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema} COMMENT '{_COMMENT}'")
    tables = ["runs", *night.versions]
    for name in sorted(tables):
        own, path = f"{schema}.{_quoted(prefix + name)}", night.warehouse.path(name)
        spark.sql(f"CREATE TABLE IF NOT EXISTS {own} USING delta LOCATION '{_escaped(path)}'")
        _check_location(spark, own, path)
    views = _views_if_any_can_be(night, schema, prefix)
    return Registered(tuple(prefix + name for name in sorted(tables)), views)


def _views_if_any_can_be(night: FinishedNight, schema: str, prefix: str) -> tuple[str, ...]:
    """Names of the views. None, and a line of the log that says what there is instead, in a catalog
    that has no views: Spark makes them in few catalogs but its own.
    """
    try:
        return tuple(_views(night, schema, prefix))
    except AnalysisException as error:
        if not (error.getCondition() or "").startswith(_LACKS):
            raise
        _log.warning(
            "night=%s the catalog of %s has no views: the tables are registered, the views are"
            " statements for a session, in %s/_sql/",
            night.logical_date,
            schema,
            night.warehouse.root,
        )
        return ()


def _views(night: FinishedNight, schema: str, prefix: str) -> Iterator[str]:
    for view in VIEWS.values():
        if set(view.tables) <= night.versions.keys():
            rows = {name: _rows(night, schema, prefix, name) for name in view.tables}
            night.warehouse.spark.sql(
                f"CREATE OR REPLACE VIEW {schema}.{_quoted(prefix + view.name)} COMMENT"
                f" '{_escaped(f'{view.comment} Cluster {night.warehouse.cluster}.')}' AS"
                f" {over(view, rows)}"
            )
            yield prefix + view.name


def _rows(night: FinishedNight, schema: str, prefix: str, name: str) -> str:
    """The rows that the name of a table stands for in a view."""
    return (
        f"SELECT * FROM {schema}.{_quoted(prefix + name)} VERSION AS OF {night.versions[name]}"
        f" WHERE cluster = '{_escaped(night.warehouse.cluster)}'"
    )


def _check_location(spark: SparkSession, own: str, path: str) -> None:
    """Raises ConfigError where the registered table lies elsewhere, if the catalog says where."""
    for found in _locations(spark, own):
        if _bare(found) != _bare(path):
            raise ConfigError(
                "catalog",
                "schema",
                f"{own} is another table, at {found}; give another schema or prefix, or drop it",
            )


def _locations(spark: SparkSession, own: str) -> Iterator[str]:
    for row in spark.sql(f"DESCRIBE TABLE EXTENDED {own}").collect():
        if row["col_name"] == "Location":
            yield row["data_type"]


def _bare(path: str) -> str:
    """A path as it compares: without the scheme of local files."""
    scheme, colon, rest = path.partition(":")
    local = rest if colon and scheme == "file" else path
    return "/" + local.strip("/") if local.startswith("/") else local.rstrip("/")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
