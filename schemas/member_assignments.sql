-- Grain: one member holding one partition for one unbroken span; final when the next owner has it
--   or there can be none.
-- Key: (cluster, group_id, log_incarnation, incarnation, member_id, coalesce(topic_id, topic),
--   partition, from_offset); log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS member_assignments (
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
  member_id         STRING    NOT NULL COMMENT 'member id; any text',
  instance_id       STRING
    COMMENT 'group.instance.id, NULL for a dynamic member; any text',
  topic             STRING    NOT NULL
    COMMENT 'topic name, or the text of topic_id where no source knows the name; any text',
  topic_id          STRING
    COMMENT 'topic id as in the records, NULL where they name the topic instead (classic '
      'protocol); base64 of 16 bytes, as Kafka prints it',
  partition         INT       NOT NULL COMMENT 'partition of the topic; partition number',
  assigned_at       TIMESTAMP NOT NULL
    COMMENT 'start of the span, or first record that shows it (start_observed); UTC',
  released_at       TIMESTAMP
    COMMENT 'end of the span, NULL while it is held or where a life ended unseen; UTC',
  assigned_epoch    INT
    COMMENT 'member epoch at the end of the operation that gave it, NULL where not seen; epoch',
  released_epoch    INT
    COMMENT 'epoch that took it, NULL while it is held or where not seen; epoch',
  end_reason        STRING    NOT NULL
    COMMENT 'REVOKED, LEFT, FENCED, LEFT_OR_FENCED, REPLACED, TOPIC_REMOVED, GROUP_REMOVED, '
      'UNOBSERVED (in a hole of the log), OPEN (open enum)',
  next_member_id    STRING
    COMMENT 'next holder, the same member included, NULL while there is none; any text',
  next_assigned_at  TIMESTAMP
    COMMENT 'when the next holder got it, NULL while there is none; UTC',
  unowned_ms        BIGINT
    COMMENT 'next_assigned_at - released_at as the coordinator sees it, NULL without both and at '
      'classic generations; ms',
  idle_ms           BIGINT
    COMMENT 'first commit after the next grant - last commit before the release, NULL without '
      'both: its readers may have missed it for longer; ms',
  end_detail        STRING
    COMMENT 'LEAVE_HEARTBEAT, LEAVE_GROUP, POLL_TIMEOUT, ADMIN_REMOVAL, SESSION_EXPIRED, '
      'REBALANCE_TIMEOUT, JOIN_TIMEOUT, SYNC_TIMEOUT, NULL without a line (open enum)',
  end_confidence    STRING
    COMMENT 'of end_reason; EXACT (records, or a line of this member and epoch), INFERRED (a line '
      'of this member at about the time), NONE (LEFT_OR_FENCED)',
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
      'NULL never; part of the key; times',
  rewound BIGINT
    COMMENT 'by how much the first commit of the next owner lies below the last one before: '
      'messages that are read again, 0 none, NULL without both commits; offsets'
)
USING DELTA
COMMENT 'Who held which partition, from when to when, and who had it next'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
