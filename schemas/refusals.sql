-- Grain: one run of the same refusal of the same asker.
-- Key: (cluster, group_id, api, error_code, subject, first_at).
-- Partitioned by: (cluster, is_final, logical_date): a night replaces the rows that are not final
--   and its own final ones, and touches no other file.
-- Writer: run_nightly, step report; replaces cluster = C AND (NOT is_final OR logical_date = D).
-- Retention: kept; old nights may be deleted by (cluster, logical_date).
CREATE TABLE IF NOT EXISTS refusals (
  cluster      STRING    NOT NULL COMMENT 'name of the Kafka cluster as configured; any text',
  logical_date DATE      NOT NULL
    COMMENT 'night that wrote the row, its label; date (filter on the *_at columns, not on this)',
  group_id     STRING    NOT NULL
    COMMENT 'group id as in the record key, bytes other than UTF-8 escaped by backslashes; any '
      'text, may be empty',
  member_id    STRING
    COMMENT 'member id that it gave last, NULL where it gave none; any text',
  instance_id  STRING             COMMENT 'group.instance.id, NULL for a dynamic member; any text',
  client_id    STRING             COMMENT 'client.id, NULL where no line shows it; any text',
  client_host  STRING
    COMMENT 'host as the broker saw it, NULL where no line shows it; /address',
  subject      STRING    NOT NULL
    COMMENT 'who asks: instance id, else member id, else client id, empty where the group refuses '
      'everybody; any text',
  api          STRING    NOT NULL COMMENT 'request; name of the API of Kafka',
  error_code   INT       NOT NULL COMMENT 'of the response; code of Kafka',
  error        STRING    NOT NULL COMMENT 'its name; text',
  refusal      STRING    NOT NULL
    COMMENT 'UPGRADE_REFUSED where a classic group turned a consumer-protocol member down, else '
      'the name of the error (open enum)',
  message      STRING
    COMMENT 'text of the error, or the short reason of the broker log (POLICY, CUSTOM_ASSIGNOR, '
      '..), NULL where none; any text',
  first_at     TIMESTAMP NOT NULL COMMENT 'first attempt; UTC',
  last_at      TIMESTAMP NOT NULL COMMENT 'last attempt; UTC',
  attempts     BIGINT    NOT NULL COMMENT 'attempts that were refused; requests',
  evidence     STRUCT<
    source: STRING COMMENT 'kind of the log; server_log, request_log (open enum)',
    input: STRING COMMENT 'file that the line is in; path',
    position: BIGINT COMMENT 'where the line begins in the unpacked file; byte'
  > NOT NULL COMMENT 'line of the first attempt; place',
  is_final     BOOLEAN   NOT NULL
    COMMENT 'no later night can change the row; every night writes false rows again; true, false',
  team         STRING
    COMMENT 'team that owns the group, by the owners file of that night, NULL where it names '
      'none; any text',
  contact      STRING
    COMMENT 'how to reach the team, NULL where the owners file does not say; any text',
  session_timeout_ms BIGINT
    COMMENT 'session timeout that a member of the classic protocol asked for last, NULL of other '
      'requests; ms',
  broken_bound_ms BIGINT
    COMMENT 'of INVALID_SESSION_TIMEOUT the bound of the broker that it is below or above, NULL '
      'where no line of a start shows it, and of other errors; ms'
)
USING DELTA
COMMENT 'Requests that were refused, run by run: who asked, what for, and why not'
PARTITIONED BY (cluster, is_final, logical_date)
TBLPROPERTIES (
  'delta.minReaderVersion' = '1',
  'delta.minWriterVersion' = '2',
  'delta.enableDeletionVectors' = 'false',
  'delta.dataSkippingNumIndexedCols' = '0'
)
