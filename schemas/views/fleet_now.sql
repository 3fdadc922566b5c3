-- How far is the fleet on its way to the consumer protocol?
-- Grain: a phase, in which groups were at the end of the night; those that cannot take part are
-- NOT_APPLICABLE.
SELECT phase, count(*) AS groups_count, count(*) FILTER (WHERE is_stalled) AS groups_stalled,
       CAST(sum(members_total) AS BIGINT) AS members_total,
       CAST(sum(members_consumer) AS BIGINT) AS members_consumer,
       CAST(sum(members_classic) AS BIGINT) AS members_classic, max(as_of_at) AS as_of_at
FROM migration_progress
WHERE logical_date = (SELECT max(logical_date) FROM migration_progress)
GROUP BY phase
