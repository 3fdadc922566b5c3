-- Grain: up to 2,500 facts, undecoded rows, counts or states of one kind, packed: what a slice of
--   groups gives is written and read as bytes.
-- Key: none; within a kind, facts have that of the table they feed.
-- Partitioned by: (cluster, logical_date): a night replaces its own rows.
-- Writer: run_nightly, step replay; replaces cluster = C.
-- Retention: internal; only the last night is read again; older versions serve build_reports until
--   they are vacuumed.
CREATE TABLE IF NOT EXISTS replayed (
  cluster       STRING  NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date  DATE    NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  kind          STRING  NOT NULL
    COMMENT 'kind of a fact in replay/facts.py, or of the grouped map itself: '
      'undecoded, counts, group_state (open enum)',
  rows          BIGINT  NOT NULL COMMENT 'facts in frame; rows',
  frame         BINARY  NOT NULL
    COMMENT 'the facts, an Arrow IPC stream of one record batch, a column for each field of the '
      'kind; bytes'
)
USING DELTA
COMMENT 'What the replay of one night returned, before it is split into tables'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
