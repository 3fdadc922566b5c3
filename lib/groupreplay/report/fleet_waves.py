"""The statement `fleet_waves`: waves of several groups that came together, by team and by host.

A statement and no table: which groups are in one depends on which groups and nights there are.
Groups are taken together by the array of their hosts, where it has one: there is no function that
takes an element of an array and has one name in Spark, DuckDB and Trino.
"""

from __future__ import annotations

from typing import Final

_WAVES: Final = """\
-- Waves of groups that overlap, or begin at most GAP s after the latest end so far: one deploy of a
-- team, or one machine that went. A wave counts with its team, and with its host where all that
-- departed were on one. Newest first, those that ended in the 7 days before the newest night's end.
WITH waves AS (
  SELECT w.team, filter(w.hosts_out, x -> x <> x) AS hosts, w.group_id, w.from_offset, w.class,
         w.started_at, w.ended_at, w.departed, w.joined, w.low_ms, w.est_ms, w.est_is_partial,
         w.high_ms, w.high_unknown
  FROM departure_waves w
  WHERE w.class NOT IN ('START', 'BOUNCE') AND w.team IS NOT NULL
  UNION ALL
  SELECT NULL, w.hosts_out, w.group_id, w.from_offset, w.class,
         w.started_at, w.ended_at, w.departed, w.joined, w.low_ms, w.est_ms, w.est_is_partial,
         w.high_ms, w.high_unknown
  FROM departure_waves w
  -- Hosts are distinct: one for which there is no other, and that is all of them.
  WHERE w.class NOT IN ('START', 'BOUNCE') AND w.hosts_out <> filter(w.hosts_out, x -> x <> x)
    AND w.hosts_out = filter(w.hosts_out,
          x -> filter(w.hosts_out, y -> y <> x) = filter(w.hosts_out, z -> z <> z))
),
"""

_FLEETS: Final = """\
begun AS (
  SELECT w.*, CASE WHEN started_at <= max(ended_at) OVER (
           PARTITION BY team, hosts ORDER BY started_at, group_id, from_offset
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) + INTERVAL 'GAP' SECOND
         THEN 0 ELSE 1 END AS begins
  FROM waves w
),
numbered AS (
  SELECT b.*, sum(begins) OVER (
           PARTITION BY team, hosts ORDER BY started_at, group_id, from_offset
           ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS fleet_wave
  FROM begun b
),
placed AS (
  SELECT n.*, row_number() OVER (
           PARTITION BY team, hosts, fleet_wave, group_id ORDER BY started_at, from_offset) AS place
  FROM numbered n
),
by_class AS (
  SELECT team, hosts, fleet_wave, class, count(*) AS waves,
         count(CASE WHEN place = 1 THEN 1 END) AS groups_total,
         min(started_at) AS started_at, max(ended_at) AS ended_at,
         sum(departed) AS departed, sum(joined) AS joined, sum(low_ms) AS low_ms,
         sum(est_ms) AS est_ms, count(est_ms) AS estimated,
         max(CASE WHEN est_is_partial THEN 1 ELSE 0 END) AS partial,
         sum(high_ms) AS high_ms, count(high_ms) AS bounded, sum(high_unknown) AS high_unknown
  FROM placed GROUP BY team, hosts, fleet_wave, class
),
fleets AS (
  SELECT team, hosts, fleet_wave, min(started_at) AS started_at, max(ended_at) AS ended_at,
         sum(groups_total) AS groups_total, sum(waves) AS waves, sum(departed) AS departed,
         sum(joined) AS joined,
         array_sort(array_agg(concat(class, ' ', CAST(waves AS VARCHAR(20))))) AS classes,
         sum(low_ms) AS low_ms,
         CASE WHEN sum(estimated) = sum(waves) THEN sum(est_ms) END AS est_ms,
         max(partial) = 1 AS est_is_partial,
         CASE WHEN sum(bounded) = sum(waves) THEN sum(high_ms) END AS high_ms,
         sum(high_unknown) AS high_unknown
  FROM by_class GROUP BY team, hosts, fleet_wave
)
SELECT team, hosts, started_at, ended_at, groups_total, waves, departed, joined, classes, low_ms,
       est_ms, est_is_partial, high_ms, high_unknown
FROM fleets
WHERE ended_at > (SELECT max(as_of_at) FROM migration_progress) - INTERVAL '7' DAY
ORDER BY started_at DESC, team NULLS LAST, hosts;
"""


def fleet_waves(gap_ms: int) -> str:
    """gap_ms: waves of groups further apart are of two fleet waves."""
    seconds = f"{gap_ms // 1000}.{gap_ms % 1000:03d}".rstrip("0").rstrip(".")
    return (_WAVES + _FLEETS).replace("GAP", seconds)
