"""What the tests of faults share."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.faults.told import Told


@pytest.fixture(scope="session")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(spark, tmp_path_factory.mktemp("faults"))
