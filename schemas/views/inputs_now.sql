-- What was read last night, and which part is missing or could not be read?
-- Grain: an input.
SELECT source, input, first_at, last_at, landed, decoded, undecoded, holes, late, detail
FROM coverage
WHERE logical_date = (SELECT max(logical_date) FROM coverage)
