"""The statement `rollback_watch`: what changed in the day since a group went over to the consumer
protocol.

In words that Spark, DuckDB and Trino share, and in columns that are times: there is no function of
time that all three have under one name, but differences, and their days, hours and minutes.
"""

from __future__ import annotations

from typing import Final


def _hours(since: str, until: str) -> str:
    """Expression for the hours between two expressions of time."""
    between = f"({until} - {since})"
    return (
        f"(extract(DAY FROM {between}) * 24 + extract(HOUR FROM {between})"
        f" + extract(MINUTE FROM {between}) / 60e0 + extract(SECOND FROM {between}) / 3600e0)"
    )


_FLIPS: Final = """\
WITH newest AS (
  SELECT max(as_of_at) AS as_of_at, max(logical_date) AS night FROM migration_progress
),
flips AS (
  SELECT c.group_id, max(c.converted_at) AS flipped_at, max(n.as_of_at) AS as_of_at,
         max_by(c.mode, c.converted_at) AS mode, max_by(c.team, c.converted_at) AS team,
         max_by(c.contact, c.converted_at) AS contact
  FROM group_conversions c CROSS JOIN newest n
  WHERE c.direction = 'UPGRADE' AND c.converted_at > n.as_of_at - INTERVAL '24' HOUR
  GROUP BY c.group_id
),
backs AS (
  SELECT f.group_id, min(c.converted_at) AS downgraded_at
  FROM flips f
  JOIN group_conversions c ON c.group_id = f.group_id AND c.converted_at > f.flipped_at
  WHERE c.direction = 'DOWNGRADE'
  GROUP BY f.group_id
),
"""

_LINES: Final = """\
logs AS (
  SELECT max(CASE WHEN source = 'server_log' THEN last_at END) AS server_log_at,
         max(CASE WHEN source = 'request_log' THEN last_at END) AS request_log_at
  FROM coverage
),
refused AS (
  SELECT f.group_id,
         sum(CASE WHEN r.api = 'CONSUMER_GROUP_HEARTBEAT' AND r.error_code IN (69, 111)
                  THEN r.attempts ELSE 0 END) AS starts_refused,
         sum(CASE WHEN r.api IN ('OFFSET_COMMIT', 'TXN_OFFSET_COMMIT')
                   AND r.error_code IN (25, 113)
                  THEN r.attempts ELSE 0 END) AS commits_refused
  FROM flips f JOIN refusals r ON r.group_id = f.group_id AND r.last_at > f.flipped_at
  GROUP BY f.group_id
),
generations AS (
  SELECT f.group_id, max(CASE WHEN e.cooperative THEN 1 ELSE 0 END) AS is_cooperative
  FROM flips f JOIN group_epochs e ON e.group_id = f.group_id AND e.started_at <= f.flipped_at
   AND e.started_at > f.flipped_at - INTERVAL '7' DAY
  GROUP BY f.group_id
),
shares AS (
  SELECT r.group_id, r.join_ms,
         cume_dist() OVER (PARTITION BY r.group_id ORDER BY r.join_ms) AS share
  FROM flips f JOIN rebalances r ON r.group_id = f.group_id AND r.started_at <= f.flipped_at
   AND r.started_at > f.flipped_at - INTERVAL '7' DAY
  WHERE r.join_ms IS NOT NULL
),
joins AS (
  SELECT group_id, min(CASE WHEN share >= 0.95 THEN join_ms END) AS join_p95_ms
  FROM shares GROUP BY group_id
),
"""

