"""Names in a catalog, by the statements that Spark is told; tests/end_to_end/test_sql.py asks a real
one.
"""

from __future__ import annotations

import logging
from datetime import date
from typing import Any, cast

import pytest
from pyspark.errors import AnalysisException

from groupreplay.errors import NotReady
from groupreplay.tables.finished_night import FinishedNight
from groupreplay.tables.registration import Registered, register
from groupreplay.tables.schemas import PUBLIC
from groupreplay.tables.views import VIEWS
from groupreplay.tables.warehouse import Warehouse

VERSIONS = {name: 3 for name in PUBLIC if name != "runs"}
TABLES = tuple(sorted(f"eu_{name}" for name in PUBLIC))


class Refused(AnalysisException):
    """As the session raises it, of whose conditions pyspark itself knows none."""

    def __init__(self, condition: str) -> None:
        super().__init__(f"[{condition}] Catalog `lake` does not support it.")
        self.condition = condition

    def getCondition(self) -> str:  # noqa: N802  (the name is pyspark's)
        return self.condition


class Session:
    """A session of Spark that writes down what it is told, and fails at views.

    condition: of the error with which it does, "" for none.
    """

    def __init__(self, condition: str) -> None:
        self.condition = condition
        self.told: list[str] = []

    def sql(self, statement: str) -> Any:
        if self.condition and " VIEW " in statement:
            raise Refused(self.condition)
        self.told.append(statement)
        return self

    def collect(self) -> list[Any]:
        """The catalog does not say where a table lies."""
        return []


class Folder:
    root, cluster = "/w", "demo"

    def __init__(self, spark: Session) -> None:
        self.spark = spark

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"


def registered(session: Session) -> Registered:
    night = FinishedNight(cast("Warehouse", Folder(session)), date(2026, 11, 21), VERSIONS)
    return register(night, "lake.groupreplay", "eu_")


def test_a_catalog_gets_tables_and_views(caplog: pytest.LogCaptureFixture) -> None:
    session = Session("")
    assert registered(session) == Registered(TABLES, tuple(f"eu_{name}" for name in VIEWS))
    made = [told for told in session.told if told.startswith("CREATE OR REPLACE VIEW ")]
    assert len(made) == len(VIEWS)
    assert "`lake`.`groupreplay`.`eu_fleet_now` COMMENT 'How far is the fleet" in "".join(made)
    assert "`eu_stuck_members` VERSION AS OF 3 WHERE cluster = 'demo'" in "".join(made)
    assert caplog.messages == []


def test_a_catalog_without_views_gets_the_tables_and_a_line_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = Session("MISSING_CATALOG_ABILITY.VIEWS")
    with caplog.at_level(logging.INFO):
        assert registered(session) == Registered(TABLES, ())
    made = [told for told in session.told if told.startswith("CREATE TABLE IF NOT EXISTS ")]
    assert len(made) == len(TABLES)
    (line,) = caplog.messages
    assert "the catalog of `lake`.`groupreplay` has no views" in line
    assert line.endswith("in /w/_sql/")


def test_views_that_are_refused_otherwise_are_an_error() -> None:
    with pytest.raises(NotReady, match=r"in lake\.groupreplay: \[TABLE_OR_VIEW_ALREADY_EXISTS\]"):
        registered(Session("TABLE_OR_VIEW_ALREADY_EXISTS"))
