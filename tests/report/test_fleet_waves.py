"""`fleet_waves`: which waves are one, by team and by host, in DuckDB and in Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from groupreplay.config.model import BrokersConfig, WavesConfig
from groupreplay.replay.decision_facts import Churn
from groupreplay.report.context import ReportContext
from groupreplay.report.statements import statements
from groupreplay.report.tables.departure_waves import departure_waves
from tests.report.conftest import Stage
from tests.support.recordings import groups
from tests.support.replaying import replayed
from tests.support.statement_tables import COLUMNS, asked, asked_of_spark, in_duckdb
from tests.support.table_inputs import inputs_of, read_to

TABLES, TEXT = statements(WavesConfig(gap_ms=60_000), BrokersConfig())["decisions/fleet_waves.sql"]
NOW: Final = datetime(2026, 11, 21, 6, tzinfo=UTC)
Row = Mapping[str, Any]


def at(seconds: float) -> datetime:
    return NOW - timedelta(days=6) + timedelta(seconds=seconds)


def wave(
    group: str, start_s: float, end_s: float, kind: str = "ROLLOUT", **more: Any
) -> dict[str, Any]:
    """By default of a team, without a departed member's host, with one partition-second of cost."""
    costs = {"low_ms": 500, "est_ms": 1_000, "high_ms": 2_000, "high_unknown": 0}
    span = {"started_at": at(start_s), "ended_at": at(end_s), "from_offset": int(start_s)}
    counts = {"departed": 2, "joined": 1, "est_is_partial": False}
    told = {"group_id": group, "class": kind, "team": "pay", "hosts_out": []}
    return {**told, **span, **counts, **costs, **more}


def fleets(waves: Sequence[Row], text: str = TEXT) -> list[dict[str, Any]]:
    newest = {"logical_date": date(2026, 11, 21), "as_of_at": NOW}
    connection = in_duckdb(TABLES, {"departure_waves": waves, "migration_progress": [newest]})
    return asked(connection, text)


def test_waves_are_one_while_the_next_begins_within_the_gap_of_the_latest_end() -> None:
    long, inside = wave("long", 0, 100), wave("inside", 10, 20, "CRASH")
    at_gap, past_gap = wave("long", 160, 161), wave("late", 221.001, 222)
    found = fleets([past_gap, inside, at_gap, long])
    assert [(row["started_at"], row["ended_at"]) for row in found] == [
        (at(221.001), at(222)),
        (at(0), at(161)),
    ]
    (one, other) = found
    assert (one["groups_total"], one["waves"], one["classes"]) == (1, 1, ["ROLLOUT 1"])
    assert (other["groups_total"], other["waves"]) == (2, 3), "a group may have several"
    assert other["classes"] == ["CRASH 1", "ROLLOUT 2"]
    assert (other["departed"], other["joined"]) == (6, 3)
    assert (other["low_ms"], other["est_ms"], other["high_ms"]) == (1_500, 3_000, 6_000)
    assert (other["team"], other["hosts"]) == ("pay", [])


def test_teams_and_hosts_have_waves_of_their_own() -> None:
    found = fleets(
        [
            wave("a", 0, 10, hosts_out=["/10.0.0.1"]),
            wave("b", 5, 15, team="ship", hosts_out=["/10.0.0.1"]),
            wave("c", 6, 16, team=None, hosts_out=["/10.0.0.1", "/10.0.0.2"]),
            wave("d", 7, 17, team=None, hosts_out=["/10.0.0.2"]),
        ]
    )
    assert {(row["team"], *row["hosts"]): row["groups_total"] for row in found} == {
        ("pay",): 1,
        ("ship",): 1,
        (None, "/10.0.0.1"): 2,
        (None, "/10.0.0.2"): 1,
    }


def test_a_group_that_starts_and_a_bounce_are_no_part_of_a_wave() -> None:
    kinds = ("START", "BOUNCE", "STOP")
    found = fleets([wave(kind, 0, 1, kind, hosts_out=["/h"]) for kind in kinds])
    assert [row["classes"] for row in found] == [["STOP 1"]] * 2


