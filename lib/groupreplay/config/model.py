"""The configuration of a run: frozen dataclasses, of the standard library alone, because workers
import them.

`conf/base.yaml` explains every key and repeats the defaults that stand here (a test holds the two
together). `config.reader` reads them. A field's metadata: `min`, `max` (both inclusive, in the unit
of its name), `pattern` (whole text must match), `expected` (in words, for the error).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groupreplay.config.sources import (
    AnySource,
)
from groupreplay.limits import (
    KEPT_EPOCH_TIMES,
    MAX_CHAIN_GAP_MS,
    MIN_QUIET_MS,
    MIN_SILENCE_MS,
    MIN_STALL_MS,
)

MAX_GROUP_THRESHOLDS = 200
"""Patterns with thresholds of their own: each is a branch of a query."""


PRIVATE_FIELDS = ("client_host", "client_id", "instance_id", "principal")
"""What of a client may be hashed in the tables that analysts read."""

MIN_SALT_CHARS = 16

MIGRATION_POLICIES = ("bidirectional", "upgrade", "downgrade", "disabled")
"""Values of `group.consumer.migration.policy`."""

MAX_CLIENTS = 100
"""Entries of `clients`: each is a branch of a query."""

SAFE_VACUUM_HOURS = 168
"""Delta's own limit: a reader or writer that began within it may still need files that no version
names any more.
"""


def _threshold(default_ms: int) -> Any:
    return field(default=default_ms, metadata={"min": MIN_STALL_MS, "max": 366 * 86_400_000})


def _window(default_ms: int) -> Any:
    return field(default=default_ms, metadata={"min": MIN_STALL_MS, "max": MAX_CHAIN_GAP_MS})


def _number(default: int | None, least: int, most: int) -> Any:
    return field(default=default, metadata={"min": least, "max": most})


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
    learner_probes: int = _number(3, 1, 1_000)
    learner_ms: int = _threshold(1_800_000)
    probing_loop_count: int = _number(6, 2, 1_000)
    bounce_count: int = _number(2, 2, 1_000)
    bounce_window_ms: int = _window(3_600_000)
    task_unassigned_ms: int = _threshold(30_000)
    followup_missing_ms: int = _threshold(30_000)
    probe_missed_ms: int = _threshold(120_000)
    rebalance_loop_count: int = _number(10, 2, 1_000)
    rebalance_loop_window_ms: int = _window(600_000)
    version_mixed_ms: int = _threshold(86_400_000)
    restoring_ms: int = _threshold(1_800_000)
    assignment_error_ms: int = _number(0, 0, 366 * 86_400_000)
    shutdown_requested_ms: int = _number(0, 0, 366 * 86_400_000)
    duplicate_process_id_ms: int = _number(0, 0, 366 * 86_400_000)
    topology_not_ready_ms: int = _threshold(60_000)
    stale_topology_ms: int = _threshold(600_000)


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

    include: patterns of the groups to replay; none means all groups.
    exclude: patterns of groups to leave out of those.
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
    """top: most rows of each list in the summary."""

    top: int = _number(5, 1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageConfig:
    """The page of a night.

    enabled: write it.
    nights: how many nights its charts show.
    groups: how many groups can be found on it; those in trouble come first.
    group_pages: groups in trouble that get a page of their own.
    keep_nights: newest nights whose pages maintain_tables keeps.
    """

    enabled: bool = True
    nights: int = _number(30, 1, 90)
    groups: int = _number(50_000, 1, 200_000)
    group_pages: int = _number(50, 0, 500)
    keep_nights: int = _number(30, 1, 36_500)


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
    """hash: names of the PRIVATE_FIELDS to hash, sorted, each once.
    salt: secret from the environment, None where nothing is hashed, and for who only reads.
    """

    hash: tuple[str, ...] = field(default=(), metadata={"choices": PRIVATE_FIELDS})
    salt: str | None = field(default=None, repr=False, metadata={"secret": MIN_SALT_CHARS})


_COUNT_MOST = 2**31 - 1
"""Kafka's own largest value of a setting of type INT."""

