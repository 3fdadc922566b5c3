-- Grain: one partition log after de-duplication of its replicas, or one file, in one night.
-- Key: (cluster, logical_date, source, input).
-- Partitioned by: (cluster, logical_date): a night replaces its own rows.
-- Writer: run_nightly, step report; replaces cluster = C AND logical_date = D.
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS coverage (
  cluster      STRING    NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date DATE      NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  source       STRING    NOT NULL
    COMMENT 'kind of the source; segments, dump_log, kafka, server_log, request_log, none for '
      'what no source shows (open enum), joined by + where a log was put together from several',
  input        STRING    NOT NULL
    COMMENT 'what was read, __consumer_offsets-P or a path; of source none a reason of being '
      'stuck, or a part of a decision',
  first_offset BIGINT
    COMMENT 'first offset read, of a text log the position in its text; offset, or bytes',
  next_offset  BIGINT
    COMMENT 'one past the last offset read, = first_offset when there was nothing new; offset, or '
      'bytes',
  first_at     TIMESTAMP          COMMENT 'oldest record time, NULL without records; UTC',
  last_at      TIMESTAMP
    COMMENT 'newest record time, outliers left out, NULL without records; UTC',
  landed       BIGINT    NOT NULL
    COMMENT 'rows handed to the decoder, and damaged stretches, or lines of a text log: decoded + '
      'unknown + undecoded + left_out; rows',
  decoded      BIGINT    NOT NULL
    COMMENT 'rows that became records, or lines that report something, and those that go on with '
      'them; rows',
  unknown      BIGINT    NOT NULL
    COMMENT 'rows of record types that no version up to 4.4 has, or lines that no template knows '
      'or of other APIs; rows',
  undecoded    BIGINT    NOT NULL
    COMMENT 'rows and stretches that could not be decoded, each in table undecoded; rows',
  reduced      BIGINT    NOT NULL
    COMMENT 'commits that no measure needs, counted and left out; of a request log those that the '
      'row of another stands for; records',
  control      BIGINT    NOT NULL
    COMMENT 'transaction markers; of source kafka also aborted commits, where nothing else can be '
      'missing; records',
  aborted      BIGINT    NOT NULL
    COMMENT 'records of aborted transactions, which never count; records',
  open_commits BIGINT    NOT NULL
    COMMENT 'commits of transactions that had not ended when the input did, kept for a later '
      'night; records',
  duplicates   BIGINT    NOT NULL COMMENT 'records met again in another replica or copy; records',
  holes        BIGINT    NOT NULL COMMENT 'offsets that compaction or loss took; offsets',
  late         BIGINT    NOT NULL
    COMMENT 'records that turned up where earlier nights had met a hole, kept for rebuild_nights; '
      'records',
  loggers      MAP<STRING, BIGINT>
    COMMENT 'of a server log the lines that no template knows by logger, most first, the rest as '
      '(others); NULL for other sources; lines',
  log_incarnation INT
    COMMENT 'how often the topic was created again since the first night, NULL for never; times',
  detail       STRING
    COMMENT 'what a source that is not there could have shown, NULL for inputs; text',
  left_out     BIGINT
    COMMENT 'landed rows of groups that the configuration leaves out, kept and not replayed; rows'
)
USING DELTA
COMMENT 'What was read and what became of it, input by input'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
