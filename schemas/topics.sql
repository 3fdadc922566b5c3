-- Grain: one topic id, in the night that first knew it.
-- Key: (cluster, topic_id).
-- Partitioned by: (cluster, logical_date): a night adds the ids it is the first to know, so a rerun
--   replaces just these.
-- Writer: run_nightly, step report; replaces cluster = C AND logical_date = D; only ids that no
--   earlier night has.
-- Retention: kept; rows are never changed, and names of old rows depend on it.
CREATE TABLE IF NOT EXISTS topics (
  cluster       STRING    NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date  DATE      NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  topic_id      STRING    NOT NULL COMMENT 'topic id; base64 of 16 bytes, as Kafka prints it',
  topic         STRING    NOT NULL COMMENT 'topic name; any text',
  first_seen_at TIMESTAMP NOT NULL
    COMMENT 'first record that named it, or as-of of the night where it was given; UTC',
  partitions    INT
    COMMENT 'of the topic when first shown, NULL unless a topics source or a K4 record showed it; '
      'partitions',
  source        STRING    NOT NULL
    COMMENT 'who said so; given (topics source), K1 (commit value v4), K4 (brokers up to 4.0), '
      'SUBSCRIPTION (the one id left for a subscribed topic)'
)
USING DELTA
COMMENT 'Names of topic ids, given by a topics source or learnt from records; a deleted topic '
  'keeps its name'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
