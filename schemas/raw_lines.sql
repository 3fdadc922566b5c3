-- Grain: one thing that a line of a broker's log reports, or a run of requests that say the same,
--   or one thing to say about a file (kind).
-- Key: (cluster, source, broker, kind, input, position), but for lines that report several things,
--   one a member or group.
-- Partitioned by: (cluster, logical_date): each night reads its own.
-- Writer: run_nightly, step land; replaces cluster = C AND logical_date = D. It is made by the
--   first night that lands such a log.
-- Retention: internal; only the last night is read again, older nights may be deleted.
CREATE TABLE IF NOT EXISTS raw_lines (
  cluster           STRING NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date      DATE   NOT NULL COMMENT 'night that landed it; date',
  kind              STRING NOT NULL
    COMMENT 'line, file (what one stretch of a file came to), damage (open enum)',
  source            STRING NOT NULL
    COMMENT 'kind of the source; server_log, request_log (open enum)',
  input             STRING NOT NULL COMMENT 'file as it was called when it was read; path or URI',
  broker            INT    NOT NULL COMMENT 'broker that wrote the log, as configured; node id',
  position          BIGINT NOT NULL
    COMMENT 'where the line, the stretch or the damage begins in the unpacked text; bytes',
  event             STRING
    COMMENT 'what the line reports: of a server log the template, of a request log the API; name '
      '(open enum), NULL for kinds other than line, as below',
  at_ms             BIGINT
    COMMENT 'when the line was written: of a request, when the response was sent; ms since the '
      'epoch, UTC',
  started_ms        BIGINT          COMMENT 'when the request came; ms since the epoch, UTC',
  offsets_partition INT
    COMMENT 'partition of __consumer_offsets whose coordinator speaks; partition number',
  group_id          STRING          COMMENT 'group; any text',
  member_id         STRING          COMMENT 'member; any text',
  instance_id       STRING          COMMENT 'its group.instance.id; any text',
  other_member_id   STRING
    COMMENT 'member that owns, replaces or fences it, or that a join was answered with; any text',
  protocol          STRING
    COMMENT 'classic, consumer, share, streams where the line says it (open enum)',
  epoch             BIGINT
    COMMENT 'group epoch, generation or member epoch that the line or the request names; epoch',
  response_epoch    BIGINT          COMMENT 'that of the response; epoch',
  state             STRING          COMMENT 'of a classic group; name (open enum)',
  detail            STRING          COMMENT 'reason of the server, or of the damage; short text',
  client_reason     STRING          COMMENT 'reason of the client, in its own words; any text',
  error_code        BIGINT          COMMENT 'of the response, 0 none; Kafka error code',
  count             BIGINT          COMMENT 'members, records or partitions; count',
  duration_ms       BIGINT          COMMENT 'what the line says it took; ms',
  client_id         STRING          COMMENT 'client.id; any text',
  client_host       STRING          COMMENT 'address of the client as Kafka writes it; /address',
  connection        STRING
    COMMENT 'of the client to the broker, as the request log writes it; text',
  principal         STRING          COMMENT 'who the client is to the broker; any text',
  software_name     STRING          COMMENT 'client software; any text',
  software_version  STRING          COMMENT 'its version; any text',
  member_ids        ARRAY<STRING>
    COMMENT 'all members that the line names, where they are several; of the answer to a join the '
      'leader; any text',
  last_ms           BIGINT
    COMMENT 'of a run the time of its last request, else at_ms; ms since the epoch, UTC',
  requests          BIGINT
    COMMENT 'requests that the row stands for, of damage the lines; count',
  longest_gap_ms    BIGINT
    COMMENT 'of a run the longest time between two successive requests, else 0; ms',
  last_position     BIGINT
    COMMENT 'where the last line that the row stands for begins; bytes',
  line              STRING
    COMMENT 'text of the line, at most 8 KiB, of damage 1 KiB; NULL for runs',
  counts            STRING
    COMMENT 'of a file what became of its lines and where to go on, of damage its size; JSON',
  session_timeout_ms BIGINT
    COMMENT 'of a JOIN_GROUP request the session timeout that the member asks for; ms',
  heartbeat_interval_ms BIGINT
    COMMENT 'of a heartbeat of the consumer protocol how often the broker wants one; ms',
  rebalance_timeout_ms BIGINT
    COMMENT 'of a JOIN_GROUP request the rebalance timeout that the member asks for; ms'
)
USING DELTA
COMMENT 'Lines of broker logs about groups, with their position, landed exactly once'
PARTITIONED BY (cluster, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
