"""What lines of broker logs add to tables by joins of Spark: classes and estimates of waves, what
moves of coordinators did, and groups whose coordinator was not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import pytest
from pyspark.sql import SparkSession

from tests.simulator.broken import Case
from tests.simulator.built import BuiltTables
from tests.simulator.check import JOB_CHECKS, check_history, differences
from tests.simulator.conftest import Play
from tests.simulator.expected import (
    assignor_failures,
    rejected,
    silences,
    unavailable,
    upgrades,
)
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.priced import Priced, priced_of, wrong_prices
from tests.simulator.line_columns import COLUMNS_OF_LINES, STORED
from tests.simulator.played import Played
from tests.simulator.truth import read_truth

REASONS: Final = (
    unavailable.REASON,
    rejected.REASON,
    *silences.REASONS,
    "SYNC_NEVER_COMPLETES",
    upgrades.REASON,
    assignor_failures.REASON,
)
"""That only logs show, and that these histories have."""

HISTORIES: Final = (
    # Members of a classic group wait for a session that a load armed anew, and one that was heard
    # of again does not.
    Played(201, 14, 0.3, "failover", "4.0.2"),
    # A classic group is removed and comes back: its generations have the same numbers again, and
    # who was told to join the first of them says nothing of the second.
    Played(302, 14, 0.3, "classic", "4.4.0"),
    # A member of a cooperative group dies while its join waits for others, and its session is armed
    # when that is answered.
    Played(711, 16, 0.4, "classic", "4.3.1"),
    # Waves over offline conversions.
    Played(301, 14, 0.3, "migration", "4.3.1"),
    # Upgrades are refused, an operator's assignor fails, and so do loads.
    Played(990804017, 10, 0.25, "troubled", "4.4.0"),
)

_MOVES, _RETURNS, _COOPERATIVE, _CONVERSIONS, _TROUBLES = HISTORIES

HELD: Final[Mapping[Played, frozenset[str]]] = {
    _MOVES: frozenset(
        {
            *("coordinator_failovers", "coordinator_events", "rebalances"),
            *("stuck_groups", "stuck_members", "group_days", "static_accounting"),
        }
    ),
    _RETURNS: frozenset(
        {
            *("departure_waves", "coordinator_failovers", "coordinator_events", "rejoins"),
            *("group_days", "readiness"),
        }
    ),
    _COOPERATIVE: frozenset(
        {
            *("departure_waves", "rebalances", "stuck_groups", "stuck_members", "rejoins"),
            "what_if",
        }
    ),
    _CONVERSIONS: frozenset(
        {
            *("departure_waves", "members", "member_assignments", "group_epochs"),
            *("migration_progress", "topics", "readiness", "static_accounting", "what_if"),
        }
    ),
    _TROUBLES: frozenset({"stuck_groups", "stuck_members", "refusals", "coordinator_events"}),
}
"""Which tables are made of each history: Spark takes a second or more for each, so that each table
is held in the histories that have most of it, or were wrong once."""

_OF_STUCK: Final = {
    table: tuple(each for each in COLUMNS_OF_LINES[table] if each != "detail_params")
    for table in ("stuck_phases", "silences", "rejected")
}

BY_JOINS: Final = {
    "failover_lines": ("gap_ms", "doc_phase", "is_final", "evidence"),
    "rebalance_joins": (
        *("evidence", "join_ms", "sync_ms", "first_joined_at", "last_joined_at"),
        *("last_joined_member_id", "members_back"),
    ),
    "event_groups": ("evidence", "groups", "group_ids", "epochs_after"),
}
"""Columns that no pure Python makes, and no other test breaks."""

_OF_ABSENCES: Final = {
    "absences": (
        *("left_at", "left_shown_by", "gap_ms", "own_timeout_ms", "absorbed_own"),
        *("absorbed_45s", "absorbed_60s", "is_cliff", "blind_ms", "blind_extra_ms"),
        "owner_was_alive",
    )
}

_OF_REASONS: Final = ("since_at", "until_at", "stuck_ms", "is_open", "is_final", "detail_params")

_OF_TROUBLES: Final = {
    "upgrades": _OF_REASONS,
    "assignor_failures": _OF_REASONS,
    "phase_words": ("detail_params",),
    "rejected_words": ("detail_params",),
    "refusal_words": ("message", "broken_bound_ms"),
    "event_groups": ("evidence", "groups"),
}

_OF_REQUESTS: Final = {
    "contacts": (
        *("principal", "software_name", "software_version", "client_reason", "last_heartbeat_at"),
        *("longest_gap_ms", "heartbeats", "errors", "error_apis", "error_first_at"),
        "error_last_at",
    ),
    **dict.fromkeys(("member_evidence", "span_evidence", "absence_evidence"), ("evidence",)),
    "flips": ("cohort", "rules_unseen"),
    "epoch_lines": ("evidence",),
}
_OF_LINES: Final = dict.fromkeys(
    ("stuck_member_lines", "stuck_group_lines"), ("evidence", "from_offset")
)
_OF_SCENARIOS: Final = {"what_if": COLUMNS_OF_LINES["what_if"]}

BROKEN: Final[Mapping[Played, Mapping[str, tuple[str, ...]]]] = {
    _MOVES: BY_JOINS,
    _RETURNS: {"flap_scores": ("flap_score",)},
    _COOPERATIVE: _OF_STUCK | _OF_LINES,
    _CONVERSIONS: _OF_ABSENCES | _OF_REQUESTS | _OF_SCENARIOS,
    _TROUBLES: _OF_TROUBLES,
}
"""History -> table -> columns of which a wrong value must be noticed there."""


def _checks_of(played: Played) -> list[Check]:
    return [each for each in JOB_CHECKS if STORED.get(each.table, each.table) in HELD[played]]


def _unnoticed(played: Played, history: History, tables: BuiltTables) -> list[str]:
    """Columns of which the checker does not notice a wrong value."""
    broken = BROKEN.get(played, {})
    found = []
    for check in JOB_CHECKS:
        columns = broken.get(check.table, ())
        if columns:
            case = Case(check, history, check.wanted(history), tables.rows(check.table))
            found += [f"{check.table}.{each}" for each in columns if case.unnoticed(each)]
    return found


def _seen(tables: BuiltTables, held: frozenset[str]) -> Counter[str]:
    """How often the histories have what is to be held."""
    seen = Counter[str]()
    if "coordinator_failovers" in held:
        for row in tables.rows("failover_lines"):
            seen.update(loads=row["loaded_at"] is not None, rearmed=len(row["rearmed"] or ()))
            seen["unavailable"] += row["unavailable_ms"] is not None
            seen[row["phase"]] += 1
    if "departure_waves" in held:
        seen.update(row["class"] for row in tables.rows("wave_classes"))
        rows = tables.rows("wave_estimates")
        seen.update(estimates=sum(row["est_ms"] is not None for row in rows))
    if "rebalances" in held:
        rows = tables.rows("rebalance_joins")
        seen.update(back=sum(len(row["members_back"] or ()) for row in rows))
    for table, column in _TELLING.items():
        if STORED[table] in held:
            seen.update(row[column] for row in tables.rows(table))
    return seen


_TELLING: Final = {"unavailable": "reason", "silences": "reason", "absences": "left_shown_by"}
"""Table -> the column that says of each row which one of several it shows."""

_SHOWN: Final = (
    *("loads", "rearmed", "unavailable", "PREPARING", "STEADY", "HOST_SWAP", "estimates", "back"),
    *("HEARTBEAT", "LEAVE", "AWAY_RECORD", *REASONS),
    *("EAGER", "COOPERATIVE"),
)


@pytest.mark.long
def test_lines_complete_rows_as_the_coordinator_held_them(spark: SparkSession, play: Play) -> None:
    seen = Counter[str]()
    prices: list[Priced] = []
    for played, held in HELD.items():
        recording = play(played)
        history, tables = History(read_truth(recording)), BuiltTables(spark, recording)
        compared = check_history(history, tables, checks=_checks_of(played))
        assert _unnoticed(played, history, tables) == []
        told = [line for each in compared for line in differences(each, history.truth, 2)]
        assert not told, "\n".join((played.command(), *told[:60]))
        seen += _seen(tables, held)
        if "what_if" in held:
            prices += priced_of(history, tables.rows("what_if"))
    assert wrong_prices(prices) == []
    seen.update(each.scenario for each in prices)
    assert [name for name in _SHOWN if not seen[name]] == [], "the histories show nothing of these"


def test_every_table_is_held_in_a_history() -> None:
    held = {check.table for played in HISTORIES for check in _checks_of(played)}
    assert held == {check.table for check in JOB_CHECKS}
