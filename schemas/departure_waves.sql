-- Grain: one wave of membership events of a group.
-- Key: (cluster, group_id, log_incarnation, incarnation, from_offset); log_incarnation may be NULL.
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS departure_waves (
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
  started_at        TIMESTAMP NOT NULL
    COMMENT 'time of its first event; UTC',
  ended_at          TIMESTAMP NOT NULL
    COMMENT 'time of its last event; UTC',
  settled_at        TIMESTAMP
    COMMENT 'when the epoch in force after the last event converged, NULL where it had before, '
      'where another epoch came first, and while it is open; UTC',
  class             STRING NOT NULL
    COMMENT 'START, BOUNCE, AWAY, FLAPPING, POLL_TIMEOUT, CRASH, HOST_SWAP, RECREATE, STOP, '
      'ROLLOUT, RESTART, SCALE_UP, SCALE_DOWN, MIXED (open enum)',
  class_confidence  STRING NOT NULL
    COMMENT 'EXACT (how each member ended is known, or does not matter), INFERRED',
  members_before    INT NOT NULL
    COMMENT 'before the first event; members',
  members_after     INT NOT NULL
    COMMENT 'after the last event; members',
  members_low       INT NOT NULL
    COMMENT 'lowest in between; members',
  joined            INT NOT NULL
    COMMENT 'members that joined; events',
  departed          INT NOT NULL
    COMMENT 'members that went, neither replaced nor with their group; events',
  replaced          INT NOT NULL
    COMMENT 'static members that came back before their session ended; events',
  away              INT NOT NULL
    COMMENT 'static members that left for a while (epoch -2); events',
  cycles            INT NOT NULL
    COMMENT 'departures and later joins of one process; pairs',
  touched           INT NOT NULL
    COMMENT 'distinct processes; processes',
  ends              MAP<STRING, INT> NOT NULL
    COMMENT 'how the departed ended: end_detail of members, POLL_TIMEOUT, or what their silence '
      'says (LEFT, EXPIRED, UNKNOWN), and how many did (open enum)',
  hosts_out         ARRAY<STRING> NOT NULL
    COMMENT 'hosts of the departed, the first 20; /address',
  hosts_in          ARRAY<STRING> NOT NULL
    COMMENT 'hosts of the joined, the first 20; /address',
  clients           ARRAY<STRUCT<
    client_id: STRING COMMENT 'client.id; any text',
    client_host: STRING COMMENT 'host as the broker saw it; /address',
    instance_id: STRING COMMENT 'group.instance.id, NULL for a dynamic member; any text',
    departed: INT COMMENT 'departures; events',
    joined: INT COMMENT 'joins; events'
  >> NOT NULL
    COMMENT 'clients of the events, the 20 that departed most often first; clients',
  epochs            INT
    COMMENT 'group epochs or generations begun from the first event to the last, whatever their '
      'cause, NULL where an offline conversion began to count from the start; epochs',
  moved             INT
    COMMENT 'partitions that changed hands, NULL across a hole and where assignments are opaque; '
      'partitions',
  returned          INT
    COMMENT 'of these back to the process that had it before the last one; partitions',
  moves_floor       INT
    COMMENT 'what an assignor that moves as little as it can would have moved, an estimate, never '
      'more than moved; partitions',
  low_ms            BIGINT
    COMMENT 'partitions stopped at least so long, summed up, NULL as moved; partition-ms',
  est_ms            BIGINT
    COMMENT 'they stopped about so long, NULL as moved, and where members of an eager group '
      'stopped and no request log tells when they heard of it; partition-ms',
  high_ms           BIGINT
    COMMENT 'they stopped at most so long, as far as commits before and after show it, and no less '
      'than est_ms; partition-ms',
  est_is_partial    BOOLEAN
    COMMENT 'of a departed member nothing shows when it stopped: est_ms is too small, NULL '
      'without one; true, false',
  high_unknown      INT
    COMMENT 'changes of hands without a commit before and after: high_ms has their estimate; '
      'partitions',
  longest_idle_ms   BIGINT
    COMMENT 'longest time between the last commit of a partition before a change of hands and the '
      'first one after it, NULL where none is known; ms',
  epochs_registration INT NOT NULL
    COMMENT 'rebalances that the registration timeout of KIP-345 would have made of the '
      'departures; rebalances',
  epochs_expansion  INT NOT NULL
    COMMENT 'rebalances that its expansion timeout would have made of the joins; rebalances',
  registration_pending BOOLEAN NOT NULL
    COMMENT 'that timeout was still running for a departed member; true, false',
  is_cut            BOOLEAN NOT NULL
    COMMENT 'the wave goes on behind this row: the chain of events was cut at 4,096 of them; '
      'true, false',
  is_final          BOOLEAN   NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team              STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact           STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text'
)
USING DELTA
COMMENT 'Waves of joins and departures: deploys, scalings, crashes, and what they cost'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
