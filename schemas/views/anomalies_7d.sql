-- Which rules of the protocol were broken, how often, and in how many groups?
-- Grain: a rule that was broken in the seven days before the night's newest record.
SELECT severity, rule, count(*) AS times, count(DISTINCT group_id) AS groups_count,
       min(detected_at) AS first_at, max(detected_at) AS last_at, max(detail) AS example
FROM anomalies
WHERE detected_at > (SELECT max(as_of_at) FROM migration_progress) - INTERVAL 7 DAYS
GROUP BY severity, rule