def test_a_cost_that_one_wave_does_not_know_is_not_known_of_all() -> None:
    hidden = {**wave("b", 2, 3), **dict.fromkeys(("low_ms", "est_ms", "high_ms", "est_is_partial"))}
    (row,) = fleets([wave("a", 0, 1), {**hidden, "high_unknown": 1}])
    assert (row["low_ms"], row["est_ms"], row["high_ms"]) == (500, None, None)
    assert (row["high_unknown"], row["est_is_partial"]) == (1, False)
    (row,) = fleets([wave("a", 0, 1), wave("b", 2, 3, est_is_partial=True)])
    assert (row["est_ms"], row["est_is_partial"]) == (2_000, True)


def test_waves_that_ended_a_week_ago_are_not_told_again() -> None:
    week = -86_400
    ended, goes_on = wave("a", week - 100, week - 80), wave("b", week - 10, week + 1)
    assert [row["groups_total"] for row in fleets([ended, goes_on])] == [1], "61 s lie between"
    before = wave("a", week - 100, week - 50)
    (row,) = fleets([before, goes_on])
    assert row["started_at"] == at(week - 100), "its beginning counts, however old it is"


def test_the_gap_is_that_of_the_configuration() -> None:
    text = statements(WavesConfig(gap_ms=1_500), BrokersConfig())["decisions/fleet_waves.sql"].text
    assert len(fleets([wave("a", 0, 1), wave("b", 2.5, 3), wave("c", 4.501, 5)], text)) == 2


def test_spark_says_the_same(spark: SparkSession) -> None:
    waves = [
        wave("a", 0, 10, hosts_out=["/10.0.0.1"]),
        wave("b", 69.5, 80, "CRASH", hosts_out=["/10.0.0.1"], est_ms=None),
        wave("c", 0, 1, hosts_out=["/10.0.0.1", "/10.0.0.2"], team=None),
        wave("d", 500, 510, hosts_out=["/10.0.0.2"], team="ship"),
    ]
    newest = {"logical_date": date(2026, 11, 21), "as_of_at": NOW}
    connection = in_duckdb(TABLES, {"departure_waves": waves, "migration_progress": [newest]})
    found = asked_of_spark(spark, connection, TABLES, TEXT)
    assert found == asked(connection, TEXT)
    assert len(found) == 4


@pytest.mark.long
def test_upgrades_of_a_recording_are_one_thing_on_one_machine(
    stage: Stage, context: ReportContext
) -> None:
    """docs/decisions.md: seven groups of `migration-4.3`, by the topic alone. What the eager ones
    cost about is not known without a request log.
    """
    chains = [
        fact
        for one in groups("migration-4.3")
        for fact in replayed(one.entries, one.names, (), one.group_id, one.offsets_partition)
        if isinstance(fact, Churn)
    ]
    gap, brokers = WavesConfig(gap_ms=11_000), BrokersConfig(session_timeout_ms=12_000)
    context = replace(context, brokers=brokers, waves=gap)
    staged = stage(*chains)
    table = departure_waves(inputs_of(staged, context, tables=read_to(staged, context, 2 * 10**12)))
    names = [name for name in COLUMNS["departure_waves"] if name != "team"]
    waves = [row.asDict() for row in table.select(*names).collect()]
    assert {tuple(row["hosts_out"]) for row in waves} == {(), ("/127.0.0.1",)}
    (found,) = fleets(waves, statements(gap, brokers)["decisions/fleet_waves.sql"].text)
    assert (found["team"], found["hosts"]) == (None, ["/127.0.0.1"])
    assert [f"{found[each]:%H:%M:%S.%f}" for each in ("started_at", "ended_at")] == [
        "05:41:27.908000",
        "05:41:53.367000",
    ]
    assert found["classes"] == ["CRASH 1", "RECREATE 1", "ROLLOUT 5"]
    assert [found[each] for each in ("groups_total", "waves", "departed", "joined")] == [
        *(7, 7, 20, 17)
    ]
    assert [found[each] for each in ("low_ms", "est_ms", "high_ms")] == [47_015, None, 160_171]
