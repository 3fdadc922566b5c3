-- Grain: one rebalance of a classic group, as its coordinator logged it.
-- Key: (cluster, group_id, generation, started_at).
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS rebalances (
  cluster         STRING        NOT NULL
    COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date    DATE          NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id        STRING        NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  generation      INT           NOT NULL COMMENT 'generation before the rebalance; generation',
  started_at      TIMESTAMP     NOT NULL COMMENT 'start of the join phase; UTC',
  group_state     STRING
    COMMENT 'state that the group was in, NULL where the line lacks it; state of a classic group',
  cause           STRING        NOT NULL
    COMMENT 'JOIN, LEFT, FENCED, REJOIN, SUBSCRIPTION, ASSIGNOR, ASSIGNMENT_NOT_STORED, '
      'DOWNGRADE, COORDINATOR_LOAD, UNKNOWN (open enum)',
  cause_member_id STRING
    COMMENT 'member named in the reason, NULL where none; any text',
  reason          STRING                 COMMENT 'reason in the words of the broker; any text',
  client_reason   STRING
    COMMENT 'reason in the words of the client, NULL where it gave none; any text',
  joined_at       TIMESTAMP
    COMMENT 'end of the join phase, NULL if it never ended; UTC',
  members_joined  INT                    COMMENT 'members at the end of the join phase; members',
  synced_at       TIMESTAMP
    COMMENT 'assignment of the leader received, NULL if it never was; UTC',
  join_ms         BIGINT                 COMMENT 'joined_at - started_at; ms',
  sync_ms         BIGINT                 COMMENT 'synced_at - joined_at; ms',
  members_missing ARRAY<STRING> NOT NULL COMMENT 'members that did not join in time; member ids',
  members_dropped ARRAY<STRING> NOT NULL
    COMMENT 'members removed for not joining or not syncing in time; member ids',
  nobody_joined   BOOLEAN       NOT NULL
    COMMENT 'the join phase ran out without a member and began again; true, false',
  outcome         STRING        NOT NULL
    COMMENT 'COMPLETED, EMPTY, RESTARTED (another began before this one was synced), CONVERTED, '
      'INTERRUPTED, OPEN (open enum)',
  evidence        STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > NOT NULL COMMENT 'line that began it; place',
  is_final        BOOLEAN       NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team            STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact         STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  first_joined_at TIMESTAMP
    COMMENT 'arrival of the first JoinGroup that was let into the next generation, NULL where no '
      'request log shows one; UTC',
  last_joined_at  TIMESTAMP
    COMMENT 'arrival of the last one, which the others waited for, NULL likewise; UTC',
  last_joined_member_id STRING
    COMMENT 'member that it is of, NULL likewise; any text',
  members_back    ARRAY<STRING>
    COMMENT 'members whose session ended in the join phase and whose process joined in time under '
      'another id, NULL where no request log shows that; their old member ids'
)
USING DELTA
COMMENT 'Rebalances of classic groups, phase by phase, those that never finished among them'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
