"""Statements that a person decides by, in words that Spark, DuckDB and Trino share. They read the
views that `_sql/spark.sql`, `duckdb.sql` and `trino.sql` make, which name versions and cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from groupreplay.config.model import BrokersConfig, WavesConfig
from groupreplay.report.brokers import brokers_of
from groupreplay.report.fleet_waves import fleet_waves
from groupreplay.report.rollback_watch import rollback_watch


class Statement(NamedTuple):
    """tables: that it reads; it is written where all of them have rows."""

    tables: tuple[str, ...]
    text: str


FLIP_TONIGHT: Final = """\
-- Which groups to flip to the consumer protocol tonight, in this order: whose cohort is proven
-- (1), one small group that proves a cohort (2), what has nothing to roll (0), what waits (3).
-- saved_partition_s: what the consumer protocol would have saved in the last seven days, by the
-- middle of the model; a negative one would have cost. It decides among equals alone: a group that
-- is rolled back costs more than any saves.
SELECT r.flip_tier, r.team, r.contact, r.group_id, r.verdict, r.cohort, r.suggested_assignor,
       r.suggested_session_timeout_ms, r.partitions, w.saved_partition_s,
       r.checks AS look_at,
       CASE r.flip_tier WHEN 1 THEN concat(r.cohort, ' is proven')
                        WHEN 2 THEN concat('canary of ', r.cohort)
                        WHEN 0 THEN 'nothing to roll'
                        ELSE concat('waits for the canary of ', r.cohort) END AS why
FROM readiness r
LEFT JOIN (SELECT group_id, sum(actual_ms - mid_ms) / 1e3 AS saved_partition_s
           FROM what_if
           WHERE scenario = 'CONSUMER' AND NOT is_actual AND refused IS NULL
             AND started_at >= (SELECT max(as_of_at) - INTERVAL '7' DAY FROM readiness)
           GROUP BY group_id) w ON w.group_id = r.group_id
WHERE r.logical_date = (SELECT max(logical_date) FROM readiness) AND r.flip_tier IS NOT NULL
ORDER BY CASE r.flip_tier WHEN 1 THEN 0 WHEN 2 THEN 1 WHEN 0 THEN 2 ELSE 3 END,
         CASE WHEN r.verdict = 'READY' THEN 0 ELSE 1 END,
         w.saved_partition_s DESC NULLS LAST, r.partitions, r.group_id;
"""

_WATCHED: Final = (
    *("coverage", "departure_waves", "group_conversions", "group_days", "group_epochs", "members"),
    *("migration_progress", "rebalances", "refusals", "static_accounting", "stuck_members"),
)


def statements(waves: WavesConfig, brokers: BrokersConfig) -> Mapping[str, Statement]:
    """File below `_sql/` -> statement.

    brokers: what is configured; where nothing is, Kafka's default counts, since a statement has no
        lines of logs.
    """
    heartbeat_ms = brokers_of(brokers, {}).heartbeat_ms
    return {
        "decisions/flip_tonight.sql": Statement(("readiness", "what_if"), FLIP_TONIGHT),
        "decisions/rollback_watch.sql": Statement(_WATCHED, rollback_watch(heartbeat_ms)),
        "decisions/fleet_waves.sql": Statement(
            ("departure_waves", "migration_progress"), fleet_waves(waves.gap_ms)
        ),
    }
