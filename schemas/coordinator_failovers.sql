-- Grain: one group and one change of the leader of its partition of the offsets topic; no row where
--   a source does not tell leader epochs (a live topic), nor of a group that never wrote again.
-- Key: (cluster, group_id, log_incarnation, incarnation, leader_epoch, from_offset);
--   log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS coordinator_failovers (
  cluster           STRING    NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE      NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id          STRING    NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation       BIGINT    NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition INT       NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset       BIGINT    NOT NULL
    COMMENT 'first record of the group under the new leader; offset in offsets_partition',
  to_offset         BIGINT
    COMMENT 'last operation that is counted in the *_after columns, from_offset where none is; '
      'offset in offsets_partition',
  start_observed    BOOLEAN   NOT NULL
    COMMENT 'false where a hole of the log lies between last_offset and from_offset, so that '
      'neither need be the one next to the move; true, false',
  leader_epoch_before  INT NOT NULL COMMENT 'leader epoch of the group record before; epoch',
  leader_epoch         INT NOT NULL
    COMMENT 'leader epoch of from_offset, the first record of the group under it; epoch',
  last_offset          BIGINT NOT NULL
    COMMENT 'last record of the group by the leader before; offset in offsets_partition',
  last_at              TIMESTAMP NOT NULL COMMENT 'time of last_offset; UTC',
  first_at             TIMESTAMP NOT NULL COMMENT 'time of from_offset; UTC',
  gap_ms               BIGINT
    COMMENT 'first_at - last_at: at most so long could nothing be written, NULL where a hole '
      'lies between, or clocks of two brokers make it negative; ms',
  protocol             STRING NOT NULL
    COMMENT 'protocol of the group before; classic, consumer, streams, simple (open enum)',
  phase                STRING NOT NULL
    COMMENT 'what the group was doing: EMPTY, STEADY, ASSIGNING, TARGET_UNTOLD, REVOKING, '
      'PARTLY_THERE, of classic groups PREPARING, COMPLETING, SYNCED; UNKNOWN (open enum)',
  doc_phase            INT
    COMMENT 'step of the rebalance in the design of Kafka 0.9, 0 for none, NULL for UNKNOWN; '
      '0 to 5',
  epoch                INT COMMENT 'group epoch or generation before, NULL where not known; epoch',
  target_epoch         INT
    COMMENT 'epoch of the target assignment before, NULL where not known; epoch',
  members              INT
    COMMENT 'members before, static ones that left for a while included, NULL where not '
      'known; members',
  at_epoch             INT COMMENT 'of these, members at the group epoch; members',
  revoking             INT
    COMMENT 'of these, members that were to give up partitions and had not; members',
  waiting              INT
    COMMENT 'of these, members that waited for partitions of others; members',
  away                 INT COMMENT 'of these, static members that had left for a while; members',
  partitions_pending   INT
    COMMENT 'partitions asked back and not given up; partitions, of Kafka Streams tasks',
  partitions_unowned   INT
    COMMENT 'partitions in a target that nobody held; partitions, of Kafka Streams tasks',
  epochs_after         INT
    COMMENT 'epochs or generations that began within 60 s of first_at, whatever their cause, '
      'NULL where a hole hides some; epochs',
  joined_after         INT
    COMMENT 'members that joined within these 60 s, NULL as epochs_after; members',
  removed_after        INT
    COMMENT 'members that were removed within these 60 s, NULL as epochs_after; members',
  lost_after           INT COMMENT 'of these, members that were there before the move; members',
  moved_after          INT
    COMMENT 'partitions that came to another member than had them last within these 60 s, '
      'NULL as epochs_after; partitions, of Kafka Streams tasks',
  loaded_at            TIMESTAMP
    COMMENT 'when the new coordinator had loaded the partition, NULL without a line; UTC',
  load_ms              BIGINT COMMENT 'what loading took, NULL without a line; ms',
  broker               INT COMMENT 'the new coordinator, NULL without a line; broker id',
  moved_from           INT
    COMMENT 'the coordinator before, NULL where it was the same broker or not seen; broker id',
  rearmed              ARRAY<STRING>
    COMMENT 'members of lost_after whose session ran out as the load had armed it: gone '
      'before, they got another session by the move; NULL without a line of the load; '
      'member ids',
  unavailable_ms       BIGINT
    COMMENT 'from the first request that found no coordinator to the first answer after, NULL '
      'without a request log; ms',
  evidence          STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > COMMENT 'line of the load, NULL without one; place',
  is_final          BOOLEAN   NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times'
)
USING DELTA
COMMENT 'What moves of coordinators touched: in which phase each group was, and what followed in '
  'the minute after'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
