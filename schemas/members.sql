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
    COMMENT 'LEAVE_HEARTBEAT, LEAVE_GROUP, POLL_TIMEOUT, ADMIN_REMOVAL, SESSION_EXPIRED, '
      'REBALANCE_TIMEOUT, JOIN_TIMEOUT, SYNC_TIMEOUT, NULL without a line (open enum)',
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
      'NULL never; part of the key; times',
  process_id STRING
    COMMENT 'Kafka Streams process that the member is a thread of, NULL of any other client; uuid',
  session_timeout_ms BIGINT
    COMMENT 'its own session timeout, by its last K2 entry or K5, NULL of a member of the consumer '
      'protocol (the broker has one), and where no such record was seen; ms',
  rebalance_timeout_ms BIGINT
    COMMENT 'how long it may take to give partitions back, or to rejoin, NULL where no record was '
      'seen that describes it; ms',
  protocols ARRAY<STRING>
    COMMENT 'assignors: the one that the classic group selected, or those that a classic member of '
      'a consumer group offers, in order; empty of a member of the consumer protocol; any text',
  server_assignor STRING
    COMMENT 'assignor that it asks the coordinator for, NULL where it leaves the choice; any text',
  embedded_version INT
    COMMENT 'version of the subscription that a classic member sent, NULL of any other, and where '
      'it does not parse; version of ConsumerProtocolSubscription',
  rack_id STRING
    COMMENT 'client.rack, NULL where it is not set; any text',
  topics_subscribed INT
    COMMENT 'topics that it names, NULL where its subscription does not parse; topics',
  subscription_hash BIGINT
    COMMENT 'equal for equal subscriptions, NULL as topics_subscribed; hash',
  subscribed_regex STRING
    COMMENT 'regular expression that it subscribes to, NULL for none; RE2J',
  subscription_user_data INT
    COMMENT 'length of the user data of its subscription, NULL where that does not parse, or of a '
      'member of the consumer protocol; bytes',
  assignment_user_data INT
    COMMENT 'length of the user data of its assignment, NULL where that does not parse, and in a '
      'consumer group; bytes',
  lists_owned BOOLEAN
    COMMENT 'whether its subscription named partitions that it owns, NULL where it was in no '
      'generation before; true, false',
  profile_offset BIGINT
    COMMENT 'K2 or K5 that the values from session_timeout_ms on are of, NULL where none was seen; '
      'offset in offsets_partition',
  client_inherited BOOLEAN
    COMMENT 'client_id and client_host are those of an earlier process that had its instance, NULL '
      'where that cannot be known; true, false',
  silent_ms BIGINT
    COMMENT 'from its last commit of a partition that it held to its end, NULL without one, and '
      'where it was replaced; ms',
  error_apis ARRAY<STRING>
    COMMENT 'requests that the errors answered, in the order of errors, empty text where an '
      'earlier release counted them, NULL without a request log; API',
  error_first_at ARRAY<TIMESTAMP>
    COMMENT 'when each of errors was answered first, in their order, NULL where an earlier release '
      'counted it; UTC',
  error_last_at ARRAY<TIMESTAMP>
    COMMENT 'when each of errors was answered last, likewise; UTC'
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
