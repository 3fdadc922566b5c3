-- Grain: one member holding one task in one role for one unbroken span; final when the next owner
--   has it or there can be none.
-- Key: (cluster, group_id, log_incarnation, incarnation, member_id, task_id, role, from_offset);
--   log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS task_assignments (
  cluster           STRING NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id          STRING NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation       BIGINT NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition INT NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset       BIGINT NOT NULL
    COMMENT 'record that opens the row; offset in offsets_partition',
  to_offset         BIGINT
    COMMENT 'record that closes the row, NULL while it is open; offset in offsets_partition',
  start_observed    BOOLEAN NOT NULL
    COMMENT 'false where the log began later than the row: its times start at the first record '
      'that shows it, and it has no durations; true, false',
  member_id         STRING NOT NULL COMMENT 'member id; any text',
  instance_id       STRING COMMENT 'group.instance.id, NULL for a dynamic member; any text',
  client_id         STRING COMMENT 'client.id, NULL where no record shows it; any text',
  client_host       STRING
    COMMENT 'host as the broker saw it, NULL where no record shows it; /address',
  process_id        STRING
    COMMENT 'process that the member is a thread of, NULL where no record shows it; uuid',
  topology          STRING
    COMMENT 'name of the topology that the subtopology is of, NULL where topologies have no '
      'names; any text',
  subtopology       STRING NOT NULL
    COMMENT 'number of the subtopology, or its id in streams groups; text',
  partition         INT NOT NULL
    COMMENT 'partition that the task reads of each of its input topics; partition number',
  task_id           STRING NOT NULL
    COMMENT 'the task as Kafka names it: <subtopology>_<partition>, '
      '<topology>__<subtopology>_<partition> of a named topology; text',
  role              STRING NOT NULL COMMENT 'ACTIVE, STANDBY, WARMUP (open enum)',
  role_confidence   STRING NOT NULL COMMENT 'of role; EXACT, INFERRED',
  assigned_at       TIMESTAMP NOT NULL COMMENT 'time of the operation that gave it; UTC',
  released_at       TIMESTAMP
    COMMENT 'time of the operation that took it, NULL while it is held or where a hole hides it; '
      'UTC',
  assigned_epoch    INT COMMENT 'epoch or generation that gave it, NULL where not seen; epoch',
  released_epoch    INT COMMENT 'epoch or generation that took it, NULL while it is held; epoch',
  owed_since_at     TIMESTAMP
    COMMENT 'of replicas: when the task was first owed to this member, NULL if it never was; UTC',
  end_reason        STRING NOT NULL
    COMMENT 'REVOKED, PROMOTED, DEMOTED, WITHDRAWN, MOVED_IN_PROCESS, LEFT_OR_FENCED (LEFT, '
      'FENCED where a line proves it), REPLACED, TASK_REMOVED, GROUP_REMOVED, UNOBSERVED, '
      'OPEN (open enum)',
  first_sum         BIGINT
    COMMENT 'changelog offsets of the task added up, as the member first reported them in the '
      'span, NULL where it reported none; offsets',
  first_sum_at      TIMESTAMP COMMENT 'time of the record that holds first_sum; UTC',
  last_sum          BIGINT COMMENT 'the same as it last reported them, NULL likewise; offsets',
  last_sum_at       TIMESTAMP COMMENT 'time of the record that holds last_sum; UTC',
  restored_records  BIGINT
    COMMENT 'last_sum - first_sum, NULL without both or where it would be negative; records',
  records_per_s     DOUBLE
    COMMENT 'restored_records over the time from first_sum_at to last_sum_at, NULL without; '
      'records a second',
  generations       INT COMMENT 'generations in the span, NULL in streams groups; generations',
  probes            INT COMMENT 'of these, PROBING ones, NULL in streams groups; generations',
  next_member_id    STRING COMMENT 'member that had it next as active, NULL if none yet; any text',
  next_process_id   STRING COMMENT 'its process, NULL likewise; uuid',
  next_assigned_at  TIMESTAMP COMMENT 'from when that member had it, NULL likewise; UTC',
  unowned_ms        BIGINT COMMENT 'next_assigned_at - released_at, NULL without both; ms',
  idle_ms           BIGINT
    COMMENT 'first commit after the next grant - last commit before the release, of its input '
      'partitions the greatest, NULL without both; ms',
  end_detail        STRING
    COMMENT 'of a removed member LEAVE_HEARTBEAT, LEAVE_GROUP, SESSION_EXPIRED, .., NULL without '
      'a line (open enum)',
  end_confidence    STRING NOT NULL
    COMMENT 'of end_reason; EXACT (records, or a line of this member and epoch), INFERRED (a line '
      'of this member at about the time), NONE (LEFT_OR_FENCED)',
  evidence          STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > COMMENT 'line that proves the end, NULL without one; place',
  is_final          BOOLEAN NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation   INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times'
)
USING DELTA
COMMENT 'Who held which task of a Kafka Streams application, as active, standby or warm-up, '
  'and who had it next'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
