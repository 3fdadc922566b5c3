-- What did rebalances cost each group, and how available were its partitions at most?
-- Grain: a group, over its days that ended in the seven days before the night's newest record.
-- low_ms and high_ms are partition-ms that nobody read, at least and at most; high_unknown counts
-- what high_ms lacks.
SELECT group_id, team, count(DISTINCT day) AS days_count,
       CAST(sum(epochs) AS BIGINT) AS epochs_count, CAST(sum(moved) AS BIGINT) AS moved,
       CAST(sum(returned) AS BIGINT) AS returned,
       CAST(sum(partitions_ms) AS BIGINT) AS partitions_ms, CAST(sum(low_ms) AS BIGINT) AS low_ms,
       CAST(sum(high_ms) AS BIGINT) AS high_ms, CAST(sum(high_unknown) AS BIGINT) AS high_unknown,
       100e0 * CAST(sum(partitions_ms) - sum(low_ms) AS DOUBLE)
         / CAST(nullif(sum(partitions_ms), 0) AS DOUBLE) AS availability_most_pct,
       max(handover_max_ms) AS hand_over_ms_max,
       CAST(sum(unobserved_ms) AS BIGINT) AS unobserved_ms
FROM group_days
WHERE to_at > (SELECT max(as_of_at) FROM migration_progress) - INTERVAL 7 DAYS
GROUP BY group_id, team
