-- Which groups can be flipped to the consumer protocol tonight, and which wait for a canary?
-- Grain: a group that can be flipped online. flip_tier is 1 where its cohort is proven, 2 for the
-- canary of its cohort, 0 where there is nothing to roll, 3 where it waits for that canary.
SELECT flip_tier, group_id, team, contact, phase, verdict, cohort, members_total, partitions,
       suggested_assignor, suggested_session_timeout_ms, checks, as_of_at
FROM readiness
WHERE logical_date = (SELECT max(logical_date) FROM migration_progress) AND flip_tier IS NOT NULL
