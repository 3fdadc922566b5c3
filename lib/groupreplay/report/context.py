"""What every table of one night is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from pyspark.sql import DataFrame

from groupreplay.config.model import (
    BrokersConfig,
    ClientVersions,
    GroupsConfig,
    GroupThresholds,
    ReadinessConfig,
    StaticConfig,
    Thresholds,
    WavesConfig,
    WhatIfConfig,
)


@dataclass(frozen=True, slots=True)
class ReportContext:
    """One night.

    as_of_ms: the moment that open rows are measured to, ms since the epoch, UTC.
    evidence: rows of table `evidence` of all nights, None where there never were broker logs.
    evidence_tonight: rows of it that this night wrote, None where evidence is None.
    lines_as_of_ms: time of the newest line of broker logs, -1 for none.
    log_kinds: kinds of broker logs that the configuration has.
    thresholds_by_group: what differs from thresholds, for patterns of groups;
        `report.stuck.thresholds` says what counts.
    groups: the choice of groups that was replayed.
    read_until_ms: partition of the live topic -> when the ends were taken to which the nights
        before, and this one too, had read it; -1 where they had not.
    brokers, waves, static, what_if, readiness, clients: as configured.
    owners: group_id, team and contact of each group with an owner, small enough to broadcast, as
        `report.joins.group_owners` makes it; None without an owners file.
    """

    cluster: str
    logical_date: date
    as_of_ms: int
    thresholds: Thresholds
    evidence: DataFrame | None = None
    evidence_tonight: DataFrame | None = None
    lines_as_of_ms: int = -1
    log_kinds: frozenset[str] = frozenset()
    thresholds_by_group: tuple[GroupThresholds, ...] = ()
    owners: DataFrame | None = None
    groups: GroupsConfig = field(default_factory=GroupsConfig)
    brokers: BrokersConfig = field(default_factory=BrokersConfig)
    waves: WavesConfig = field(default_factory=WavesConfig)
    static: StaticConfig = field(default_factory=StaticConfig)
    what_if: WhatIfConfig = field(default_factory=WhatIfConfig)
    readiness: ReadinessConfig = field(default_factory=ReadinessConfig)
    clients: tuple[ClientVersions, ...] = ()
    read_until_ms: Mapping[int, tuple[int, int]] = field(default_factory=dict)
