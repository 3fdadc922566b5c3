-- Which members and groups are stuck now, since when, why, on whom, and until when?
-- Grain: an episode that goes on; member_id and client are NULL where it is the whole group's.
SELECT group_id, team, contact, reason, since_at, stuck_ms, member_id, client_id, client_host,
       blocked_by, deadline_at, detail
FROM stuck_members
WHERE is_open
UNION ALL
SELECT group_id, team, contact, reason, since_at, stuck_ms, NULL AS member_id, NULL AS client_id,
       NULL AS client_host, NULL AS blocked_by, NULL AS deadline_at, detail
FROM stuck_groups
WHERE is_open
