"""The checker itself: a row that is gone, a row too many, and a wrong value in any column are
noticed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from tests.simulator.broken import Case
from tests.simulator.check import CHECKS, JOB_CHECKS, LOG_CHECKS, PROVED_CHECKS
from tests.simulator.columns import COLUMNS
from tests.simulator.compare import MISSING, NEVER_WAS, TWICE
from tests.simulator.conftest import Play
from tests.simulator.expected.estimates import Estimate, faults, wrong_estimates
from tests.simulator.expected.history import History
from tests.simulator.line_columns import STORED
from tests.simulator.played import Played
from tests.simulator.proved import ProvedTables
from tests.simulator.tables import FactTables, Row
from tests.simulator.truth import read_truth
from tests.support.documents import schema_columns

HISTORY: Final = Played(16, 16, 0.25, "all", "4.3.1")

OF_LINES: Final = tuple(each for each in LOG_CHECKS if each.table != "member_ends")
"""What lines prove in tables of their own: `members`, whose ends lines tell, is among the rest."""

ALL_CHECKS: Final = (*CHECKS, *OF_LINES)

_NIGHTS: Final = "of which run and whose: no broker knows"

_OF_ALL: Final = dict.fromkeys(("cluster", "logical_date", "team", "contact"), _NIGHTS)

_WHOLE: Final = (
    *("migration_progress", "topics", "readiness", "member_states", "group_conversions"),
    *("rebalances", "refusals", "coordinator_events", "coordinator_failovers", "rejoins"),
    *("members", "member_assignments", "stuck_members", "stuck_groups", "group_epochs"),
    *("departure_waves", "static_accounting", "group_days"),
)

NOT_CHECKED: Final[Mapping[str, Mapping[str, str]]] = {
    "what_if": {"is_final": "it is that of the wave, which is held"},
    **{table: {} for table in _WHOLE},
}
"""Table -> its columns that no check looks at, and why. All others of these tables are held."""

NEVER_PLAYED: Final = frozenset({"log_incarnation"})
"""Columns of what no simulated coordinator does: no offsets topic is created again."""


@pytest.fixture(scope="module")
def cases(play: Play) -> Mapping[str, Case]:
    recording = play(HISTORY)
    history, tables = History(read_truth(recording)), FactTables(recording)
    proved = ProvedTables(recording, tables)
    return {
        check.table: Case(
            check,
            history,
            check.wanted(history),
            (proved if check in OF_LINES else tables).rows(check.table),
        )
        for check in ALL_CHECKS
    }


def _columns() -> Iterator[tuple[str, str]]:
    for check in ALL_CHECKS:
        if check.table in ("anomalies", "undecoded"):
            continue
        for column in COLUMNS[check.table]:
            if column not in NEVER_PLAYED:
                yield check.table, column


TABLES: Final = tuple(check.table for check in ALL_CHECKS)


@pytest.mark.parametrize("table", TABLES)
def test_a_row_that_is_gone_is_noticed(table: str, cases: Mapping[str, Case]) -> None:
    case = cases[table]
    usual = case.compare(case.rows).differ[MISSING]
    for place in case.judged():
        rows = [*case.rows[:place], *case.rows[place + 1 :]]
        assert case.compare(rows).differ[MISSING] == usual + 1, case.rows[place]


@pytest.mark.parametrize("table", TABLES)
def test_a_row_too_many_is_noticed(table: str, cases: Mapping[str, Case]) -> None:
    case = cases[table]
    usual = case.compare(case.rows).differ
    for place in case.judged():
        twice = case.compare([*case.rows, case.rows[place]]).differ
        assert twice[TWICE] == usual[TWICE] + 1, case.rows[place]


SOME_FAULTS: Final = (
    ("anomalies", {"rule": "I1", "severity": "WARN", "evidence_offset": 1, "detail": ""}),
    (
        "anomalies",
        {"rule": "I24_GIVEN_ONCE", "severity": "WARN", "evidence_offset": 1, "detail": ""},
    ),
    ("undecoded", {"offsets_partition": 0, "offset": 1}),
)


@pytest.mark.parametrize(("table", "row"), SOME_FAULTS)
def test_a_fault_of_the_log_is_noticed(table: str, row: Row, cases: Mapping[str, Case]) -> None:
    case = cases[table]
    usual = case.compare(case.rows).differ[NEVER_WAS]
    assert case.compare([*case.rows, {"group_id": "some", **row}]).differ[NEVER_WAS] == usual + 1


@pytest.mark.parametrize(("table", "column"), list(_columns()))
def test_a_wrong_value_is_noticed(table: str, column: str, cases: Mapping[str, Case]) -> None:
    assert cases[table].unnoticed(column) == []


@pytest.mark.parametrize("table", TABLES)
def test_what_is_never_played_is_nowhere(table: str, cases: Mapping[str, Case]) -> None:
    found = [row[name] for row in cases[table].rows for name in NEVER_PLAYED if name in row]
    assert set(found) <= {None}


TRUE_ESTIMATES: Final = (
    *(Estimate("ASKED", 5_000 + error, 5_000) for error in range(-60, 61)),
    *(Estimate("AWAY", 8_000 - error, 8_000) for error in range(10, 90, 4)),
    *(Estimate("REMOVED", 13_900, 12_000, quiet) for quiet in range(2_000, 7_000, 500)),
    *(Estimate("classic GAP", 6_000 + error, 6_000) for error in range(-60, 61, 4)),
    *(Estimate("STOP", 2_000 + error, 2_000, partitions=4) for error in range(-15, 16)),
)

KINDS: Final = ("ASKED", "AWAY", "REMOVED", "classic GAP", "STOP")


def test_estimates_that_are_near_are_right() -> None:
    assert faults(TRUE_ESTIMATES) == []


IN_A_CALLBACK: Final = Estimate("classic REMOVED", 6_000, 17_200, 0, callback_ms=11_100)
"""It committed for 11 s after it had stopped reading."""


def test_commits_in_a_callback_hide_from_the_topic_when_a_member_stopped() -> None:
    told = IN_A_CALLBACK._replace(told_ms=17_210)
    assert wrong_estimates([IN_A_CALLBACK, told]) == []
    assert wrong_estimates([IN_A_CALLBACK._replace(callback_ms=0)])


def test_a_request_log_shows_when_a_member_stopped() -> None:
    assert wrong_estimates([IN_A_CALLBACK._replace(told_ms=6_000)])


def test_an_estimate_ends_at_the_grant() -> None:
    late = IN_A_CALLBACK._replace(callback_ms=8_800, fetched_ms=2_300, told_ms=15_000)
    assert wrong_estimates([late]) == []
    assert wrong_estimates([late._replace(fetched_ms=0)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", [-3_000, 3_000])
def test_estimates_that_are_all_off_are_noticed(kind: str, by: int) -> None:
    lies = [
        each._replace(est_ms=each.est_ms + (by if each.kind == kind else 0))
        for each in TRUE_ESTIMATES
    ]
    assert {said.split(":")[0] for said in faults(lies)} == {kind}


@pytest.mark.parametrize("kind", KINDS)
def test_a_tenth_of_estimates_that_are_off_is_noticed(kind: str) -> None:
    lies = list(TRUE_ESTIMATES)
    places = [place for place, each in enumerate(lies) if each.kind == kind]
    for place in places[::10]:
        lies[place] = lies[place]._replace(est_ms=lies[place].est_ms + 6_000)
    assert {said.split(":")[0] for said in faults(lies)} == {kind}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_without_estimates_is_noticed(kind: str) -> None:
    lies = [each for each in TRUE_ESTIMATES if each.kind != kind]
    assert {said.split(":")[0] for said in faults(lies)} == {kind}


def test_the_way_of_a_request_is_no_error_of_short_stops() -> None:
    short = [Estimate("STOP", 206, 200, partitions=4)] * 21
    assert wrong_estimates(short) == []
    longest = Estimate("STOP", 2_100, 1_000, partitions=4)
    assert any("all together" in said for said in wrong_estimates([*short, longest]))


def test_estimates_of_few_per_cent_too_much_in_the_sum_are_noticed() -> None:
    gaps = [each for each in TRUE_ESTIMATES if each.kind == "classic GAP"]
    longest = Estimate("classic GAP", 60_000, 40_000)
    assert any("all together" in said for said in wrong_estimates([*gaps, longest]))


def test_what_is_answered_late_twice_is_no_error() -> None:
    """A broker gathers records for 200 ms: who gives up hears of it as late as who gets it."""
    late = [Estimate("classic GAP", 3_000, 3_000, fetched_ms=211, answered_ms=208)] * 10
    assert wrong_estimates(late) == []
    assert wrong_estimates([each._replace(answered_ms=0) for each in late])


def test_estimates_that_are_off_by_little_and_all_the_same_way_are_noticed() -> None:
    lies = [each._replace(est_ms=each.est_ms + 60) for each in TRUE_ESTIMATES]
    assert {said.split(":")[0] for said in faults(lies)} == {"ASKED", "STOP"}


@pytest.mark.parametrize("table", NOT_CHECKED)
def test_every_column_is_looked_at_or_named(table: str) -> None:
    looked_at = {
        column
        for check in (*CHECKS, *PROVED_CHECKS, *JOB_CHECKS)
        if STORED.get(check.table, check.table) == table
        for column in COLUMNS[check.table]
    }
    columns = schema_columns()[table]
    left = [each for each in columns if each not in looked_at | NEVER_PLAYED | _OF_ALL.keys()]
    assert sorted(left) == sorted(NOT_CHECKED[table])
    assert not looked_at & _OF_ALL.keys()
