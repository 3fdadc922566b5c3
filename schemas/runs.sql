-- Grain: one run; every change of its state is one commit.
-- Key: (cluster, run_id).
-- Partitioned by: (cluster, logical_date): runs of different nights never touch the same file.
-- Writer: run_nightly and the jobs of single steps, every step; replaces the row of its own run_id.
-- Retention: kept; the newest DONE run of a cluster must stay.
CREATE TABLE IF NOT EXISTS runs (
  cluster        STRING              NOT NULL
    COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date   DATE                NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  run_id         STRING              NOT NULL COMMENT 'names the run; text',
  state          STRING              NOT NULL COMMENT 'PLANNED, LANDED, REPLAYED, DONE, FAILED',
  as_of_at       TIMESTAMP
    COMMENT 'newest time of the offsets topic in the plan: the moment that open rows are measured '
      'to; NULL until it is known; UTC',
  started_at     TIMESTAMP           NOT NULL
    COMMENT 'start of the run, by the clock of the machine that ran it; UTC',
  ended_at       TIMESTAMP
    COMMENT 'end of the run, by that clock, NULL while it runs; UTC',
  holder         STRING
    COMMENT 'who runs it, or ran it to its end, NULL where a step has ended and the next may take '
      'it; host and process',
  renewed_at     TIMESTAMP
    COMMENT 'last sign of life of the holder, by its clock; UTC',
  code_version   STRING              NOT NULL COMMENT 'version of groupreplay; text',
  config_hash    STRING              NOT NULL COMMENT 'of the configuration in force; hex',
  plan           STRING                       COMMENT 'what is read: inputs, sizes, offsets; JSON',
  table_versions MAP<STRING, BIGINT>
    COMMENT 'table -> Delta version that belongs to this run, NULL until DONE; versions',
  counts         MAP<STRING, BIGINT>          COMMENT 'table or step -> rows written; rows',
  timings        MAP<STRING, BIGINT>          COMMENT 'step -> how long it took; ms',
  digest         MAP<STRING, STRING>
    COMMENT 'table -> order-free digest of all its rows; 16 hex digits',
  digest_final   MAP<STRING, STRING>
    COMMENT 'table -> the same over its final rows of this night and all before; 16 hex digits',
  error          STRING                       COMMENT 'why it FAILED, else NULL; one sentence',
  config         STRING
    COMMENT 'configuration in force, defaults and overrides included, secrets hidden; JSON',
  core           STRING
    COMMENT 'how the first workers ran the pure core: compiled with its name, or interpreted with '
      'why; NULL where none had said; text'
)
USING DELTA
COMMENT 'The runs: what each read, as of when, how it ended, and the table versions that belong '
  'together'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
