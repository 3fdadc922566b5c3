-- How far is each group, what does its flip wait for, and is anything in it stuck?
-- Grain: a group at the end of the night. verdict and flip_tier are of groups that are classic or
-- mixed; stuck_members_count and stuck_groups_count count episodes that go on.
WITH stuck AS (
  SELECT group_id, CAST(sum(of_members) AS BIGINT) AS of_members,
         CAST(sum(of_groups) AS BIGINT) AS of_groups
  FROM (SELECT group_id, 1 AS of_members, 0 AS of_groups FROM stuck_members WHERE is_open
        UNION ALL
        SELECT group_id, 0 AS of_members, 1 AS of_groups FROM stuck_groups WHERE is_open) AS s
  GROUP BY group_id
)
SELECT p.group_id, p.team, p.contact, p.protocol, p.phase, p.progress_pct, p.members_total,
       p.members_consumer, p.members_classic, p.mixed_since_at, p.is_stalled, p.group_epoch,
       r.verdict, r.flip_tier, coalesce(s.of_members, 0) AS stuck_members_count,
       coalesce(s.of_groups, 0) AS stuck_groups_count, p.as_of_at
FROM migration_progress p
LEFT JOIN readiness r ON r.group_id = p.group_id AND r.logical_date = p.logical_date
LEFT JOIN stuck s ON s.group_id = p.group_id
WHERE p.logical_date = (SELECT max(logical_date) FROM migration_progress)
