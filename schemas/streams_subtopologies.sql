-- Grain: one subtopology of a life of a Kafka Streams group, as the last record left it.
-- Key: (cluster, group_id, log_incarnation, incarnation, topology, subtopology); topology and
--   log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS streams_subtopologies (
  cluster              STRING NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date         DATE NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id             STRING NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation          BIGINT NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition    INT NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset          BIGINT NOT NULL
    COMMENT 'record that opens the row; offset in offsets_partition',
  to_offset            BIGINT
    COMMENT 'record that closes the row, NULL while it is open; offset in offsets_partition',
  start_observed       BOOLEAN NOT NULL
    COMMENT 'false where the log began later than the row: its times start at the first record '
      'that shows it, and it has no durations; true, false',
  topology             STRING
    COMMENT 'name of the topology that the subtopology is of, NULL where topologies have no '
      'names; any text',
  subtopology          STRING NOT NULL
    COMMENT 'number of the subtopology, or its id in streams groups; text',
  tasks                INT NOT NULL
    COMMENT 'tasks of it, as many as its input topics have partitions; tasks',
  source_topics        ARRAY<STRING> NOT NULL
    COMMENT 'topics that it reads, as far as they were seen; topics',
  changelog_topics     ARRAY<STRING>
    COMMENT 'topics that its state is written to, NULL in classic groups, whose records do not '
      'name them; topics',
  is_stateful          BOOLEAN
    COMMENT 'whether its tasks have state, NULL while nothing shows it; true, false',
  stateful_basis       STRING NOT NULL
    COMMENT 'what shows it; TOPOLOGY, SUM_SEEN, REPLICA_SEEN, NOT_SEEN (open enum)',
  standby_replicas     INT
    COMMENT 'num.standby.replicas, in classic groups concluded, NULL where it is not known; '
      'copies',
  has_source_changelog BOOLEAN
    COMMENT 'whether a source topic is its changelog too, NULL where no record says it; true, '
      'false',
  is_final             BOOLEAN NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team                 STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact              STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation      INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times'
)
USING DELTA
COMMENT 'Subtopologies of Kafka Streams applications: tasks, topics, and whether they have '
  'state'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
