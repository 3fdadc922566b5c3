-- Which clients keep a group from the consumer protocol, and since when?
-- Grain: a member of a group that still speaks the classic protocol.
SELECT group_id, team, contact, phase, progress_pct, mixed_since_at, who.client_id, who.client_host,
       who.instance_id, who.member_id
FROM (SELECT group_id, team, contact, phase, progress_pct, mixed_since_at, explode(blockers) AS who
      FROM migration_progress
      WHERE logical_date = (SELECT max(logical_date) FROM migration_progress)) AS blocked
