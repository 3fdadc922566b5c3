"""The night of `make demo`, run once for all tests that only read its tables, and nights of few
tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from groupreplay.config.reader import load_config
from groupreplay.night.run import run_night
from groupreplay.tables.finished_night import FinishedNight
from tests.support.few_tables import few_tables

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def demo(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> FinishedNight:
    warehouse = tmp_path_factory.mktemp("demo")
    with chdir(ROOT):
        config = load_config("conf/demo.yaml", [f"warehouse={warehouse}"])
    run_night(spark, config)
    return FinishedNight.newest(spark, str(warehouse), config.cluster)


@pytest.fixture
def few() -> Iterator[None]:
    """The nights of this test publish few tables: `few_digests` compares these."""
    with few_tables():
        yield
