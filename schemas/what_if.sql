-- Grain: one wave of membership events of a group (departure_waves) under one scenario.
-- Key: (cluster, group_id, log_incarnation, incarnation, from_offset, scenario); log_incarnation
--   may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS what_if (
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
  log_incarnation   INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times',
  started_at        TIMESTAMP NOT NULL
    COMMENT 'time of the first event of the wave; UTC',
  scenario          STRING NOT NULL
    COMMENT 'EAGER, COOPERATIVE, CONSUMER, EAGER_STATIC, CONSUMER_STATIC, CONSUMER_HEARTBEAT (open '
      'enum)',
  is_actual         BOOLEAN NOT NULL
    COMMENT 'the group rebalanced so throughout the wave; true, false',
  events            INT NOT NULL
    COMMENT 'of the wave, whatever the scenario makes of them; events',
  rebalances        INT
    COMMENT 'that there would have been, NULL where the price is refused; rebalances',
  moved_min         INT
    COMMENT 'that an assignor which moves as little as it can would have moved, one that moved '
      'twice counted twice, NULL as rebalances; partitions',
  stopped_partitions INT
    COMMENT 'that nobody would have read at least once, NULL as rebalances; partitions',
  low_ms            BIGINT
    COMMENT 'nobody would have read them at least so long, summed up, NULL as rebalances; '
      'partition-ms',
  mid_ms            BIGINT
    COMMENT 'about so long, NULL as rebalances; partition-ms',
  high_ms           BIGINT
    COMMENT 'at most so long, NULL as rebalances; partition-ms',
  actual_ms         BIGINT
    COMMENT 'what the wave cost as it was: est_ms of departure_waves, less what members that were '
      'too slow had stood still before, NULL as rebalances and where est_ms is not known whole; '
      'partition-ms',
  delta_pct         DOUBLE
    COMMENT 'mid_ms against actual_ms, NULL without both, where actual_ms is 0, and of a group '
      'that was mixed; percent',
  model_error_pct   DOUBLE
    COMMENT 'the same of the row that is_actual: by so much the model errs on what really '
      'happened, NULL of other rows; percent',
  r_ms              BIGINT
    COMMENT 'middle of the time from being told to letting go, NULL where no price depends on it; '
      'ms',
  y_ms              BIGINT
    COMMENT 'middle of the sync phase, NULL where no price depends on it; ms',
  session_ms        BIGINT
    COMMENT 'longest session for which partitions would have stood still, NULL where none; ms',
  heartbeat_ms      BIGINT
    COMMENT 'heartbeat interval of the scenario, NULL as rebalances; ms',
  basis             STRING
    COMMENT 'where r_ms and y_ms come from, the weaker: OWN (the group), RECORDS (its '
      'generations), BROKER_LOG (its join phases), FLEET (all groups), FEW (its own, of which '
      'there are few), TRANSFERRED (the other protocol), ASSUMED, NULL where the price depends on '
      'neither (open enum)',
  refused           STRING
    COMMENT 'why there is no price: WAVE_HIDDEN, NO_TIMES, UNKNOWN_ENDS; or none to compare it '
      'with: MIXED_ACTUAL, NO_ACTUAL; NULL for neither (open enum)',
  is_final          BOOLEAN   NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text'
)
USING DELTA
COMMENT 'What joins, departures and crashes would have cost under another protocol'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