_MEMBERS: Final = """\
stuck AS (
  SELECT group_id, count(*) AS not_consuming
  FROM stuck_members WHERE reason = 'ASSIGNED_NOT_CONSUMING' AND is_open
  GROUP BY group_id
),
fenced AS (
  SELECT f.group_id,
         greatest(min(m.joined_at), max(f.flipped_at) - INTERVAL '7' DAY) AS watched_from,
         count(CASE WHEN m.end_detail IN ('REBALANCE_TIMEOUT', 'SESSION_EXPIRED')
                     AND m.ended_at > f.flipped_at THEN 1 END) AS fenced_after,
         count(CASE WHEN m.end_detail IN ('REBALANCE_TIMEOUT', 'SESSION_EXPIRED')
                     AND m.ended_at <= f.flipped_at
                     AND m.ended_at > f.flipped_at - INTERVAL '7' DAY THEN 1 END) AS fenced_before
  FROM flips f JOIN members m ON m.group_id = f.group_id
  GROUP BY f.group_id
),
cliffs AS (
  SELECT f.group_id, count(DISTINCT s.from_offset) AS absences
  FROM flips f
  JOIN static_accounting s ON s.group_id = f.group_id AND s.removed_at > f.flipped_at
  JOIN members m ON m.group_id = f.group_id AND m.instance_id = s.instance_id
  WHERE s.outcome IN ('EXPIRED', 'EXPIRED_RETURNED') AND m.joined_at <= f.flipped_at
    AND m.session_timeout_ms > s.gap_high_ms
  GROUP BY f.group_id
),
"""

_DAYS: Final = """\
days AS (
  SELECT f.group_id,
         sum(CASE WHEN g.to_at > f.flipped_at THEN g.low_ms END) AS low_after,
         sum(CASE WHEN g.to_at > f.flipped_at THEN g.partitions_ms END) AS partitions_after,
         sum(CASE WHEN g.to_at <= f.flipped_at THEN g.high_ms END) AS high_before,
         sum(CASE WHEN g.to_at <= f.flipped_at THEN g.high_unknown END) AS unknown_before,
         sum(CASE WHEN g.to_at <= f.flipped_at THEN g.partitions_ms END) AS partitions_before,
         max(CASE WHEN g.to_at > f.flipped_at THEN g.handover_p95_ms END) AS handover_p95_ms
  FROM flips f JOIN group_days g ON g.group_id = f.group_id
   AND g.from_at >= f.flipped_at - INTERVAL '7' DAY
  GROUP BY f.group_id
),
rates AS (
  SELECT group_id, handover_p95_ms,
         CASE WHEN partitions_after > 0 THEN 100e0 * (1 - 1e0 * low_after / partitions_after)
         END AS availability_most_after,
         CASE WHEN partitions_before > 0 AND unknown_before = 0
              THEN 100e0 * (1 - 1e0 * high_before / partitions_before)
         END AS availability_least_before
  FROM days
),
rollouts AS (
  SELECT f.group_id, max(w.ended_at - w.started_at) AS longest
  FROM flips f JOIN departure_waves w ON w.group_id = f.group_id AND w.ended_at <= f.flipped_at
   AND w.started_at > f.flipped_at - INTERVAL '30' DAY
  WHERE w.class = 'ROLLOUT'
  GROUP BY f.group_id
),
mixed AS (
  SELECT p.group_id, p.mixed_since_at
  FROM migration_progress p JOIN newest n ON p.logical_date = n.night
  WHERE p.phase = 'MIGRATING'
),
"""

