-- What did static membership absorb, what did it hide, and where do two processes share a name?
-- Grain: a group with absences of static members that ended in the seven days before the night's
-- newest record.
SELECT group_id, team, count(*) AS absences_count,
       count(*) FILTER (WHERE outcome = 'ABSORBED') AS absorbed,
       CAST(sum(avoided_moves) AS BIGINT) AS avoided_moves,
       max(coalesce(gap_ms, gap_high_ms)) AS gap_ms_max,
       count(*) FILTER (WHERE outcome = 'EXPIRED') AS expired,
       CAST(sum(blind_extra_ms * partitions) AS BIGINT) AS blind_partition_ms,
       count(*) FILTER (WHERE is_cliff) AS cliffs,
       count(*) FILTER (WHERE owner_was_alive) AS duplicates
FROM static_accounting
WHERE membership = 'STATIC'
  AND coalesce(returned_at, removed_at)
      > (SELECT max(as_of_at) FROM migration_progress) - INTERVAL 7 DAYS
GROUP BY group_id, team
