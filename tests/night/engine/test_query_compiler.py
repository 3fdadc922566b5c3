"""How Spark runs the queries of a night: compiled or interpreted, in many tasks or in one."""

from __future__ import annotations

from typing import cast

import pytest
from pyspark.sql import SparkSession

from groupreplay.night.engine.query_compiler import INTERPRETED_ROWS, fit_to

PARTITIONS = "spark.sql.shuffle.partitions"
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"


class Conf(dict[str, str]):
    def set(self, name: str, value: str) -> None:
        self[name] = value


class Session:
    def __init__(self) -> None:
        self.conf = Conf({PARTITIONS: "200", BROADCAST: "10485760"})

    def fit(self, rows: int, **how: bool) -> Conf:
        fit_to(cast(SparkSession, self), rows, **how)
        return self.conf


@pytest.mark.parametrize(
    ("rows", "compiled"), [(INTERPRETED_ROWS - 1, False), (INTERPRETED_ROWS, True)]
)
def test_a_query_over_few_rows_is_interpreted(rows: int, compiled: bool) -> None:
    conf = Session().fit(rows)
    assert conf["spark.sql.codegen.wholeStage"] == str(compiled).lower()
    assert conf["spark.sql.codegen.factoryMode"] == ("FALLBACK" if compiled else "NO_CODEGEN")


def test_what_is_in_one_task_stays_there_and_is_given_back_afterwards() -> None:
    session = Session()
    conf = session.fit(5, in_one_task=True)
    assert (conf[PARTITIONS], conf[BROADCAST]) == ("1", "-1")
    conf = session.fit(5, in_one_task=True)
    assert (conf[PARTITIONS], conf[BROADCAST]) == ("1", "-1")
    conf = session.fit(5)
    assert (conf[PARTITIONS], conf[BROADCAST]) == ("200", "10485760")
