-- Grain: one requested hand-over of one partition; final at the new owner's first commit, or when
--   there can be none.
-- Key: (cluster, group_id, log_incarnation, incarnation, member_id, coalesce(topic_id, topic),
--   partition, from_offset); log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS revocation_latencies (
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
  epoch             INT
    COMMENT 'epoch whose target took the partition, NULL where not seen or where no target did; '
      'epoch',
  member_id         STRING    NOT NULL
    COMMENT 'member that was asked, to be charged with revoke_ms; any text',
  instance_id       STRING
    COMMENT 'group.instance.id of that member, NULL for a dynamic one; any text',
  client_id         STRING
    COMMENT 'client id of that member, NULL where not seen; any text',
  client_host       STRING
    COMMENT 'host of that member, NULL where not seen; as the broker wrote it',
  member_protocol   STRING    NOT NULL
    COMMENT 'protocol that member speaks; classic, consumer (open enum)',
  topic             STRING    NOT NULL
    COMMENT 'topic name, or the text of topic_id where no source knows the name; any text',
  topic_id          STRING
    COMMENT 'topic id as in the records, NULL where they name the topic instead (classic '
      'protocol); base64 of 16 bytes, as Kafka prints it',
  partition         INT       NOT NULL COMMENT 'partition of the topic; partition number',
  target_at         TIMESTAMP
    COMMENT 'when the target took the partition from the member, NULL where not seen; UTC',
  requested_at      TIMESTAMP NOT NULL
    COMMENT 'when the partition was asked back, or first record that shows it (start_observed); '
      'UTC',
  ended_at          TIMESTAMP
    COMMENT 'when the member no longer held it, whatever the outcome, NULL while OPEN; UTC',
  acked_at          TIMESTAMP          COMMENT 'ended_at of ACKED rows, else NULL; UTC',
  granted_at        TIMESTAMP
    COMMENT 'when a member got it next, NULL while none has and for CANCELLED; UTC',
  granted_to        STRING
    COMMENT 'member that got it, the same one included, NULL while none has; any text',
  first_commit_at   TIMESTAMP
    COMMENT 'first commit by the new owner, NULL while there is none; UTC',
  notify_ms         BIGINT             COMMENT 'requested_at - target_at, NULL without both; ms',
  revoke_ms         BIGINT
    COMMENT 'ended_at - requested_at, while OPEN as-of - requested_at, NULL where the start was '
      'not observed or the end is hidden; ms',
  grant_ms          BIGINT             COMMENT 'granted_at - acked_at, NULL without both; ms',
  resume_ms         BIGINT
    COMMENT 'first_commit_at - granted_at, NULL without both; ms',
  unowned_ms        BIGINT             COMMENT 'granted_at - ended_at, NULL without both; ms',
  timeout_ms        BIGINT
    COMMENT 'rebalance timeout of the member, NULL for classic ones and after a change of leader; '
      'ms',
  outcome           STRING    NOT NULL
    COMMENT 'ACKED, FENCED, LEFT, LEFT_OR_FENCED, CANCELLED, REPLACED, UNOBSERVED (in a hole of '
      'the log), OPEN (open enum)',
  is_censored       BOOLEAN   NOT NULL
    COMMENT 'revoke_ms is a lower bound: the end was not seen; true, false',
  end_detail        STRING
    COMMENT 'LEAVE_HEARTBEAT, LEAVE_GROUP, POLL_TIMEOUT, ADMIN_REMOVAL, SESSION_EXPIRED, '
      'REBALANCE_TIMEOUT, JOIN_TIMEOUT, SYNC_TIMEOUT, NULL without a line (open enum)',
  end_confidence    STRING
    COMMENT 'of outcome; EXACT (records, or a line of this member and epoch), INFERRED (a line of '
      'this member at about the time, or its timeout), NONE (LEFT_OR_FENCED)',
  evidence          STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > COMMENT 'line that proves the end, NULL without one; place',
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
COMMENT 'Every partition that was asked back from a member, and how long each step of its '
  'hand-over took'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
