-- Which deploys, scalings and crashes were there, what did they move, and what did they stop?
-- Grain: a wave of joins and departures that began in the seven days before the night's newest
-- record. low_ms, est_ms and high_ms are partition-ms that nobody read: at least, by an estimate,
-- at most.
SELECT group_id, team, contact, started_at, ended_at, settled_at, class, class_confidence,
       members_before, members_after, departed, joined, replaced, epochs, moved, returned,
       low_ms, est_ms, high_ms, longest_idle_ms
FROM departure_waves
WHERE started_at > (SELECT max(as_of_at) FROM migration_progress) - INTERVAL 7 DAYS
