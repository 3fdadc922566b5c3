-- Grain: one absence of one process from a group.
-- Key: (cluster, group_id, log_incarnation, incarnation, identity, from_offset); log_incarnation
--   may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS static_accounting (
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
  log_incarnation   INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times',
  identity          STRING    NOT NULL
    COMMENT 'the process: instance: and its group.instance.id; client: with client id and host '
      'where no other live member had them when it went; else member: and its id; any text',
  instance_id       STRING
    COMMENT 'group.instance.id, NULL for a dynamic member; any text',
  member_id         STRING    NOT NULL COMMENT 'member id under which it went; any text',
  returned_as       STRING
    COMMENT 'member id under which it came back, NULL while it has not; any text',
  client_id         STRING
    COMMENT 'client.id of who went, NULL where nothing shows it; any text',
  client_host       STRING
    COMMENT 'host of who went as the broker saw it, NULL where nothing shows it. Records keep that '
      'of the first process of a classic instance, a request log has its own; /address',
  member_protocol   STRING    NOT NULL
    COMMENT 'protocol that it spoke; classic, consumer, streams (open enum)',
  membership        STRING    NOT NULL COMMENT 'STATIC, DYNAMIC',
  outcome           STRING    NOT NULL
    COMMENT 'ABSORBED (back before its session ended), EXPIRED, EXPIRED_RETURNED, LEFT, '
      'LEFT_RETURNED (a line says that it left), RETURNED (dynamic), AWAY (open), UNOBSERVED (a '
      'hole hides it) (open enum)',
  left_at           TIMESTAMP
    COMMENT 'last sign of life, as left_shown_by says, NULL where there is none; UTC',
  left_shown_by     STRING    NOT NULL
    COMMENT 'AWAY_RECORD (it wrote that it leaves), LEAVE (line of its request to leave), '
      'HEARTBEAT (its last one in the request log), COMMIT (last one of a partition it held), NONE '
      '(open enum)',
  removed_at        TIMESTAMP
    COMMENT 'time of the record that removed it, NULL where it was never removed; UTC',
  returned_at       TIMESTAMP
    COMMENT 'time of the record that shows it back, NULL while it has not come back; UTC',
  gap_low_ms        BIGINT
    COMMENT 'it was gone at least so long, NULL while it has not come back; ms',
  gap_ms            BIGINT
    COMMENT 'from its last heartbeat, leave or away record to its return, NULL without one; ms',
  gap_high_ms       BIGINT
    COMMENT 'from its last commit, or its away record, to its return, NULL without one; ms',
  own_timeout_ms    BIGINT    NOT NULL
    COMMENT 'session timeout of the classic member, of any other that of the brokers: configured, '
      'in their logs, or by default; ms',
  absorbed_own      BOOLEAN
    COMMENT 'its own timeout lasted, or would have lasted, until the return, NULL where the gap '
      'does not decide it; true, false',
  absorbed_45s      BOOLEAN
    COMMENT 'the same of 45 s, the default of the consumer protocol; true, false',
  absorbed_60s      BOOLEAN
    COMMENT 'the same of 60 s, the most that brokers allow by default; true, false',
  is_cliff          BOOLEAN
    COMMENT 'the absorbed absence of a classic static member would be a rebalance under any '
      'timeout of the consumer protocol, NULL where its gap is not known; true, false',
  partitions        INT       NOT NULL COMMENT 'held when it went; partitions',
  avoided_moves     INT       NOT NULL
    COMMENT 'twice the partitions of an absorbed absence, there and back; partitions',
  epochs            INT       NOT NULL
    COMMENT 'group epochs or generations that its removal and its return opened; epochs',
  moved             INT
    COMMENT 'partitions that changed hands for its removal and its return, NULL where that was not '
      'followed; partitions',
  blind_ms          BIGINT
    COMMENT 'from left_at to its removal, or to as-of while it is away: nobody read its '
      'partitions; NULL where it was absorbed or left_at is NULL; ms',
  blind_extra_ms    BIGINT
    COMMENT 'blind_ms of a static member: a clean leave of a dynamic one costs none; ms',
  owner_was_alive   BOOLEAN
    COMMENT 'its instance was taken while the old process went on asking (error 82): a duplicate; '
      'NULL without its requests, and where nobody took it; true, false',
  evidence          STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > COMMENT 'line that tells of its end, NULL without one; place',
  is_final          BOOLEAN   NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text'
)
USING DELTA
COMMENT 'Absences of processes: what static membership absorbed, what it hid, and what other '
  'session timeouts would have done'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
