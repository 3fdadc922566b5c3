-- Grain: one unbroken span of one member in one (member_epoch, state).
-- Key: (cluster, group_id, log_incarnation, incarnation, member_id, from_offset);
--   log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS member_states (
  cluster             STRING        NOT NULL
    COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date        DATE          NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id            STRING        NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation         BIGINT        NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition   INT           NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset         BIGINT        NOT NULL
    COMMENT 'record that opens the row; offset in offsets_partition',
  to_offset           BIGINT
    COMMENT 'record that closes the row, NULL while it is open; offset in offsets_partition',
  start_observed      BOOLEAN       NOT NULL
    COMMENT 'false where the log began later than the row: its times start at the first record '
      'that shows it, and it has no durations; true, false',
  member_id           STRING        NOT NULL COMMENT 'member id; any text',
  instance_id         STRING
    COMMENT 'group.instance.id, NULL for a dynamic member; any text',
  client_id           STRING
    COMMENT 'client.id, NULL where no record shows it; any text',
  client_host         STRING
    COMMENT 'host as the broker saw it, NULL where no record shows it; /address',
  member_protocol     STRING        NOT NULL
    COMMENT 'protocol the member itself speaks; classic, consumer (open enum)',
  member_epoch        INT           NOT NULL
    COMMENT 'member epoch or, in a classic group, generation; epoch, -2 for a static member that '
      'left for a while',
  state               STRING        NOT NULL
    COMMENT 'STABLE, UNREVOKED_PARTITIONS, UNRELEASED_PARTITIONS, UNKNOWN (open enum)',
  from_at             TIMESTAMP     NOT NULL
    COMMENT 'start of the span, or first record that shows it (start_observed); UTC',
  to_at               TIMESTAMP              COMMENT 'end of the span, NULL while it lasts; UTC',
  partitions_assigned INT           NOT NULL COMMENT 'last value in the span; partitions',
  partitions_pending  INT           NOT NULL
    COMMENT 'being given up, last value in the span; partitions',
  waiting_on          ARRAY<STRING> NOT NULL
    COMMENT 'members that held partitions this one waited for, any time in the span; member ids',
  is_final            BOOLEAN       NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team                STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact             STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times',
  end_observed BOOLEAN
    COMMENT 'false where a hole hides when the span ended: at to_at or before, NULL in rows older '
      'than the column; true, false'
)
USING DELTA
COMMENT 'What each member of a group was doing, span by span'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
