"""What a run is told: frozen dataclasses, standard library only, because workers import them.

`conf/base.yaml` explains every key and repeats the defaults that stand here (a test holds the two
together). `config.reader` reads them. A field's metadata: `min`, `max` (both inclusive, in the unit
of its name), `pattern` (whole text must match), `expected` (in words, for the error).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groupreplay.limits import MAX_CHAIN_GAP_MS, MIN_QUIET_MS, MIN_SILENCE_MS, MIN_STALL_MS
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN

MAX_GROUP_THRESHOLDS = 200
"""Patterns with thresholds of their own: each is a branch of a query."""

TEXT_KINDS = (SERVER_LOG, REQUEST_LOG)
SOURCE_KINDS = ("segments", "dump_log", "kafka", *TEXT_KINDS, "topics")

PRIVATE_FIELDS = ("client_host", "client_id", "instance_id", "principal")
"""What of a client may be hashed in the tables that analysts read."""

MIN_SALT_CHARS = 16

SAFE_VACUUM_HOURS = 168
"""Delta's own limit: a reader or writer that began before so long may still need files that no
version names any more.
"""


def _threshold(default_ms: int) -> Any:
    return field(default=default_ms, metadata={"min": MIN_STALL_MS, "max": 366 * 86_400_000})


def _window(default_ms: int) -> Any:
    return field(default=default_ms, metadata={"min": MIN_STALL_MS, "max": MAX_CHAIN_GAP_MS})


def _number(default: int | None, least: int, most: int) -> Any:
    return field(default=default, metadata={"min": least, "max": most})


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """kind: one of SOURCE_KINDS.
    path: a file, directory or glob, local (then absolute) or a URI.
    """

    kind: str
    path: str

    def __str__(self) -> str:
        return f"{self.kind} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLogSource(Source):
    """Logs of one broker.

    broker: its node id.
    timezone: of times without a zone, an IANA name.
    layout: the log4j pattern that its lines follow.
    """

    broker: int = field(metadata={"min": 0, "max": 2**31 - 1})
    timezone: str = field(
        metadata={
            "check": "timezone",
            "expected": "the broker's time zone, an IANA name such as UTC or Europe/Berlin",
        }
    )
    layout: str = field(default=DEFAULT_PATTERN, metadata={"check": "layout"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLogSource(ServerLogSource):
    """message_field: where a shipper wrapped each line in JSON, the dotted key under which the line
        stands; None: lines are as Kafka wrote them.
    time_field: that of the time when it was shipped, for lines that were stripped of their own.
    """

    message_field: str | None = None
    time_field: str | None = None


_SERVERS = {
    "pattern": r"(?:[^\s,]+:\d{1,5})(?:,\s*[^\s,]+:\d{1,5})*",
    "expected": "host:port, or several parted by commas",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSource:
    """The live offsets topic.

    options: of Kafka's clients, by Kafka's names; some are secrets, so they show nowhere.
    """

    kind: str
    bootstrap_servers: str = field(metadata=_SERVERS)
    options: Mapping[str, str] = field(
        default_factory=dict, repr=False, metadata={"kafka_options": True}
    )
    topic: str = field(
        default="__consumer_offsets",
        metadata={"pattern": r"[A-Za-z0-9._-]{1,249}", "expected": "the name of a topic"},
    )

    def __str__(self) -> str:
        return f"{self.kind} {self.bootstrap_servers}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaTopicsSource:
    """Topic ids and names as the cluster itself tells them.

    bootstrap_servers: None: those, and the options, of the source of the kind kafka.
    """

    kind: str
    bootstrap_servers: str | None = field(default=None, metadata=_SERVERS)
    options: Mapping[str, str] = field(
        default_factory=dict, repr=False, metadata={"kafka_options": True}
    )

    def __str__(self) -> str:
        return f"{self.kind} from kafka {self.bootstrap_servers}"


AnySource = Source | KafkaSource | KafkaTopicsSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From when on something is called stuck (docs/measures.md). Durations in ms; `*_count` times
    inside `*_window_ms`.
    """

    slow_revocation_ms: int = _threshold(10_000)
    waiting_on_holder_ms: int = _threshold(10_000)
    not_reconciling_ms: int = _threshold(15_000)
    fence_loop_count: int = _number(3, 2, 1_000)
    fence_loop_window_ms: int = _window(600_000)
    epoch_storm_count: int = _number(10, 2, 1_000)
    epoch_storm_window_ms: int = _window(600_000)
    assigning_stalled_ms: int = _threshold(16_000)
    migration_stalled_ms: int = _threshold(86_400_000)
    static_limbo_ms: int = _threshold(10_000)
    not_heartbeating_ms: int = field(
        default=10_000, metadata={"min": MIN_SILENCE_MS, "max": 366 * 86_400_000}
    )
    rejected_loop_count: int = _number(3, 2, 1_000)
    rejected_loop_window_ms: int = _window(600_000)
    upgrade_refused_ms: int = _number(0, 0, 366 * 86_400_000)
    join_never_completes_ms: int = _threshold(60_000)
    sync_never_completes_ms: int = _threshold(60_000)
    coordinator_unavailable_ms: int = _threshold(30_000)
    assignor_failed_ms: int = _number(0, 0, 366 * 86_400_000)
    assigned_not_consuming_ms: int = field(
        default=600_000, metadata={"min": MIN_QUIET_MS, "max": 366 * 86_400_000}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupThresholds:
    """What differs from `Thresholds` for the groups that match the pattern.

    limits: name of a field -> its value.
    """

    pattern: str
    limits: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsConfig:
    """Which groups are replayed and reported, by patterns of `config.group_patterns`.

    include: none means all.
    exclude: of those, left out.
    """

    include: tuple[str, ...] = field(default=(), metadata={"patterns": True})
    exclude: tuple[str, ...] = field(default=(), metadata={"patterns": True})

    def __bool__(self) -> bool:
        """Whether any group could be left out."""
        return bool(self.include or self.exclude)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A line of the owners file: the team of the groups that match the pattern, and how to reach
    it.
    """

    pattern: str
    team: str
    contact: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayConfig:
    """slices: hash buckets of groups; None: from the number of rows. Shows in no output."""

    slices: int | None = _number(None, 1, 4_096)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportConfig:
    """top: rows of each list in the summary."""

    top: int = _number(5, 1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionConfig:
    """What maintain_tables keeps.

    raw_nights, state_nights, evidence_nights: newest nights whose rows stay in raw_records and
        raw_lines, in group_state, in evidence; None: all.
    vacuum_hours: files that no version names any more stay so long; below SAFE_VACUUM_HOURS only
        with allow_short_vacuum.
    """

    raw_nights: int | None = _number(None, 1, 36_500)
    state_nights: int | None = _number(None, 1, 36_500)
    evidence_nights: int | None = _number(None, 1, 36_500)
    vacuum_hours: int = _number(SAFE_VACUUM_HOURS, 0, 24 * 36_500)
    allow_short_vacuum: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyConfig:
    """hash: of PRIVATE_FIELDS, by name, each once.
    salt: secret from the environment, None where nothing is hashed, and for who only reads.
    """

    hash: tuple[str, ...] = field(default=(), metadata={"choices": PRIVATE_FIELDS})
    salt: str | None = field(default=None, repr=False, metadata={"secret": MIN_SALT_CHARS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One run's configuration, checked whole.

    cluster: a name, in every row.
    warehouse: directory (then absolute) or URI; a table is at <warehouse>/<table>.
    config_hash: sha256 of what was in force, in hex, with `${env:NAME}` unreplaced, so that no
        secret is in it.
    private_warehouse: of the internal tables, where `privacy` hides something in the others; None
        where they stand together.
    owners: path of the owners file, owner_rules: what stands in it, for who writes tables.
    in_force: all keys as JSON, secrets hidden.
    """

    cluster: str = field(
        metadata={
            "pattern": r"[A-Za-z0-9._-]{1,100}",
            "expected": "a name of letters, digits, '.', '_' and '-'",
        }
    )
    warehouse: str
    sources: tuple[AnySource, ...] = field(metadata={"min": 1})
    groups: GroupsConfig = field(default_factory=GroupsConfig)
    owners: str | None = None
    owner_rules: tuple[Owner, ...] = field(default=(), metadata={"computed": True})
    thresholds: Thresholds = field(default_factory=Thresholds)
    thresholds_by_group: tuple[GroupThresholds, ...] = field(
        default=(), metadata={"max": MAX_GROUP_THRESHOLDS}
    )
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    report: ReportConfig = field(default_factory=ReportConfig)
    privacy: PrivacyConfig = field(default_factory=PrivacyConfig)
    private_warehouse: str | None = None
    retention: RetentionConfig = field(default_factory=RetentionConfig)
    config_hash: str = field(default="", metadata={"computed": True})
    in_force: str = field(default="", metadata={"computed": True})
