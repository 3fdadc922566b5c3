-- Grain: one event of one partition of the offsets topic on one broker.
-- Key: (cluster, offsets_partition, broker, event, occurred_at).
-- Partitioned by: (cluster, logical_date): a night replaces its own rows.
-- Writer: run_nightly, step report; replaces cluster = C AND logical_date = D.
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS coordinator_events (
  cluster           STRING        NOT NULL
    COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE          NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  offsets_partition INT           NOT NULL
    COMMENT 'partition of __consumer_offsets; partition number',
  broker            INT           NOT NULL COMMENT 'broker that says so; broker id',
  event             STRING        NOT NULL COMMENT 'LOADED, LOAD_FAILED, UNLOADED (open enum)',
  occurred_at       TIMESTAMP     NOT NULL COMMENT 'time of the line; UTC',
  duration_ms       BIGINT
    COMMENT 'what loading took, NULL where the line does not say; ms',
  records           BIGINT
    COMMENT 'records loaded, NULL where the line does not say; records',
  moved_from        INT
    COMMENT 'broker that had it before, NULL where it was the same one or not seen; broker id',
  detail            STRING
    COMMENT 'error of a failed load, NULL if nothing; any text',
  groups            INT           NOT NULL
    COMMENT 'groups that live in the partition, or had an epoch there in the night, as far as '
      'their records were seen; groups',
  group_ids         ARRAY<STRING> NOT NULL COMMENT 'the first 100 of them by name; group ids',
  epochs_after      INT           NOT NULL
    COMMENT 'epochs of these groups that began in the 60 s after; epochs',
  evidence          STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > NOT NULL COMMENT 'the line; place'
)
USING DELTA
COMMENT 'Partitions of the offsets topic between brokers: loads, failed loads, moves, and the '
  'groups that they touch'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
