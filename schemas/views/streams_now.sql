-- How far is each Kafka Streams application from its balanced placement, and when is it looked at
-- again?
-- Grain: an application with a rebalance that is not over, or that was its last.
SELECT r.group_id, r.team, r.protocol, r.epoch, r.cause, r.decided_at, r.members, r.processes,
       r.tasks, r.tasks_missing, r.tasks_owed, r.tasks_misplaced, r.warmup_copies, r.imbalance_pct,
       r.next_kind, r.next_at
FROM (SELECT group_id, team, protocol, epoch, cause, decided_at, members, processes, tasks,
             tasks_missing, tasks_owed, tasks_misplaced, warmup_copies, imbalance_pct, next_kind,
             next_at, row_number() OVER (PARTITION BY group_id ORDER BY from_offset DESC) AS newest
      FROM streams_rebalances
      WHERE NOT is_final) AS r
WHERE r.newest = 1
