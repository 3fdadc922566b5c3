-- Grain: one protocol change of one group.
-- Key: (cluster, group_id, log_incarnation, incarnation, from_offset); log_incarnation may be
--   NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS group_conversions (
  cluster           STRING    NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE      NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id          STRING    NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation       BIGINT    NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition INT       NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset       BIGINT    NOT NULL
    COMMENT 'record that opens the row; offset in offsets_partition',
  to_offset         BIGINT
    COMMENT 'record that closes the row, NULL while it is open; offset in offsets_partition',
  start_observed    BOOLEAN   NOT NULL
    COMMENT 'false where the log began later than the row: its times start at the first record '
      'that shows it, and it has no durations; true, false',
  converted_at      TIMESTAMP NOT NULL
    COMMENT 'time of the operation that changed the protocol; UTC',
  direction         STRING    NOT NULL
    COMMENT 'UPGRADE (to consumer), DOWNGRADE (to classic), TO_STREAMS (from classic to streams), '
      'FROM_STREAMS (back) (open enum)',
  mode              STRING    NOT NULL
    COMMENT 'ONLINE (members stay, same incarnation), OFFLINE (the group was empty, a new '
      'incarnation), UNKNOWN (lost)',
  trigger_member_id STRING
    COMMENT 'member whose join or removal changed it, NULL for an offline downgrade; any text',
  epoch_before      INT
    COMMENT 'last epoch or generation before, NULL where not seen; epoch',
  epoch_after       INT
    COMMENT 'epoch or generation at the end of the operation, NULL where there is none or it was '
      'not seen; epoch',
  is_final          BOOLEAN   NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times'
)
USING DELTA
COMMENT 'Every change of a group of protocol: between classic and consumer, and between '
  'classic and streams'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
