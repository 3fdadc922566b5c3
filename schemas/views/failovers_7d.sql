-- Which groups had their coordinator moved, what did that catch them in, and what followed?
-- Grain: a move of a group's coordinator whose first record after it is of the seven days before
-- the night's newest record.
SELECT group_id, team, contact, leader_epoch_before, leader_epoch, last_at, first_at, gap_ms,
       protocol, phase, members, epochs_after, joined_after, removed_after, lost_after, moved_after,
       load_ms, unavailable_ms, moved_from, broker
FROM coordinator_failovers
WHERE first_at > (SELECT max(as_of_at) FROM migration_progress) - INTERVAL 7 DAYS
