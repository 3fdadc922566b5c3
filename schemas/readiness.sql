-- Grain: one classic or mixed group at the end of one night.
-- Key: (cluster, logical_date, group_id).
-- Partitioned by: (cluster, logical_date): a night replaces its own rows.
-- Writer: run_nightly, step report; replaces cluster = C AND logical_date = D.
-- Retention: kept, a row a group and night; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS readiness (
  cluster           STRING    NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE      NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  as_of_at          TIMESTAMP NOT NULL
    COMMENT 'how far the partition of the group was read: the moment that the row describes; UTC',
  group_id          STRING    NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation       BIGINT    NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition INT       NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset       BIGINT    NOT NULL
    COMMENT 'first record seen of the incarnation; offset in offsets_partition',
  log_incarnation   INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the name of a life; times',
  phase             STRING    NOT NULL
    COMMENT 'as in migration_progress; CLASSIC, MIGRATING, ROLLED_BACK, EMPTY, NOT_APPLICABLE '
      '(open enum)',
  verdict           STRING    NOT NULL
    COMMENT 'READY, READY_OFFLINE, WARN, BLOCKED (the broker refuses, or no client can), '
      'NOT_APPLICABLE, UNKNOWN (not seen long enough) (open enum)',
  flip_tier         INT
    COMMENT '1 its cohort is proven, 2 the canary of its cohort, 3 wait for the canary, 0 nothing '
      'to roll, NULL not to be flipped online tonight; number',
  cohort            STRING    NOT NULL
    COMMENT 'team and client software, - and ? where they are not known; any text',
  members_total     INT       NOT NULL
    COMMENT 'members now, static ones that left for a while included; members',
  members_static    INT       NOT NULL COMMENT 'of these, members with an instance id; members',
  partitions        INT
    COMMENT 'partitions that members hold, NULL where an earlier release wrote the state; '
      'partitions',
  assignor          STRING
    COMMENT 'assignor that the group selected, of a mixed group the first that a classic member '
      'offers, NULL without members; any text',
  is_cooperative    BOOLEAN
    COMMENT 'whether members went on reading in the last generation that shows it, NULL where '
      'none does; true, false',
  suggested_assignor STRING
    COMMENT 'assignor of the coordinator that does the same, NULL where none does; range, uniform',
  suggested_session_timeout_ms BIGINT
    COMMENT 'consumer.session.timeout.ms of the group that would absorb what its static members '
      'own sessions absorbed, NULL: the default is enough; ms',
  suggested_heartbeat_ms BIGINT
    COMMENT 'NULL: nothing in logs argues for another heartbeat interval; ms',
  rules             ARRAY<STRUCT<
    rule: STRING COMMENT 'id of the rule; R1 to R19',
    severity: STRING COMMENT 'NA, BLOCK, BLOCK_ONLINE, FIX, CHECK, INFO (open enum)',
    members: ARRAY<STRUCT<
      member_id: STRING COMMENT 'member id; any text',
      instance_id: STRING COMMENT 'group.instance.id, NULL for a dynamic member; any text',
      client_id: STRING COMMENT 'client.id; any text',
      client_host: STRING COMMENT 'host as the broker saw it; /address',
      client_inherited: BOOLEAN COMMENT 'as in members; true, false',
      software: STRING COMMENT 'client library and its version, NULL without a request log; text'
    >> COMMENT 'the first 20 that it is about, by member id; members',
    members_count: INT COMMENT 'that it is about; members',
    value: DOUBLE COMMENT 'what was found, NULL where there is no number; unit of the rule',
    limit: DOUBLE COMMENT 'what it was held against, NULL where there is none; unit of the rule',
    detail: STRING COMMENT 'what that means; sentence',
    evidence_offset: BIGINT
      COMMENT 'record that shows it, NULL where a line or the configuration does; offset in '
        'offsets_partition',
    evidence: STRUCT<
      source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
      input: STRING COMMENT 'file that the line is in; path',
      position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
    > COMMENT 'line that shows it, NULL without one; place'
  >> NOT NULL COMMENT 'rules that fired, by their ids; rules',
  rules_unseen      ARRAY<STRING> NOT NULL
    COMMENT 'rules that nothing given could show; R1 to R19',
  observed_ms       BIGINT
    COMMENT 'for how long the group was watched without a hole, NULL where that is not known; ms',
  broker_version    STRING
    COMMENT 'version of the oldest broker, NULL where it is not known; version',
  migration_policy  STRING
    COMMENT 'group.consumer.migration.policy, NULL where it is not known; as in Kafka',
  brokers_known     STRING    NOT NULL
    COMMENT 'where session timeouts and their bounds come from, the weakest; CONFIG, LOGS, ASSUMED '
      '(open enum)',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  checks            ARRAY<STRING>
    COMMENT 'rules of severity CHECK, a line each: its id and what it means, NULL in rows of '
      'earlier versions; sentences'
)
USING DELTA
COMMENT 'Which groups can be flipped to the consumer protocol, which not, why, and who has to act'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
