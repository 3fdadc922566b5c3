-- Grain: one generation that one member of the classic protocol joined, or was told to join and did
--   not.
-- Key: (cluster, group_id, member_id, told_at, joined_at); one of the two may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS rejoins (
  cluster         STRING        NOT NULL
    COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date    DATE          NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id        STRING        NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  member_id       STRING        NOT NULL COMMENT 'member id; any text',
  instance_id     STRING
    COMMENT 'group.instance.id, NULL for a dynamic member; any text',
  client_id       STRING                 COMMENT 'client.id of its requests; any text',
  client_host     STRING                 COMMENT 'host as the broker saw it; /address',
  generation      INT
    COMMENT 'generation in which it was told, in a consumer group its epoch, NULL where it joined '
      'without being told; generation',
  told_at         TIMESTAMP
    COMMENT 'first answer REBALANCE_IN_PROGRESS of that generation, NULL where it joined without '
      'being told; UTC',
  joined_at       TIMESTAMP
    COMMENT 'arrival of the JoinGroup that let it in, NULL where none did; UTC',
  answered_at     TIMESTAMP
    COMMENT 'when that was answered; UTC',
  synced_at       TIMESTAMP
    COMMENT 'when it had its assignment, NULL where another rebalance came first; UTC',
  new_generation  INT
    COMMENT 'generation that it joined, in a consumer group its epoch, NULL where none; generation',
  rejoin_ms       BIGINT
    COMMENT 'joined_at - told_at, charged to the member: its last batch, its callback, its way; ms',
  wait_ms         BIGINT
    COMMENT 'answered_at - joined_at, in a classic group charged to the slowest member; ms',
  evidence        STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > NOT NULL COMMENT 'line that told it, or that let it in; place',
  is_final        BOOLEAN       NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team            STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact         STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text'
)
USING DELTA
COMMENT 'Who joined a classic rebalance when, and who kept the others waiting'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
