-- Grain: one life of a group and one day (UTC); final when its partition was read an hour past the
--   end of the day or of the life, or when the group's own records went on so far.
-- Key: (cluster, group_id, log_incarnation, incarnation, day); log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS group_days (
  cluster               STRING NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date          DATE NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on day, not on this)',
  group_id              STRING NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  incarnation           BIGINT NOT NULL
    COMMENT 'life of the group id, named by the offset of the first record seen of it; offset',
  offsets_partition     INT NOT NULL
    COMMENT 'partition of __consumer_offsets that the group lives in; partition number',
  from_offset           BIGINT NOT NULL
    COMMENT 'last record before the day that changed the group, or the first one of its life; '
      'offset in offsets_partition',
  start_observed        BOOLEAN NOT NULL
    COMMENT 'false where the log began later than the life; true, false',
  day                   DATE NOT NULL COMMENT 'the day that is added up; UTC',
  from_at               TIMESTAMP NOT NULL
    COMMENT 'start of what was watched of the day: the later of its midnight and the start of '
      'the life; UTC',
  to_at                 TIMESTAMP NOT NULL
    COMMENT 'the earliest of the next midnight, the end of the life, and the time up to which '
      'offsets_partition was read; UTC',
  unobserved_ms         BIGINT NOT NULL
    COMMENT 'of that, between two operations with a hole between them; ms',
  members_ms            BIGINT NOT NULL COMMENT 'time in the group, of all members together; ms',
  members_max           INT NOT NULL COMMENT 'most members at once; members',
  empty_ms              BIGINT NOT NULL COMMENT 'time without members; ms',
  mixed_ms              BIGINT NOT NULL
    COMMENT 'time with members of both protocols (online migration); ms',
  consumer_ms           BIGINT NOT NULL
    COMMENT 'time with members of the consumer protocol alone; ms',
  classic_ms            BIGINT NOT NULL COMMENT 'time with members in the classic protocol; ms',
  epochs                INT NOT NULL COMMENT 'epochs and generations that began on it; epochs',
  causes                MAP<STRING, INT> NOT NULL
    COMMENT 'cause as of group_epochs (by records alone) -> how many of these; epochs',
  rebalancing_ms        BIGINT NOT NULL
    COMMENT 'time with members and an epoch that not all of them had reached; of classic groups '
      'the sync phases alone; ms',
  partitions_ms         BIGINT NOT NULL
    COMMENT 'partitions that somebody should have read, times the time; partition-ms',
  low_ms                BIGINT NOT NULL
    COMMENT 'of that, what nobody read for sure: unowned_ms + away_ms + sync_ms; partition-ms',
  high_ms               BIGINT NOT NULL
    COMMENT 'at most so much was not read; an estimate where high_unknown > 0; partition-ms',
  unowned_ms            BIGINT NOT NULL
    COMMENT 'let go by one member and not yet given to the next one; partition-ms',
  away_ms               BIGINT NOT NULL
    COMMENT 'held for a static member that had left for a while; partition-ms',
  sync_ms               BIGINT NOT NULL
    COMMENT 'stopped while the leader of a classic group assigned; partition-ms',
  high_unknown          INT NOT NULL
    COMMENT 'transitions without a commit before or after, of which high_ms knows no upper bound; '
      'transitions',
  availability_most_pct DOUBLE
    COMMENT '100 x (1 - low_ms / partitions_ms), NULL where nobody should have read anything; '
      'percent',
  availability_least_pct DOUBLE
    COMMENT '100 x (1 - high_ms / partitions_ms), at least 0, NULL where high_unknown > 0 and '
      'where nobody should have read anything; percent',
  handovers             INT NOT NULL
    COMMENT 'partitions that went over so that records show how long it took: all of the consumer '
      'protocol, those of cooperative classic groups; transitions',
  moved                 INT NOT NULL
    COMMENT 'partitions that another process has then than before; transitions',
  returned              INT NOT NULL
    COMMENT 'of these, back within an hour to the process that had lost them; transitions',
  transitions_hidden    INT NOT NULL
    COMMENT 'with a hole between release and grant, in no cost; transitions',
  handover_p50_ms       BIGINT
    COMMENT 'half of the handovers took no longer, to 6.3 % (upper_ms of its bucket, at most '
      'handover_max_ms), NULL without any; ms',
  handover_p95_ms       BIGINT COMMENT 'likewise nineteen of twenty; ms',
  handover_max_ms       BIGINT COMMENT 'the longest, exact, NULL without any; ms',
  handover_hist         ARRAY<STRUCT<
    upper_ms: BIGINT COMMENT 'longest time of the bucket; ms',
    n: BIGINT COMMENT 'handovers in it'
  >> NOT NULL
    COMMENT 'the handovers by buckets, ascending: these add up over groups and days; handovers',
  joins                 INT NOT NULL COMMENT 'members that joined; members',
  departures            INT NOT NULL
    COMMENT 'members that left or were removed, not replaced; members',
  replaced              INT NOT NULL
    COMMENT 'static members that came back under another id; members',
  away                  INT NOT NULL
    COMMENT 'times that a static member left for a while (epoch -2); times',
  flap_score            INT
    COMMENT 'how much of it was undone: 100 x (returned + 2 x members that were removed and came '
      'back) / (moved + joins + departures), NULL below 5 of those; percent',
  is_final              BOOLEAN NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team                  STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact               STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  log_incarnation       INT
    COMMENT 'how often the offsets topic had been created again when the log of this row began, '
      'NULL never; part of the key; times'
)
USING DELTA
COMMENT 'What each group came to on each day: members, epochs, hand-overs, and how available its '
  'partitions were'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
