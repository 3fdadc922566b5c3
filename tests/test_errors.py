"""Errors that a user can act on: one sentence each, and an exit status by kind."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from groupreplay import errors
from groupreplay.errors import (
    ConfigError,
    GroupReplayError,
    NoSpace,
    NotReady,
    RunHeld,
    SchemaDrift,
    SourceUnreadable,
    StatesOutdated,
    WarehouseDamaged,
)

NIGHT = date(2026, 11, 20)
SINCE = datetime(2026, 11, 21, 3, 0, 7, tzinfo=UTC)
CASES: list[tuple[GroupReplayError, int, str]] = [
    (ConfigError("c.yaml", "cluster", "is missing"), 2, "c.yaml: cluster: is missing"),
    (ConfigError("c.yaml", "", "is not UTF-8"), 2, "c.yaml: is not UTF-8"),
    (NotReady("the jars are missing", "run make setup"), 2, "the jars are missing; run make setup"),
    (
        SourceUnreadable("segments /logs", "no such file"),
        3,
        "the source segments /logs cannot be read: no such file",
    ),
    (
        RunHeld("prod", NIGHT, "h:1:2", SINCE),
        4,
        "another run holds cluster prod, night 2026-11-20: h:1:2, since 2026-11-21 03:00:07 UTC",
    ),
    (
        RunHeld("prod", NIGHT, "h:1:2", SINCE, "process 1 is gone"),
        4,
        "a dead run holds cluster prod, night 2026-11-20: h:1:2, since 2026-11-21 03:00:07 UTC;"
        " process 1 is gone: run the same job with --take-over to finish it",
    ),
    (
        NoSpace("the table members"),
        1,
        "no space is left for the table members; make room and run it again: nothing is lost, and"
        " readers see what they saw before",
    ),
    (
        WarehouseDamaged("members", "a file is gone", "restore it"),
        5,
        "the table members is damaged: a file is gone; restore it",
    ),
]


@pytest.mark.parametrize(("error", "status", "sentence"), CASES)
def test_an_error_is_a_status_and_a_sentence(
    error: GroupReplayError, status: int, sentence: str
) -> None:
    assert (error.exit_code, str(error)) == (status, sentence)


def test_a_table_that_is_not_its_schema_says_each_difference() -> None:
    error = SchemaDrift("members", ["no column a", "b is INT"])
    assert isinstance(error, WarehouseDamaged)
    assert error.differences == ("no column a", "b is INT")
    assert "no column a; b is INT" in str(error)
    assert "schemas/members.sql" in str(error)


def test_states_of_a_newer_version_are_replayed_again() -> None:
    error = StatesOutdated("group_states")
    assert (error.exit_code, error.table) == (5, "group_states")
    assert "rebuild_nights" in str(error)


def test_every_error_is_of_the_one_root() -> None:
    found = [each for each in vars(errors).values() if isinstance(each, type)]
    raised = [each for each in found if issubclass(each, Exception)]
    assert len(raised) == 9
    assert all(issubclass(each, GroupReplayError) for each in raised)
