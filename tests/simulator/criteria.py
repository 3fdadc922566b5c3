"""By what groups are judged for `readiness`: the same history by several settings of brokers, so
that every rule fires somewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Criteria:
    """Keys of the configuration. version, policy: None where they are not known.

    T, Tmax and h of the page are session_ms, most_ms and heartbeat_ms.
    """

    name: str
    session_ms: int
    most_ms: int
    heartbeat_ms: int
    version: str | None = None
    policy: str | None = None
    max_size: int = 2**31 - 1
    min_observed_ms: int = 0
    epochs_per_hour: int = 10
    lookback_ms: int = 2_592_000_000
    classic_heartbeat_ms: int = 3_000


CRITERIA: Final = (
    Criteria("usual", 45_000, 60_000, 5_000, "4.3.1", "bidirectional"),
    Criteria("not watched for a day", 45_000, 60_000, 5_000, min_observed_ms=86_400_000),
    Criteria("short sessions", 12_000, 20_000, 2_000, "4.1.2", "upgrade", epochs_per_hour=3),
    Criteria("sessions that are just right", 45_000, 45_000, 5_000, "4.2.1", "upgrade"),
    Criteria("long sessions", 60_000, 120_000, 5_000, "4.4.0", "upgrade", epochs_per_hour=15),
    Criteria("small groups", 45_000, 60_000, 5_000, "4.2.0", "upgrade", max_size=2),
    Criteria("no upgrades", 45_000, 60_000, 5_000, "4.2.0", "downgrade"),
    Criteria("old brokers", 45_000, 60_000, 5_000, "3.9.2", "disabled", lookback_ms=600_000),
)

LONG_SESSION_MS: Final = 60_000
"""T where groups are judged with logs: that of members is shorter."""

STALLED_MS: Final = 300_000
"""migration_stalled_ms: histories are short."""

PROVEN_MS: Final = 120_000
"""readiness.proven_ms."""

OTHER_HEARTBEAT_MS: Final = 2_000
"""what_if.other_heartbeat_ms."""
