-- Grain: one life of a member in a group, from joining to leaving.
-- Key: (cluster, group_id, log_incarnation, incarnation, member_id, from_offset);
--   log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS members (
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
  client_id         STRING             COMMENT 'client.id, NULL where no record shows it; any text',
  client_host       STRING
    COMMENT 'host as the broker saw it, NULL where no record shows it; /address',
  member_protocol   STRING    NOT NULL
    COMMENT 'protocol that the member itself spoke last; classic, consumer (open enum)',
  joined_at         TIMESTAMP NOT NULL
    COMMENT 'time of the record that first shows the member; UTC',
  ended_at          TIMESTAMP
    COMMENT 'time of the record that removes it, NULL while it is a member or where a hole hides '
      'it; UTC',
  end_reason        STRING    NOT NULL
    COMMENT 'LEFT and FENCED (a line proves it), LEFT_OR_FENCED, REPLACED, GROUP_REMOVED, '
      'UNOBSERVED, OPEN (open enum)',
  end_detail        STRING
    COMMENT 'LEAVE_HEARTBEAT, LEAVE_GROUP, ADMIN_REMOVAL, SESSION_EXPIRED, REBALANCE_TIMEOUT, '
      'JOIN_TIMEOUT, SYNC_TIMEOUT, NULL without a line (open enum)',
  client_reason     STRING
    COMMENT 'why it left in the words of the client, NULL where it gave none; any text',
  end_confidence    STRING    NOT NULL
    COMMENT 'of end_reason; EXACT (records, or a line of this member and epoch), INFERRED (a line '
      'of this member at about the time), NONE (LEFT_OR_FENCED)',
  replaced_by       STRING
    COMMENT 'member id that took its instance over, NULL where none did; any text',
  principal         STRING
    COMMENT 'who authenticated, NULL without a request log; any text',
  software_name     STRING
    COMMENT 'client library, NULL without a request log; any text',
  software_version  STRING
    COMMENT 'version of the client library, NULL without a request log; any text',
  last_heartbeat_at TIMESTAMP
    COMMENT 'its last accepted heartbeat, join or sync, NULL without a request log; UTC',
  longest_gap_ms    BIGINT
    COMMENT 'longest time between two of these, NULL with fewer than two; ms',
  heartbeats        BIGINT
    COMMENT 'accepted requests of the member, commits included, NULL without a request log; '
      'requests',
  errors            ARRAY<STRUCT<
    error_code: INT COMMENT 'of the response; code of Kafka',
    error: STRING COMMENT 'its name; text',
    requests: BIGINT COMMENT 'answered with it; requests'
  >> COMMENT 'answers to its requests that were errors, NULL without a request log; errors',
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
COMMENT 'Lives of members: when they joined, how they ended and how we know, what client they were'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
