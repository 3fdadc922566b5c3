-- Grain: one broken rule at one place.
-- Key: (cluster, rule, log_incarnation, evidence_partition, evidence_offset,
--   detail_code, detail_params), with group_id and incarnation where there are; log_incarnation may
--   be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS anomalies (
  cluster            STRING    NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date       DATE      NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id           STRING
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; NULL '
      'for rules about sources; any text, may be empty',
  incarnation        BIGINT
    COMMENT 'life of the group id, named by the offset of the first record seen of it; NULL for '
      'rules about sources; offset',
  offsets_partition  INT       NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset        BIGINT    NOT NULL
    COMMENT 'record that opens the row; offset in offsets_partition',
  to_offset          BIGINT
    COMMENT 'record that closes the row, NULL while it is open; offset in offsets_partition',
  start_observed     BOOLEAN   NOT NULL
    COMMENT 'false where the log began later than the row: its times start at the first record '
      'that shows it, and it has no durations; true, false',
  rule               STRING    NOT NULL
    COMMENT 'name of the rule; I1 to I24 and names of its own, see docs (open enum)',
  severity           STRING    NOT NULL COMMENT 'INFO, WARN, ERROR',
  detected_at        TIMESTAMP NOT NULL COMMENT 'time of the operation that broke it; UTC',
  evidence_partition INT       NOT NULL COMMENT 'partition of __consumer_offsets; partition number',
  evidence_offset    BIGINT    NOT NULL
    COMMENT 'record that shows it, -1 where none; offset in evidence_partition',
  detail             STRING    NOT NULL 
    COMMENT 'what was expected and what was found: the sentence of detail_code; text',
  path               STRING
    COMMENT 'file that shows it, NULL for rules about groups; path or URI',
  is_final           BOOLEAN   NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team               STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact            STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times',
  detail_code STRING
    COMMENT 'what was expected and what was found, NULL in rows of releases '
      'without it; see docs (open enum)',
  detail_params MAP<STRING, STRING>
    COMMENT 'what the sentence of detail_code names, NULL in rows of releases without it; '
      'parameter to value, numbers as text, lists as JSON'
)
USING DELTA
COMMENT 'Rules of the protocol, or of the sources, that the input broke, with the evidence'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
