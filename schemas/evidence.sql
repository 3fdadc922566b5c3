-- Grain: one fact that lines of broker logs prove, or the state of one subject (kind).
-- Key: none; within a kind that of its dataclass in lib/groupreplay/evidence/evidence_facts.py.
-- Partitioned by: (cluster, kind, logical_date): a night replaces its own rows; what was final in
--   nights before is read again, to sharpen rows that are not.
-- Writer: run_nightly, step replay; replaces cluster = C AND logical_date = D.
-- Retention: internal; as long as the rows that it sharpens may change.
CREATE TABLE IF NOT EXISTS evidence (
  cluster           STRING        NOT NULL
    COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE          NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  kind              STRING        NOT NULL
    COMMENT 'kind of a fact in lib/groupreplay/evidence/evidence_facts.py, or state (open enum)',
  group_id          STRING                 COMMENT 'of every fact; text',
  broker            BIGINT                 COMMENT 'of every fact; broker id',
  source            STRING                 COMMENT 'of every fact; text',
  input             STRING                 COMMENT 'of every fact; text',
  position          BIGINT                 COMMENT 'of every fact; byte',
  is_final          BOOLEAN                COMMENT 'of every fact; true, false',
  member_id         STRING
    COMMENT 'of departure, refusal, rejoin, contact, silence; text',
  instance_id       STRING
    COMMENT 'of departure, refusal, rejoin, contact, silence; text',
  ended_at          BIGINT
    COMMENT 'of departure, rebalance, contact; ms since the epoch, UTC',
  outcome           STRING                 COMMENT 'of departure, rebalance; text',
  end_detail        STRING                 COMMENT 'of departure; text',
  client_reason     STRING                 COMMENT 'of departure, rebalance; text',
  epoch             BIGINT                 COMMENT 'of departure, assignor_failure; number',
  client_id         STRING
    COMMENT 'of departure, refusal, rejoin, contact, silence; text',
  client_host       STRING
    COMMENT 'of departure, refusal, rejoin, contact, silence; text',
  subject           STRING                 COMMENT 'of refusal, state; text',
  api               STRING                 COMMENT 'of refusal; text',
  error_code        BIGINT                 COMMENT 'of refusal; number',
  refusal           STRING                 COMMENT 'of refusal; text',
  message           STRING                 COMMENT 'of refusal; text',
  first_at          BIGINT
    COMMENT 'of refusal, contact, assignor_failure; ms since the epoch, UTC',
  last_at           BIGINT
    COMMENT 'of refusal, outage, assignor_failure; ms since the epoch, UTC',
  attempts          BIGINT                 COMMENT 'of refusal, outage, assignor_failure; number',
  times_at          ARRAY<BIGINT>          COMMENT 'of refusal; ms since the epoch, UTC',
  generation        BIGINT                 COMMENT 'of rebalance, rejoin; number',
  started_at        BIGINT                 COMMENT 'of rebalance; ms since the epoch, UTC',
  group_state       STRING                 COMMENT 'of rebalance; text',
  reason            STRING                 COMMENT 'of rebalance, assignor_failure; text',
  cause             STRING                 COMMENT 'of rebalance; text',
  cause_member_id   STRING                 COMMENT 'of rebalance; text',
  joined_at         BIGINT
    COMMENT 'of rebalance, rejoin, contact; ms since the epoch, UTC',
  members_joined    BIGINT                 COMMENT 'of rebalance; number',
  synced_at         BIGINT                 COMMENT 'of rebalance, rejoin; ms since the epoch, UTC',
  members_missing   ARRAY<STRING>          COMMENT 'of rebalance; text',
  members_dropped   ARRAY<STRING>          COMMENT 'of rebalance; text',
  nobody_joined     BOOLEAN                COMMENT 'of rebalance; true, false',
  principal         STRING                 COMMENT 'of contact; text',
  software_name     STRING                 COMMENT 'of contact; text',
  software_version  STRING                 COMMENT 'of contact; text',
  protocol          STRING                 COMMENT 'of contact, silence; text',
  last_heartbeat_at BIGINT                 COMMENT 'of contact; ms since the epoch, UTC',
  heartbeats        BIGINT                 COMMENT 'of contact; number',
  longest_gap_ms    BIGINT                 COMMENT 'of contact; ms',
  error_codes       ARRAY<BIGINT>          COMMENT 'of contact; text',
  error_counts      ARRAY<BIGINT>          COMMENT 'of contact; text',
  connection        STRING                 COMMENT 'of contact; text',
  last_seen_at      BIGINT                 COMMENT 'of contact; ms since the epoch, UTC',
  is_away           BOOLEAN                COMMENT 'of contact; true, false',
  is_rejoining      BOOLEAN                COMMENT 'of contact; true, false',
  since_at          BIGINT
    COMMENT 'of departure, silence, outage; ms since the epoch, UTC',
  until_at          BIGINT
    COMMENT 'of silence, outage, assignor_failure; ms since the epoch, UTC',
  ended_by          STRING                 COMMENT 'of silence; text',
  offsets_partition BIGINT                 COMMENT 'of shard_event; partition number',
  event             STRING                 COMMENT 'of shard_event; text',
  occurred_at       BIGINT
    COMMENT 'of shard_event, broker_setting; ms since the epoch, UTC',
  duration_ms       BIGINT                 COMMENT 'of shard_event; ms',
  records           BIGINT                 COMMENT 'of shard_event; number',
  moved_from        BIGINT                 COMMENT 'of shard_event; broker id',
  detail            STRING                 COMMENT 'of shard_event; text',
  state_bytes       BINARY                 COMMENT 'of state; bytes',
  session_timeout_ms BIGINT                COMMENT 'of contact, silence; ms',
  leader_epoch      BIGINT                 COMMENT 'of shard_event; epoch',
  setting           STRING                 COMMENT 'of broker_setting; text',
  value             STRING                 COMMENT 'of broker_setting; text',
  told_at           BIGINT                 COMMENT 'of rejoin; ms since the epoch, UTC',
  answered_at       BIGINT                 COMMENT 'of rejoin; ms since the epoch, UTC',
  new_generation    BIGINT                 COMMENT 'of rejoin; number',
  heartbeat_interval_ms BIGINT             COMMENT 'of contact; ms',
  error_apis        ARRAY<STRING>          COMMENT 'of contact, goes with error_codes; API',
  beats             BIGINT                 COMMENT 'of contact; times between heartbeats',
  beats_ms          BIGINT                 COMMENT 'of contact; ms',
  last_beat_at      BIGINT                 COMMENT 'of contact; ms since the epoch, UTC',
  error_first_at    ARRAY<BIGINT>
    COMMENT 'of contact, goes with error_codes; ms since the epoch, UTC',
  error_last_at     ARRAY<BIGINT>
    COMMENT 'of contact, goes with error_codes; ms since the epoch, UTC',
  is_new            BOOLEAN                COMMENT 'of rejoin; true, false',
  last_alive_at     BIGINT                 COMMENT 'of contact; ms since the epoch, UTC',
  is_unassigned     BOOLEAN                COMMENT 'of rejoin; true, false',
  unassigned_since  BIGINT                 COMMENT 'of rejoin; ms since the epoch, UTC',
  answered_by       BIGINT                 COMMENT 'of rejoin; broker id',
  gone_at           BIGINT                 COMMENT 'of rejoin; ms since the epoch, UTC',
  heard_by          BIGINT                 COMMENT 'of contact; broker id',
  is_sent_away      BOOLEAN                COMMENT 'of contact; true, false',
  rebalance_timeout_ms BIGINT              COMMENT 'of contact; ms',
  due_at            BIGINT                 COMMENT 'of rejoin; ms since the epoch, UTC',
  is_classic        BOOLEAN                COMMENT 'of rejoin; true, false',
  is_quiet          BOOLEAN                COMMENT 'of rejoin; true, false',
  beside_at         BIGINT                 COMMENT 'of rejoin; ms since the epoch, UTC',
  is_passed         BOOLEAN                COMMENT 'of rejoin; true, false',
  is_told_again     BOOLEAN                COMMENT 'of rejoin; true, false',
  refused_by        BIGINT                 COMMENT 'of rejoin; broker id',
  is_first          BOOLEAN                COMMENT 'of rejoin; true, false',
  known_since_at    BIGINT                 COMMENT 'of contact; ms since the epoch, UTC',
  sent_away_at      BIGINT                 COMMENT 'of contact; ms since the epoch, UTC'
)
USING DELTA
COMMENT 'What lines of broker logs prove, fact by fact'
PARTITIONED BY (cluster, kind, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
