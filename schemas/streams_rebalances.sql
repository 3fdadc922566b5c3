-- Grain: one rebalance of a Kafka Streams group: a K2 that raises the generation, or the epoch of
--   a K17; final when the next one began or the group ended.
-- Key: (cluster, group_id, log_incarnation, incarnation, epoch, from_offset); log_incarnation may
--   be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS streams_rebalances (
  cluster             STRING NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date        DATE NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id            STRING NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation         BIGINT NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition   INT NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset         BIGINT NOT NULL
    COMMENT 'record that opens the row; offset in offsets_partition',
  to_offset           BIGINT
    COMMENT 'record that closes the row, NULL while it is open; offset in offsets_partition',
  start_observed      BOOLEAN NOT NULL
    COMMENT 'false where the log began later than the row: its times start at the first record '
      'that shows it, and it has no durations; true, false',
  epoch               INT NOT NULL COMMENT 'group epoch or generation; epoch',
  protocol            STRING NOT NULL COMMENT 'protocol of the group; classic, streams (open enum)',
  cause               STRING NOT NULL
    COMMENT 'SHUTDOWN, STATIC_REPLACED, LEFT_OR_FENCED, JOIN, VERSION, FOLLOWUP, PROBING, '
      'TASKS_CHANGED, TOPIC_METADATA, .. (open enum)',
  cause_member_id     STRING
    COMMENT 'member behind the cause, NULL where none or several; any text',
  cause_process_id    STRING COMMENT 'process of that member, NULL where none or not known; uuid',
  confidence          STRING NOT NULL
    COMMENT 'of the cause; EXACT (a record or a line says so), INFERRED (from what two '
      'generations show), NONE',
  also                ARRAY<STRING> NOT NULL COMMENT 'causes that apply beside it; as cause',
  scheduled_at        TIMESTAMP
    COMMENT 'when a PROBING one was due, by the clock of the client, NULL for other causes and '
      'where that was not seen; UTC',
  join_ended_at       TIMESTAMP
    COMMENT 'when the join phase ended, in streams groups when the epoch began, NULL where no '
      'record shows it; UTC',
  decided_at          TIMESTAMP
    COMMENT 'when the assignment was written, in streams groups when the target was there, NULL '
      'if none was; UTC',
  join_ms             BIGINT
    COMMENT 'of PROBING join_ended_at - scheduled_at, of FOLLOWUP an upper bound: since the '
      'generation before, NULL for others; ms',
  sync_ms             BIGINT COMMENT 'decided_at - join_ended_at, NULL in streams groups; ms',
  commit_gap_ms       BIGINT
    COMMENT 'from the last commit of the group before join_ended_at to the first after, NULL '
      'without both; ms',
  leader_member_id    STRING
    COMMENT 'member that computed the assignment, NULL in streams groups, whose broker does; any '
      'text',
  leader_process_id   STRING COMMENT 'its process, NULL likewise; uuid',
  members             INT NOT NULL COMMENT 'stream threads in the group; members',
  processes           INT NOT NULL COMMENT 'processes that they are of; processes',
  tasks               INT NOT NULL COMMENT 'tasks that are known; tasks',
  tasks_active        INT NOT NULL
    COMMENT 'of these, tasks that a member was given as active; tasks',
  tasks_owed          INT
    COMMENT 'of these, tasks that were taken from one member for another, which gets them with '
      'the next rebalance, NULL where it was not seen; tasks',
  tasks_missing       INT
    COMMENT 'of these, tasks that nobody was given and nobody is owed, NULL where it was not '
      'seen; tasks',
  standby_copies      INT NOT NULL COMMENT 'replicas that num.standby.replicas asks for; copies',
  warmup_copies       INT NOT NULL
    COMMENT 'replicas of processes that learn a task in order to have it; copies',
  warmups_started     INT NOT NULL
    COMMENT 'of these, copies that began with this rebalance; copies',
  warmups_dropped     INT NOT NULL
    COMMENT 'copies of the rebalance before that were taken away without being promoted; copies',
  tasks_ready         INT
    COMMENT 'learners that the leader found caught up, NULL where nothing shows it; tasks',
  tasks_revoked       INT
    COMMENT 'active tasks that were taken from a member, NULL where it was not seen; tasks',
  tasks_granted       INT
    COMMENT 'tasks that became active in another process than before, NULL where it was not seen; '
      'tasks',
  tasks_returned      INT
    COMMENT 'tasks that went back to the process that had lost them, NULL where it was not seen; '
      'tasks',
  tasks_misplaced     INT
    COMMENT 'stateful tasks that are neither at their balanced owner nor owed to it, NULL where '
      'the assignor is not the highly available one; tasks',
  imbalance_pct       DECIMAL(6,1)
    COMMENT 'by how much the process with the furthest number of active stateful tasks is off its '
      'share, NULL with one process; percent',
  next_at             TIMESTAMP
    COMMENT 'when the next probing rebalance is due, by the clock of the client, NULL if none is; '
      'UTC',
  next_kind           STRING
    COMMENT 'what it is that is due; NONE, FOLLOWUP, PROBING, VERSION, NULL in streams groups '
      '(open enum)',
  next_member_id      STRING
    COMMENT 'member that was told to begin it, NULL where none or several; any text',
  assignor            STRING
    COMMENT 'HIGH_AVAILABILITY, FALLBACK, OTHER, UNKNOWN, in streams groups sticky, NULL where it '
      'was not seen (open enum)',
  assignor_confidence STRING COMMENT 'of assignor; EXACT, INFERRED, NONE',
  probing_interval_ms BIGINT
    COMMENT 'time between probing rebalances, as the leader counts it, NULL where none is due; ms',
  min_version         INT
    COMMENT 'lowest version of metadata that a member wrote, NULL in streams groups; version',
  max_version         INT
    COMMENT 'highest version of metadata that a member wrote, NULL in streams groups; version',
  common_version      INT
    COMMENT 'version that all members can read, NULL in streams groups; version',
  error_code          STRING
    COMMENT 'what the leader told all members instead of tasks, NULL if nothing; '
      'INCOMPLETE_SOURCE_TOPIC_METADATA, ASSIGNMENT_ERROR, SHUTDOWN_REQUESTED (open enum)',
  joins               INT
    COMMENT 'JoinGroup requests of members since the rebalance before, NULL where it was not '
      'seen; requests',
  outcome             STRING NOT NULL
    COMMENT 'STABLE, FOLLOWUP_DUE, PROBING_DUE, ERROR; in streams groups CONVERGED, SUPERSEDED, '
      'OPEN (open enum)',
  evidence            STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > COMMENT 'line that shows the cause, NULL without one; place',
  is_final            BOOLEAN NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team                STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact             STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation     INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times'
)
USING DELTA
COMMENT 'Rebalances of Kafka Streams groups: what for, what it did to tasks, and when the '
  'next is due'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
