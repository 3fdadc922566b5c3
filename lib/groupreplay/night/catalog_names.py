"""Names in a catalog for what a night has published, where the configuration asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from pyspark.sql import SparkSession

from groupreplay.config.model import Config
from groupreplay.tables.finished_night import FinishedNight, public_versions
from groupreplay.tables.registration import check_lasting, register
from groupreplay.tables.warehouse import Warehouse


def check_names(spark: SparkSession, config: Config) -> None:
    """Raises NotReady where names could not last, before anything is done."""
    if config.catalog.schema is not None:
        check_lasting(spark, config.catalog.schema)


def register_names(
    config: Config, warehouse: Warehouse, logical_date: date, versions: Mapping[str, int]
) -> None:
    """Registers the tables and views of a night, where the configuration names a schema.

    versions: table -> the version that the night left it at, for all tables.

    Raises NotReady where the catalog refuses: the night is done all the same.
    """
    if config.catalog.schema is not None:
        night = FinishedNight(warehouse, logical_date, public_versions(versions))
        register(night, config.catalog.schema, config.catalog.prefix)
