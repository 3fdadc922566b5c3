-- How do tasks of Kafka Streams go from process to process, and how long had nobody them?
-- Grain: a kind, a cause and an outcome of hand-overs of tasks of an application that were asked
-- for in the seven days before the night's newest record; kind is NULL of those not granted.
SELECT group_id, team, kind, cause, outcome, count(*) AS tasks_count,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY unowned_ms) AS unowned_ms_p50,
       max(unowned_ms) AS unowned_ms_max, max(idle_ms) AS idle_ms_max,
       max(learning_ms) AS learning_ms_max, CAST(sum(gap_records) AS BIGINT) AS gap_records
FROM task_handovers
WHERE coalesce(requested_at, released_at, granted_at)
      > (SELECT max(as_of_at) FROM migration_progress) - INTERVAL 7 DAYS
GROUP BY group_id, team, kind, cause, outcome
