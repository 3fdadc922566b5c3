"""What the tests of faults share."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.faults.told import Told


@pytest.fixture(scope="session")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Nights of few tables."""
    return Told(spark, tmp_path_factory.mktemp("faults"), is_few=True)


@pytest.fixture(scope="session")
def told_whole(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Nights of all tables, for what may take longer."""
    return Told(spark, tmp_path_factory.mktemp("whole-faults"), is_few=False)
