-- Grain: one task that left one process as active, and what became of it; final at the first
--   commit after the grant, or when there can be none.
-- Key: (cluster, group_id, log_incarnation, incarnation, task_id, from_process_id, from_offset);
--   log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS task_handovers (
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
  protocol            STRING NOT NULL COMMENT 'protocol of the group; classic, streams (open enum)',
  topology            STRING
    COMMENT 'name of the topology that the subtopology is of, NULL where topologies have no '
      'names; any text',
  subtopology         STRING NOT NULL
    COMMENT 'number of the subtopology, or its id in streams groups; text',
  partition           INT NOT NULL
    COMMENT 'partition that the task reads of each of its input topics; partition number',
  task_id             STRING NOT NULL
    COMMENT 'the task as Kafka names it: <subtopology>_<partition>, '
      '<topology>__<subtopology>_<partition> of a named topology; text',
  from_member_id      STRING NOT NULL COMMENT 'member that lost it; any text',
  from_process_id     STRING COMMENT 'process of that member, NULL where no record shows it; uuid',
  to_member_id        STRING COMMENT 'member that got it, NULL if none yet; any text',
  to_process_id       STRING COMMENT 'process of that member, NULL likewise; uuid',
  kind                STRING
    COMMENT 'WARMED (the new process held a replica in the generation before), DORMANT (it had '
      'state on disk only), COLD (neither), IN_PROCESS, NULL until it was granted (open '
      'enum)',
  cause               STRING NOT NULL COMMENT 'REBALANCED, OWNER_GONE, STATELESS (open enum)',
  learning_started_at TIMESTAMP
    COMMENT 'since when the new process held a replica without a break, NULL for COLD; UTC',
  learning_ms         BIGINT
    COMMENT 'ready_at - learning_started_at: an upper bound of the time it learned, NULL without; '
      'ms',
  probes              INT COMMENT 'PROBING generations in that time, NULL without; generations',
  last_not_ready_at   TIMESTAMP
    COMMENT 'last generation in which it was not ready: it got ready after this, NULL without; '
      'UTC',
  ready_at            TIMESTAMP
    COMMENT 'first generation in which it was ready: it got ready before this, NULL without; UTC',
  ready_sum           BIGINT
    COMMENT 'changelog offsets that it had by then, added up, NULL where it reported none; '
      'offsets',
  target_at           TIMESTAMP
    COMMENT 'target that moves the task, NULL in classic groups and where not seen; UTC',
  requested_at        TIMESTAMP
    COMMENT 'when the task was asked back, in classic groups the generation that took it, NULL '
      'where not seen; UTC',
  released_at         TIMESTAMP
    COMMENT 'when its member had it no longer, as the coordinator sees it, NULL while it has; UTC',
  granted_at          TIMESTAMP
    COMMENT 'when a process had it as active again, NULL if none yet; UTC',
  first_commit_at     TIMESTAMP
    COMMENT 'first commit of its input partitions after the grant, NULL if none yet; UTC',
  notify_ms           BIGINT COMMENT 'requested_at - target_at, NULL in classic groups; ms',
  revoke_ms           BIGINT COMMENT 'released_at - requested_at, NULL in classic groups; ms',
  grant_ms            BIGINT
    COMMENT 'granted_at - released_at, NULL in classic groups and where the owner was removed; ms',
  unowned_ms          BIGINT COMMENT 'granted_at - released_at, NULL without both; ms',
  resume_ms           BIGINT COMMENT 'first_commit_at - granted_at, NULL without both; ms',
  idle_ms             BIGINT
    COMMENT 'first_commit_at - last commit before the grant, of its input partitions the '
      'greatest, NULL without both; ms',
  gap_records         BIGINT
    COMMENT 'changelog records that the new owner had still to restore when it joined for the '
      'grant, NULL where no record shows it; records',
  gap_confidence      STRING
    COMMENT 'of gap_records; EXACT, PLUS_STORES (up to the number of stores more), NULL where '
      'that is',
  outcome             STRING NOT NULL
    COMMENT 'TRANSFERRED, RETURNED (back to the process that lost it), ELSEWHERE (a third process '
      'got it), OWNER_GONE, OPEN, UNOBSERVED, TASK_REMOVED (open enum)',
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
COMMENT 'Hand-overs of tasks between processes of a Kafka Streams application, step by step: '
  'learned or cold, how long nobody ran it, what was left to restore'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
