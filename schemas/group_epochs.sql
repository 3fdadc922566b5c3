-- Grain: one epoch or generation; a conversion supersedes the row and opens another of the same
--   number.
-- Key: (cluster, group_id, log_incarnation, incarnation, epoch, from_offset); log_incarnation
--   may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS group_epochs (
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
    COMMENT 'record that opens the row; offset in offsets_partition',
  to_offset         BIGINT
    COMMENT 'record that closes the row, NULL while it is open; offset in offsets_partition',
  start_observed    BOOLEAN   NOT NULL
    COMMENT 'false where the log began later than the row: its times start at the first record '
      'that shows it, and it has no durations; true, false',
  epoch             INT       NOT NULL COMMENT 'group epoch or generation; epoch',
  protocol          STRING    NOT NULL
    COMMENT 'protocol of the group in it; classic, consumer (open enum)',
  started_at        TIMESTAMP NOT NULL
    COMMENT 'time of the record that began it, or first showed it (start_observed); UTC',
  cause             STRING    NOT NULL
    COMMENT 'UPGRADE, DOWNGRADE, STATIC_REPLACED, LEFT_OR_FENCED, JOIN, SUBSCRIPTION, REGEX, '
      'ASSIGNOR, TOPIC_METADATA, UNKNOWN (open enum)',
  cause_member_id   STRING
    COMMENT 'member behind the cause, NULL where none or several; any text',
  confidence        STRING    NOT NULL
    COMMENT 'of the cause; EXACT (a record says so), INFERRED (from the difference of members), '
      'NONE',
  target_at         TIMESTAMP
    COMMENT 'first target assignment of this epoch, NULL if none was written; UTC',
  converged_at      TIMESTAMP
    COMMENT 'first operation end with every live member stable at the epoch, NULL if never; UTC',
  superseded_at     TIMESTAMP
    COMMENT 'start of the next epoch, NULL for the last one of the group; UTC',
  members           INT       NOT NULL COMMENT 'at the end of the opening operation; members',
  members_classic   INT       NOT NULL
    COMMENT 'of these, members that speak the classic protocol; members',
  partitions_moved  INT
    COMMENT 'partitions whose owner in the target differs from the target before, NULL without a '
      'target; partitions',
  assign_ms         BIGINT
    COMMENT 'target_at - started_at, NULL without both or where the start was not observed; ms',
  converge_ms       BIGINT
    COMMENT 'converged_at - started_at, NULL without both or where the start was not observed; ms',
  outcome           STRING    NOT NULL
    COMMENT 'CONVERGED, SUPERSEDED (before all members were stable), GROUP_REMOVED (likewise), '
      'UNOBSERVED (a hole lies in it), OPEN (open enum)',
  cause_detail      STRING
    COMMENT 'of a removal its end_detail, of a classic generation the reason in the words of the '
      'broker, NULL without a line; any text',
  client_reason     STRING
    COMMENT 'reason in the words of the client (classic protocol), NULL where it gave none; any '
      'text',
  evidence          STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > COMMENT 'line that shows the cause, NULL without one; place',
  is_final          BOOLEAN   NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times',
  joined_at         TIMESTAMP
    COMMENT 'end of the join phase of a classic generation, NULL where its record does not say and '
      'for the consumer protocol; UTC',
  sync_ms           BIGINT
    COMMENT 'from joined_at to the record of the generation: while nobody of an eager group may '
      'read, NULL without joined_at; ms',
  cooperative       BOOLEAN
    COMMENT 'whether members of a classic group went on reading in the rebalance, by what they '
      'list as owned, NULL where nobody can show it and for the consumer protocol; true, false',
  skipped           INT
    COMMENT 'generations between the one before and this one, whose join phases never ended, NULL '
      'where the one before was not seen and for the consumer protocol; generations',
  partitions        INT COMMENT 'in the targets at target_at, NULL without it; partitions',
  stopped           INT
    COMMENT 'partitions that members of an eager group stopped reading for the generation, NULL of '
      'any other group; partitions',
  leader_member_id STRING
    COMMENT 'leader of a classic generation, which made its assignment, NULL for the consumer '
      'protocol, for a downgrade, and where an earlier release wrote the row; any text'
)
USING DELTA
COMMENT 'Every epoch (consumer protocol) or generation (classic protocol) of a group'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
