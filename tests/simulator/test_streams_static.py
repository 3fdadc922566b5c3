"""Static members of streams groups (KIP-1071): brokers of 4.4 take them, those before refuse them.
Small histories on Kafka's own coordinator, as in `test_streams.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pytest

from tests.simulator.broken import Case, other_than
from tests.simulator.check_streams import (
    CHECKS,
    anomalies_of,
    check_all,
    compared,
    differences,
    rows_of,
)
from tests.simulator.columns import COLUMNS
from tests.simulator.compare import Untold
from tests.simulator.conftest import Play
from tests.simulator.line_columns import COLUMNS_OF_LINES
from tests.simulator.played import Played
from tests.simulator.proved import ProvedTables
from tests.simulator.replayed import Replayed, replay_recording
from tests.simulator.streams import as_consumers, lines, progress
from tests.simulator.streams.history import StreamsHistory, read_streams
from tests.simulator.streams.lines import check_lines
from tests.simulator.tables import FactTables, Row
from tests.simulator.truth import read_truth

PROFILE: Final = "streams-static"
HISTORIES: Final = (
    # Who returns was a thread of its old process for a moment, and cold where the member before had
    # kept a replica. Lines of 4.4 were not known; who was refused had two rows.
    Played(990803001, 12, 0.4, PROFILE, "4.4.0"),
    # What was committed before a conversion back to classic; exceptions by the id of the instance.
    Played(990803002, 14, 0.4, PROFILE, "4.4.0"),
    Played(990803004, 8, 0.3, PROFILE, "4.2.1"),
)
TRIES: Final = 3
"""Rows that are broken of each table and column."""


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: str(history.name))
def test_every_row_is_what_the_coordinator_held(history: Played, play: Play) -> None:
    recording = play(history)
    groups, replayed = read_streams(recording, read_truth(recording)), replay_recording(recording)
    tables = FactTables(recording, replayed)
    found = check_all(groups, replayed, tables)
    found += check_lines(groups, ProvedTables(recording, tables))
    told = [line for each in found for line in differences(each, groups, 2)]
    assert not told, "\n".join((history.command(), *told[:60]))
    assert not anomalies_of(groups, replayed)


@dataclass(frozen=True, slots=True)
class Statics:
    """A history of a broker of 4.4, its facts and rows."""

    history: StreamsHistory
    replayed: Replayed
    tables: FactTables
    proved: ProvedTables


@pytest.fixture(scope="module")
def statics(play: Play) -> Statics:
    recording = play(HISTORIES[0])
    history = read_streams(recording, read_truth(recording))
    replayed = replay_recording(recording)
    tables = FactTables(recording, replayed)
    return Statics(history, replayed, tables, ProvedTables(recording, tables))


def test_what_is_rare_is_played(statics: Statics) -> None:
    rows = {each.table: rows_of(statics.history, statics.replayed, each) for each in CHECKS}
    assert any(row["member_epoch"] == -2 for row in rows["member_states"])
    assert any(row["replaced_by"] for row in rows["members"])
    assert any(row["end_reason"] == "REPLACED" for row in rows["task_assignments"])
    assert any(row["reason"] == "STATIC_LIMBO" for row in rows["stuck"])
    assert any(row["cause"] == "STATIC_REPLACED" for row in rows["streams_rebalances"])
    assert any(row["restarts"] for row in rows["streams_processes"])
    assert any(row["hand_over_kind"] == "WARMED" for row in rows["task_handovers"])
    came_back = [
        before.members.keys() & step.members.keys()
        for life in statics.history.lives
        for before, step in life.pairs()
        if before is not None and "K19" in "".join(step.records) and step.kind == "join"
        if any(f"K19 {each} gone" in step.records for each in step.members)
    ]
    assert came_back, "who polled too late comes back under its own id"


def test_brokers_before_4_4_refuse_them(play: Play) -> None:
    recording = play(HISTORIES[2])
    truth = read_truth(recording)
    refused = {
        each.message
        for answers in truth.answers.of_groups.values()
        for each in answers
        if each.api == "STREAMS_GROUP_HEARTBEAT" and each.code
    }
    assert "Static membership is not yet supported." in refused
    history = read_streams(recording, truth)
    assert not any(
        member.instance_id
        for life in history.lives
        for step in life.steps
        for member in step.members.values()
    )


OF_STATICS: Final = (
    *(("member_states", name) for name in ("instance_id", "member_epoch", "partitions_assigned")),
    *(("members", name) for name in ("instance_id", "end_reason", "replaced_by", "process_id")),
    *(("task_assignments", name) for name in ("instance_id", "end_reason", "released_epoch")),
    *(("task_handovers", name) for name in ("hand_over_kind", "outcome", "cause")),
    *(("stuck", name) for name in ("instance_id", "blocked_by", "partitions_held", "until_at")),
    *(("streams_rebalances", name) for name in ("cause", "cause_member_id", "also")),
    *(("streams_processes", name) for name in ("members", "restarts", "threads")),
)
"""Columns of rows that a static member comes into."""


def _is_static(table: str, row: Row) -> bool:
    if table == "streams_rebalances":
        return bool(row["cause"] == "STATIC_REPLACED")
    if table == "streams_processes":
        return bool(row["restarts"])
    if table == "task_handovers":
        return bool(row["cause"] == "OWNER_GONE")
    return row["instance_id"] is not None


@pytest.mark.parametrize(("table", "column"), OF_STATICS)
def test_a_wrong_value_is_noticed(table: str, column: str, statics: Statics) -> None:
    history = statics.history
    (check,) = (each for each in CHECKS if each.table == table)
    wanted, rows = check.wanted(history), rows_of(history, statics.replayed, check)
    places = []
    for place, row in enumerate(rows):
        must = wanted.get(check.key_of(history, row))
        is_told = must is not None and not isinstance(must.values.get(column), Untold)
        if is_told and _is_static(table, row):
            places.append(place)
    assert places, "no row to break: play a longer history"
    for place in places[:TRIES]:
        wrong = {**rows[place], column: other_than(rows[place][column], by=10**9)}
        broken = [*rows[:place], wrong, *rows[place + 1 :]]
        assert compared(history, check, wanted, broken).differ, rows[place]


@pytest.mark.parametrize("column", sorted({*COLUMNS["migration_progress"]} - {"log_incarnation"}))
def test_a_wrong_value_of_progress_is_noticed(column: str, statics: Statics) -> None:
    table = statics.tables.rows(progress.TABLE)
    rows = [row for row in table if row["group_id"] in statics.history.steps]
    place = next(at for at, row in enumerate(rows) if row["members_static"])
    wrong = {**rows[place], column: other_than(rows[place][column], by=10**9)}
    broken = [*rows[:place], wrong, *rows[place + 1 :]]
    assert progress.compared(statics.history, broken).differ


@pytest.fixture(scope="module")
def as_others(play: Play) -> Mapping[str, Case]:
    """Tables that streams groups have as consumer groups do; leaders fall in this history."""
    recording = play(HISTORIES[1])
    history, tables = read_streams(recording, read_truth(recording)), FactTables(recording)
    known = as_consumers.AsConsumers(history)
    return {
        check.table: Case(
            check,
            known,
            check.wanted(known),
            [row for row in tables.rows(check.table) if history.of_row(row) is not None],
        )
        for check in as_consumers.CHECKS
    }


@pytest.mark.parametrize(
    ("table", "column"),
    [
        (check.table, column)
        for check in as_consumers.CHECKS
        for column in COLUMNS[check.table]
        if column != "log_incarnation"
    ],
)
def test_a_wrong_value_in_a_table_of_all_groups_is_noticed(
    table: str, column: str, as_others: Mapping[str, Case]
) -> None:
    assert as_others[table].unnoticed(column) == []


def _ended_as(rows: Sequence[Row], reason: str) -> int:
    return next(at for at, row in enumerate(rows) if row["end_reason"] == reason)


@pytest.mark.parametrize("column", COLUMNS_OF_LINES["member_ends"])
def test_a_wrong_end_by_lines_is_noticed(column: str, statics: Statics) -> None:
    if column in ("incarnation", "joined_at"):
        return  # `members` holds them
    rows = [row for row in statics.proved.rows(lines.TABLE) if statics.history.of_row(row)]
    assert not lines.compared(statics.history, rows).differ
    for reason in ("LEFT", "FENCED", "REPLACED"):
        place = _ended_as(rows, reason)
        wrong = {**rows[place], column: other_than(rows[place][column], by=10**9)}
        broken = [*rows[:place], wrong, *rows[place + 1 :]]
        if column != "group_id":
            assert lines.compared(statics.history, broken).differ, rows[place]
