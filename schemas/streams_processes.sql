-- Grain: one process of a Kafka Streams application in a group, from its first member to its last.
-- Key: (cluster, group_id, log_incarnation, incarnation, process_id, from_offset); log_incarnation
--   may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS streams_processes (
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
  process_id        STRING NOT NULL
    COMMENT 'process, the same over restarts where it keeps state on disk; uuid',
  threads           INT NOT NULL COMMENT 'most members at one time; members',
  members           INT NOT NULL COMMENT 'member ids seen; members',
  restarts          INT NOT NULL
    COMMENT 'new member ids that came when it had none left, or in the operation in which its '
      'last one went; members',
  hosts             ARRAY<STRING> NOT NULL
    COMMENT 'hosts of its members as the broker saw them; /address',
  client_tags       MAP<STRING, STRING> NOT NULL
    COMMENT 'its client.tag.* settings, empty if none; tag to value',
  endpoint          STRING COMMENT 'its application.server, NULL if none; host:port',
  versions          ARRAY<INT> NOT NULL
    COMMENT 'versions of metadata that its members wrote, none in streams groups; versions',
  joined_at         TIMESTAMP NOT NULL COMMENT 'time of the record that first shows it; UTC',
  left_at           TIMESTAMP
    COMMENT 'time of the record without any member of it, NULL while it has one or where a hole '
      'hides it; UTC',
  end_reason        STRING NOT NULL
    COMMENT 'LEFT_OR_FENCED, GROUP_REMOVED, UNOBSERVED, OPEN (open enum)',
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
COMMENT 'Processes of Kafka Streams applications: threads, restarts, hosts, tags, and when '
  'they came and went'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
