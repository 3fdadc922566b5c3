-- Which groups rebalance, why, how many partitions move, and how long does it take?
-- Grain: a cause of epochs of a group that began in the seven days before the night's newest
-- record.
SELECT group_id, team, cause, count(*) AS epochs_count,
       CAST(sum(partitions_moved) AS BIGINT) AS partitions_moved,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY converge_ms) AS converge_ms_p50,
       max(converge_ms) AS converge_ms_max,
       count(*) FILTER (WHERE outcome = 'SUPERSEDED') AS never_settled
FROM group_epochs
WHERE started_at > (SELECT max(as_of_at) FROM migration_progress) - INTERVAL 7 DAYS
GROUP BY group_id, team, cause
