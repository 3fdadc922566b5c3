-- How long do clients take to give partitions back, and for how long had nobody these?
-- Grain: a client of a group that partitions were asked back from in the seven days before the
-- night's newest record. Times are of hand-overs that have ended; going_on counts the others.
SELECT group_id, team, client_id, client_host, count(*) AS partitions_count,
       count(*) FILTER (WHERE outcome = 'ACKED') AS given_back,
       count(*) FILTER (WHERE is_censored) AS going_on,
       percentile_cont(0.5) WITHIN GROUP (
         ORDER BY CASE WHEN NOT is_censored THEN revoke_ms END) AS revoke_ms_p50,
       max(CASE WHEN NOT is_censored THEN revoke_ms END) AS revoke_ms_max,
       max(CASE WHEN NOT is_censored THEN unowned_ms END) AS unowned_ms_max
FROM revocation_latencies
WHERE requested_at > (SELECT max(as_of_at) FROM migration_progress) - INTERVAL 7 DAYS
GROUP BY group_id, team, client_id, client_host