_TOLD: Final = f"""\
told AS (
  SELECT f.*, b.downgraded_at, s.not_consuming, r.starts_refused, r.commits_refused,
         x.fenced_after, x.fenced_before, d.handover_p95_ms, d.availability_most_after,
         d.availability_least_before, j.join_p95_ms, m.mixed_since_at, c.absences,
         b.downgraded_at IS NOT NULL AS went_back,
         r.starts_refused >= 3 AS not_starting,
         s.not_consuming > 0 AS owns_not_consuming,
         x.fenced_after > {_hours("f.flipped_at", "f.as_of_at")} * (1 + coalesce(3 *
           x.fenced_before / nullif({_hours("x.watched_from", "f.flipped_at")}, 0e0), 0e0))
           AS fenced_more,
         r.commits_refused > 0 AS stale_commits,
         d.handover_p95_ms > j.join_p95_ms AND d.handover_p95_ms > 2 * HEARTBEAT_MS
           AND coalesce(g.is_cooperative, 0) = 0 AS slower,
         d.availability_most_after < d.availability_least_before AS less_available,
         f.as_of_at - m.mixed_since_at > coalesce(w.longest, INTERVAL '2' HOUR) AS mixed_long,
         c.absences > 0 AS cliff,
         coalesce(l.server_log_at > f.flipped_at, FALSE) AS has_server_log,
         coalesce(l.request_log_at > f.flipped_at, FALSE) AS has_request_log
  FROM flips f CROSS JOIN logs l
  LEFT JOIN backs b ON b.group_id = f.group_id
  LEFT JOIN refused r ON r.group_id = f.group_id
  LEFT JOIN generations g ON g.group_id = f.group_id
  LEFT JOIN joins j ON j.group_id = f.group_id
  LEFT JOIN stuck s ON s.group_id = f.group_id
  LEFT JOIN fenced x ON x.group_id = f.group_id
  LEFT JOIN cliffs c ON c.group_id = f.group_id
  LEFT JOIN rates d ON d.group_id = f.group_id
  LEFT JOIN rollouts w ON w.group_id = f.group_id
  LEFT JOIN mixed m ON m.group_id = f.group_id
)
"""

_SHOWN: Final = """\
SELECT CASE WHEN went_back OR not_starting OR owns_not_consuming OR fenced_more THEN 'ALARM'
            WHEN stale_commits OR slower OR less_available OR mixed_long OR cliff THEN 'WATCH'
            ELSE 'OK' END AS watch,
       filter(split(concat_ws(' ',
         CASE WHEN went_back THEN 'WENT_BACK' END,
         CASE WHEN not_starting THEN 'NOT_STARTING' END,
         CASE WHEN owns_not_consuming THEN 'OWNS_NOT_CONSUMING' END,
         CASE WHEN fenced_more THEN 'FENCED_MORE' END,
         CASE WHEN stale_commits THEN 'STALE_COMMITS' END,
         CASE WHEN slower THEN 'SLOWER' END,
         CASE WHEN less_available THEN 'LESS_AVAILABLE' END,
         CASE WHEN mixed_long THEN 'MIXED_LONG' END,
         CASE WHEN cliff THEN 'CLIFF' END), ' '), x -> x <> '') AS signals,
       filter(split(concat_ws(' ',
         CASE WHEN NOT has_server_log AND NOT has_request_log THEN 'NOT_STARTING' END,
         CASE WHEN NOT has_server_log THEN 'FENCED_MORE' END,
         CASE WHEN NOT has_request_log THEN 'STALE_COMMITS' END,
         CASE WHEN NOT has_server_log THEN 'SLOWER' END), ' '), x -> x <> '') AS unseen,
       team, contact, group_id, mode, flipped_at, downgraded_at, starts_refused, not_consuming,
       fenced_before, fenced_after, commits_refused, join_p95_ms, handover_p95_ms,
       availability_least_before, availability_most_after, mixed_since_at,
       absences AS absences_no_longer_absorbed
FROM told
ORDER BY CASE WHEN went_back OR not_starting OR owns_not_consuming OR fenced_more THEN 0
              WHEN stale_commits OR slower OR less_available OR mixed_long OR cliff THEN 1
              ELSE 2 END, flipped_at, group_id;
"""

_HEAD: Final = """\
-- Groups that went over to the consumer protocol in the 24 hours before the newest night's end, and
-- what changed since: ALARM, WATCH or OK by the signals that hold. It never says "roll back": it
-- says what changed. `unseen` names the signals that only logs of brokers can show, where none of
-- these was read since. Before: the 7 days before the flip, whose own day counts as after.
"""


def rollback_watch(heartbeat_ms: int) -> str:
    """heartbeat_ms: heartbeat interval of the consumer protocol."""
    text = "".join((_HEAD, _FLIPS, _LINES, _MEMBERS, _DAYS, _TOLD, _SHOWN))
    return text.replace("HEARTBEAT_MS", str(heartbeat_ms))
