-- Grain: one group in one night in which its state changed; a night reads the latest before it.
-- Key: (cluster, logical_date, group_id, offsets_partition).
-- Partitioned by: (cluster, logical_date): a night replaces its own rows.
-- Writer: run_nightly, step report; replaces cluster = C AND logical_date = D.
-- Retention: internal; the latest row of each group must stay.
CREATE TABLE IF NOT EXISTS group_state (
  cluster           STRING NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE   NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id          STRING NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  offsets_partition INT    NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  state_bytes       BINARY
    COMMENT 'versioned state of the machine, NULL when the group is gone; bytes'
)
USING DELTA
COMMENT 'State of the machine of each group, carried from night to night'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
