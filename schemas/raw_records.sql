-- Grain: one record, or one thing to say about the log (kind).
-- Key: (cluster, offsets_partition, kind, offset), but for commits that share the offset of their
--   transaction marker.
-- Partitioned by: (cluster, logical_date, kind): each step reads just the kinds it needs.
-- Writer: run_nightly, step land; replaces cluster = C AND logical_date = D.
-- Retention: internal; open commits, and nights that may run again, are read again; a night without
--   its rows cannot.
CREATE TABLE IF NOT EXISTS raw_records (
  cluster           STRING NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE   NOT NULL COMMENT 'night that landed it; date',
  kind              STRING NOT NULL
    COMMENT 'record, open_commit, marker: what the log has; late_record, late_open_commit, '
      'late_marker: the same, for a rebuild alone; damage, conflict, clock, other_log, late: '
      'findings; unit: what was read of a unit (open enum)',
  offsets_partition INT    NOT NULL COMMENT 'partition of __consumer_offsets; partition number',
  offset            BIGINT NOT NULL
    COMMENT 'of the record; a commit of a transaction stands at its marker, a unit at its first '
      'offset, -1 where unknown; offset',
  ts_ms             BIGINT NOT NULL
    COMMENT 'record time, -1 where unknown; ms since the epoch, UTC',
  leader_epoch      INT    NOT NULL
    COMMENT 'partition leader epoch of its batch, -1 where unknown, as from a live topic; epoch',
  batch_base_offset BIGINT NOT NULL
    COMMENT 'base offset of its batch: every batch boundary ends an operation, -1 where unknown, '
      'as from a live topic; offset',
  last_hole         BIGINT NOT NULL
    COMMENT 'greatest offset below it in its unit that is missing, or whose record names no group, '
      '-1 if none; offset',
  encoding          STRING NOT NULL
    COMMENT 'of key and value; binary (as on disk), json (text of a dump), empty where there is '
      'neither',
  group_id          STRING NOT NULL
    COMMENT 'group id of the key, bytes that are no UTF-8 escaped, empty where the key is too '
      'short or there is none; any text',
  key               BINARY          COMMENT 'record key, NULL for kinds without; bytes',
  value             BINARY
    COMMENT 'record value, NULL for a tombstone; of damage the first bytes of it; bytes',
  producer_id       BIGINT NOT NULL COMMENT 'of the batch, -1 where none; producer id',
  source            STRING NOT NULL
    COMMENT 'kind of the source; segments, dump_log, kafka (open enum)',
  input             STRING NOT NULL COMMENT 'what was read; __consumer_offsets-P, or a path',
  detail            STRING
    COMMENT 'what a row that is no record says; own_offset of a commit that stands at the marker '
      'of its transaction; NULL for other records; JSON',
  log_incarnation   INT
    COMMENT 'how often the topic had been created again when the row was landed, NULL for never; '
      'times'
)
USING DELTA
COMMENT 'Records of the offsets topic as bytes with their position, landed exactly once'
PARTITIONED BY (cluster, logical_date, kind)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
