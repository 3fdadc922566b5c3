-- Grain: one stuck episode of one member, longer than the threshold of its reason.
-- Key: (cluster, group_id, log_incarnation, incarnation, member_id, reason, since_at,
--   from_offset); log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS stuck_members (
  cluster            STRING        NOT NULL
    COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date       DATE          NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id           STRING        NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation        BIGINT        NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition  INT           NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset        BIGINT        NOT NULL
    COMMENT 'record that opens the row, or the position of the line in evidence; offset in '
      'offsets_partition, or bytes',
  to_offset          BIGINT
    COMMENT 'record that closes the row, NULL while it is open, and of what lines show; offset in '
      'offsets_partition',
  start_observed     BOOLEAN       NOT NULL
    COMMENT 'false where the log began later than the row: its times start at the first record '
      'that shows it, and it has no durations; true, false',
  member_id          STRING        NOT NULL COMMENT 'member id; any text',
  instance_id        STRING
    COMMENT 'group.instance.id, NULL for a dynamic member; any text',
  client_id          STRING
    COMMENT 'client.id, NULL where no record shows it; any text',
  client_host        STRING
    COMMENT 'host as the broker saw it, NULL where no record shows it; /address',
  member_protocol    STRING
    COMMENT 'protocol the member itself speaks, NULL where no record shows it; classic, consumer '
      '(open enum)',
  reason             STRING        NOT NULL
    COMMENT 'SLOW_REVOCATION, WAITING_ON_HOLDER, NOT_RECONCILING, STATIC_LIMBO, '
      'ASSIGNED_NOT_CONSUMING, FENCE_LOOP, and what lines and Kafka Streams show: '
      'NOT_HEARTBEATING, .. (open enum)',
  since_at           TIMESTAMP     NOT NULL
    COMMENT 'start of the episode; of a repetition, the first one; UTC',
  until_at           TIMESTAMP
    COMMENT 'end of the episode, NULL while it is open; UTC',
  stuck_ms           BIGINT        NOT NULL
    COMMENT 'until_at - since_at, while open as-of - since_at; ms',
  blocked_by         ARRAY<STRING> NOT NULL
    COMMENT 'members that hold what this one waits for, to be charged with the wait; member ids',
  partitions_waiting INT
    COMMENT 'partitions it waits for, NULL where the reason has none; partitions',
  partitions_held    INT
    COMMENT 'partitions it holds, NULL where the reason has none; partitions',
  deadline_at        TIMESTAMP
    COMMENT 'when the coordinator will fence it, NULL where no record shows it; UTC',
  is_open            BOOLEAN       NOT NULL COMMENT 'still stuck at as-of; true, false',
  repetitions        INT
    COMMENT 'times it happened in the episode, or probes in it, NULL for reasons that count '
      'nothing; repetitions',
  detail             STRING                 COMMENT 'more about the episode, NULL if nothing; text',
  evidence           STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > COMMENT 'line that shows the reason, NULL where records do; place',
  is_final           BOOLEAN       NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team               STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact            STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times',
  detail_code STRING
    COMMENT 'more of it, NULL where there is nothing to say and in rows of releases '
      'without it; see docs (open enum)',
  detail_params MAP<STRING, STRING>
    COMMENT 'what the sentence of detail_code names, NULL where that is; parameter to '
      'value, numbers as text, lists as JSON'
)
USING DELTA
COMMENT 'Members that were, or are, stuck: since when, why, on whom, until when'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
