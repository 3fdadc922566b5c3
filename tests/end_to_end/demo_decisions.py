"""What the night of the demo says to decide by: its statements, and its views of the same tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import Row, SparkSession

from groupreplay.tables.finished_night import FinishedNight


def views_say(answers: Mapping[str, Sequence[Row]], demo: FinishedNight) -> None:
    """All of it is of one minute. No broker stopped in it, and no task went over."""
    flips = {row["group_id"]: (row["flip_tier"], row["phase"]) for row in answers["flips_now"]}
    assert flips == {"offline-upgrade": (3, "ROLLED_BACK"), "upgrade-crash": (3, "ROLLED_BACK")}
    waves = [(row["group_id"], row["class"], row["moved"]) for row in answers["waves_7d"]]
    assert len(waves) == demo.read("departure_waves").count() == 19
    assert sorted(wave for wave in waves if wave[1] != "START") == [
        ("mixed-stall", "ROLLOUT", 8),
        ("offline-upgrade", "RECREATE", 3),
        ("rollback", "ROLLOUT", 16),
        ("static-upgrade", "BOUNCE", 0),
        ("upgrade-coop", "ROLLOUT", 7),
        ("upgrade-crash", "CRASH", 2),
        ("upgrade-eager", "ROLLOUT", 9),
        ("upgrade-old-client", "ROLLOUT", 14),
    ]
    costs = {row["group_id"]: row for row in answers["costs_7d"]}
    assert len(costs) == 11
    assert (costs["rollback"]["moved"], costs["rollback"]["low_ms"]) == (16, 10_374)
    assert round(costs["rollback"]["availability_most_pct"], 2) == 95.75
    assert costs["static-upgrade"]["availability_most_pct"] == 100
    days = demo.read("group_days").collect()
    for column in ("moved", "low_ms", "high_ms", "partitions_ms"):
        assert sum(row[column] for row in costs.values()) == sum(day[column] for day in days)
    assert answers["failovers_7d"] == answers["task_hand_overs_7d"] == []


def statements_say(spark: SparkSession, decisions: Path) -> None:
    """The statements to decide by, as a reader runs them, over all tables of a real night."""
    found = {
        path.stem: spark.sql(path.read_text("utf-8").rstrip().removesuffix(";")).collect()
        for path in decisions.glob("*.sql")
    }
    assert found.keys() == {"flip_tonight", "fleet_waves", "rollback_watch"}
    told = {row.group_id: (row.watch, row.signals) for row in found["rollback_watch"]}
    assert told["rollback"] == ("ALARM", ["WENT_BACK"])
    assert told["upgrade-crash"] == ("ALARM", ["WENT_BACK", "FENCED_MORE"])
    assert told["upgrade-eager"] == ("OK", [])
    assert all(row.unseen == [] for row in found["rollback_watch"])
    assert all(row.why for row in found["flip_tonight"])
