-- Grain: one group at the end of one night; deleted and expired groups have no row.
-- Key: (cluster, logical_date, group_id).
-- Partitioned by: (cluster, logical_date): a night replaces its own rows.
-- Writer: run_nightly, step report; replaces cluster = C AND logical_date = D.
-- Retention: kept, a row a group and night; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS migration_progress (
  cluster           STRING    NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE      NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  as_of_at          TIMESTAMP NOT NULL
    COMMENT 'newest time of the offsets topic in the run: the moment that the row describes; UTC',
  group_id          STRING    NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation       BIGINT    NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition INT       NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset       BIGINT    NOT NULL
    COMMENT 'first record seen of the incarnation; offset in offsets_partition',
  protocol          STRING    NOT NULL
    COMMENT 'kind of the group; classic, consumer, streams, share, simple (open enum)',
  phase             STRING    NOT NULL
    COMMENT 'CLASSIC, MIGRATING, MIGRATED, NATIVE, CONSUMER (not seen how it got there), '
      'ROLLED_BACK, EMPTY, NOT_APPLICABLE (open enum)',
  last_phase        STRING
    COMMENT 'phase before the group became EMPTY, NULL in every other phase; as phase',
  history_complete  BOOLEAN   NOT NULL
    COMMENT 'the birth of the incarnation was seen and no hole lies after it; true, false',
  members_total     INT       NOT NULL
    COMMENT 'members now, static ones that left for a while included; members',
  members_consumer  INT       NOT NULL
    COMMENT 'of these, members that speak the consumer protocol; members',
  members_classic   INT       NOT NULL
    COMMENT 'of these, members that speak the classic protocol; members',
  progress_pct      DOUBLE
    COMMENT 'members_consumer of members_total, NULL without members or when NOT_APPLICABLE; '
      'percent 0 to 100',
  mixed_since_at    TIMESTAMP
    COMMENT 'since when members of both protocols are in the group, NULL when they are not; UTC',
  upgraded_at       TIMESTAMP
    COMMENT 'when MIGRATED was reached since the last deletion or expiry, NULL if it was not or '
      'was not seen; UTC',
  downgraded_at     TIMESTAMP
    COMMENT 'last change back to classic since the last deletion or expiry, NULL if there was '
      'none; UTC',
  conversions       INT       NOT NULL
    COMMENT 'protocol changes since the last deletion or expiry; conversions',
  blockers          ARRAY<STRUCT<
    member_id: STRING COMMENT 'member id; any text',
    instance_id: STRING COMMENT 'group.instance.id, NULL for a dynamic member; any text',
    client_id: STRING COMMENT 'client.id; any text',
    client_host: STRING COMMENT 'host as the broker saw it; /address'
  >> NOT NULL
    COMMENT 'live members that speak the classic protocol, empty when NOT_APPLICABLE; members',
  is_stalled        BOOLEAN   NOT NULL
    COMMENT 'mixed for at least thresholds.migration_stalled_ms; true, false',
  group_epoch       INT
    COMMENT 'group epoch or generation, NULL for groups that have none; epoch',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the name of a life; times',
  streams_protocol STRING
    COMMENT 'protocol of the group where its members are, or were last, threads of a Kafka Streams '
      'application, NULL of any other group; classic, streams',
  members_static INT
    COMMENT 'of members_total those with an instance id, the others are dynamic, NULL in rows of '
      'earlier versions; members',
  instances_gone INT
    COMMENT 'instance ids that lost their member within the last hour of the group and have none '
      'since, NULL in rows of earlier versions; instances'
)
USING DELTA
COMMENT 'How far each group is from the classic to the consumer protocol, at the end of each night'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
