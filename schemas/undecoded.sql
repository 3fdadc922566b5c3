-- Grain: one raw row, or stretch of bytes of a file, that could not be decoded.
-- Key: none; (cluster, logical_date, source, input, offset, path, position) distinguishes rows.
-- Partitioned by: (cluster, logical_date): a night replaces its own rows.
-- Writer: run_nightly, step report; replaces cluster = C AND logical_date = D.
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS undecoded (
  cluster           STRING NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE   NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  source            STRING NOT NULL
    COMMENT 'kind of the source; segments, dump_log, server_log, request_log (open enum)',
  input             STRING NOT NULL COMMENT 'what was read; __consumer_offsets-P, or a path',
  offsets_partition INT
    COMMENT 'partition of __consumer_offsets, NULL if the input is none; partition number',
  offset            BIGINT NOT NULL
    COMMENT 'of the record, -1 where unknown, of a text log the position; offset in '
      'offsets_partition, or bytes',
  group_id          STRING
    COMMENT 'group as far as the key shows it, NULL for stretches of bytes; any text',
  reason            STRING NOT NULL COMMENT 'why; short text',
  raw               BINARY
    COMMENT 'the bytes, NULL where they could not be read; at most 1024 bytes',
  raw_bytes         BIGINT NOT NULL COMMENT 'how many there were before capping; bytes',
  encoding          STRING
    COMMENT 'of raw; binary (as on disk), json (text of a dump), text (line of a log), NULL for '
      'stretches of bytes',
  path              STRING
    COMMENT 'file of a stretch of bytes, NULL for records; path or URI',
  position          BIGINT
    COMMENT 'where in that file it begins, NULL for records; bytes from the start',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text'
)
USING DELTA
COMMENT 'Bytes that could not be decoded, kept so that somebody can look at them'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