_VERSION = {
    "pattern": r"\d{1,9}(\.\d{1,9}){1,3}",
    "expected": 'a version in quotes such as "4.1.1"',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokersConfig:
    """What the cluster's brokers are set to. None: as their logs say, else Kafka's default.

    version: version of the oldest broker.
    assignment_interval_ms: Kafka's default is 1,000 from 4.3 on, 0 before.
    max_size: `group.consumer.max.size`.
    classic_heartbeat_ms: `heartbeat.interval.ms` of classic clients; neither records nor lines have
        it.
    The others are `group.consumer.<name>` with dots.
    """

    version: str | None = field(default=None, metadata=_VERSION)
    migration_policy: str | None = field(
        default=None,
        metadata={
            "pattern": "|".join(MIGRATION_POLICIES),
            "expected": f"one of {', '.join(MIGRATION_POLICIES)}",
        },
    )
    session_timeout_ms: int | None = _number(None, 1, _COUNT_MOST)
    min_session_timeout_ms: int | None = _number(None, 1, _COUNT_MOST)
    max_session_timeout_ms: int | None = _number(None, 1, _COUNT_MOST)
    heartbeat_interval_ms: int | None = _number(None, 1, _COUNT_MOST)
    assignment_interval_ms: int | None = _number(None, 0, _COUNT_MOST)
    max_size: int | None = _number(None, 1, _COUNT_MOST)
    classic_heartbeat_ms: int = _number(3_000, 1, _COUNT_MOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessConfig:
    """When a group counts as known well enough to be flipped.

    min_observed_ms: it was watched for so long without a hole.
    lookback_ms: how old an absence may be that still counts.
    epochs_per_hour: more of them in the last hour are too many.
    proven_ms: a group of the cohort has run on the consumer protocol for so long.
    """

    min_observed_ms: int = _number(86_400_000, 0, 366 * 86_400_000)
    lookback_ms: int = _number(2_592_000_000, 0, 366 * 86_400_000)
    epochs_per_hour: int = _number(10, 1, KEPT_EPOCH_TIMES - 1)
    proven_ms: int = _number(86_400_000, 0, 366 * 86_400_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientVersions:
    """From which version on a client speaks the consumer protocol.

    name: pattern of `software_name`.
    version_after: the version that counts is what stands behind this text in `software_version`;
        without it there the entry does not match. None: the whole.
    early: has it in early access.
    full: has it whole.
    """

    name: str
    version_after: str | None = None
    early: str = field(metadata=_VERSION)
    full: str = field(metadata=_VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class WavesConfig:
    """gap_ms: events further apart are of two waves.
    flap_cycles: a member that left and joined this often in one wave flaps.
    """

    gap_ms: int = _window(300_000)
    flap_cycles: int = _number(3, 2, 1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticConfig:
    """The two timeouts that KIP-345 proposed and Kafka never had, for what they would have saved.

    registration_ms: a static member that left is waited for so long.
    expansion_ms: new members are gathered for so long.
    """

    registration_ms: int = _number(900_000, 0, MAX_CHAIN_GAP_MS)
    expansion_ms: int = _number(300_000, 0, MAX_CHAIN_GAP_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfConfig:
    """How events are priced under other protocols.

    static_timeout_ms: session timeout of members that would be static.
    other_heartbeat_ms: another `group.consumer.heartbeat.interval.ms` to price; None: none.
    min_samples, min_fleet_samples: times of the group, of all groups, below which they do not
        count.
    """

    static_timeout_ms: int = _number(45_000, 1, _COUNT_MOST)
    other_heartbeat_ms: int | None = _number(None, 1, _COUNT_MOST)
    min_samples: int = _number(3, 1, 1_000_000)
    min_fleet_samples: int = _number(20, 1, 1_000_000)


_NAME = r"[A-Za-z_]\w{0,99}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogConfig:
    """schema: in which tables and views are registered, of Spark's own catalog or
        `<catalog>.<schema>`; None: nothing is.
    prefix: text that the name of each begins with; "" for none.
    """

    schema: str | None = field(
        default=None,
        metadata={
            "pattern": rf"{_NAME}(\.{_NAME}){{0,2}}",
            "expected": "the name of a schema, such as groupreplay or lake.groupreplay",
        },
    )
    prefix: str = field(
        default="",
        metadata={
            "pattern": r"\w{0,40}",
            "expected": "at most 40 letters, digits and '_'",
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One run's configuration, checked whole.

    cluster: a name, in every row.
    warehouse: directory (then absolute) or URI; a table is at <warehouse>/<table>.
    config_hash: sha256 of what was in force, in hex, with `${env:NAME}` unreplaced, so that no
        secret is in it.
    private_warehouse: directory or URI of the internal tables, which `privacy.hash` requires; None
        where all tables stand together.
    owners: path of the owners file, None where there is none.
    owner_rules: rules of that file, for jobs that write tables.
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
    brokers: BrokersConfig = field(default_factory=BrokersConfig)
    readiness: ReadinessConfig = field(default_factory=ReadinessConfig)
    clients: tuple[ClientVersions, ...] = field(
        default=(
            ClientVersions(name="*", version_after="rdkafka-", early="2.4", full="2.12"),
            ClientVersions(name="librdkafka", early="2.4", full="2.12"),
            ClientVersions(name="apache-kafka-java", early="3.7", full="4.0"),
        ),
        metadata={"max": MAX_CLIENTS},
    )
    waves: WavesConfig = field(default_factory=WavesConfig)
    static: StaticConfig = field(default_factory=StaticConfig)
    what_if: WhatIfConfig = field(default_factory=WhatIfConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    report: ReportConfig = field(default_factory=ReportConfig)
    page: PageConfig = field(default_factory=PageConfig)
    privacy: PrivacyConfig = field(default_factory=PrivacyConfig)
    private_warehouse: str | None = None
    retention: RetentionConfig = field(default_factory=RetentionConfig)
    catalog: CatalogConfig = field(default_factory=CatalogConfig)
    config_hash: str = field(default="", metadata={"computed": True})
    in_force: str = field(default="", metadata={"computed": True})
