"""What a cluster's brokers are set to: as configured, else as their logs say, else Kafka's default.

Source of the defaults: GroupCoordinatorConfig, 4.0 to 4.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from groupreplay.config.checks import dotted
from groupreplay.config.model import BrokersConfig

CONFIG: Final = "CONFIG"
LOGS: Final = "LOGS"
ASSUMED: Final = "ASSUMED"

_STRENGTH: Final = (ASSUMED, LOGS, CONFIG)
"""From the weakest on."""

VERSION: Final = "version"
"""Key of the broker's version among its settings: no setting of Kafka is called so."""

GROUP_VERSION: Final = "group.version"
"""Key of the finalized feature among them."""

Settings = Mapping[str, Sequence[str]]
"""Name of a setting, as Kafka's, -> the values that brokers were last started with."""

_DEFAULTS: Final = {
    "group.consumer.session.timeout.ms": 45_000,
    "group.consumer.min.session.timeout.ms": 45_000,
    "group.consumer.max.session.timeout.ms": 60_000,
    "group.consumer.heartbeat.interval.ms": 5_000,
    "group.consumer.max.size": 2**31 - 1,
}

ASSIGNMENT_INTERVAL_MS: Final = 1_000


@dataclass(slots=True, frozen=True, kw_only=True)
class Brokers:
    """What the cluster's brokers are set to; where they differ, the least favourable.

    group_version: finalized level of the feature group.version: 0 lets no consumer group be.

    known: CONFIG, LOGS or ASSUMED: where session timeouts and bounds come from, the weakest.
    differing: settings, by Kafka's names, that are not configured and in which brokers differ.
    """

    version: str | None
    policy: str | None
    session_ms: int
    min_session_ms: int
    max_session_ms: int
    heartbeat_ms: int
    max_size: int
    protocols: str | None
    known: str
    group_version: int | None = None
    differing: frozenset[str] = frozenset()


def settings_of(starts: Iterable[Mapping[str, str]]) -> Settings:
    """What each broker was last started with, by setting.

    starts: `setting` and `value` of each setting of each broker.
    """
    found: dict[str, list[str]] = {}
    for each in starts:
        found.setdefault(each["setting"], []).append(each["value"])
    return found


def brokers_of(config: BrokersConfig, settings: Settings) -> Brokers:
    """Where brokers differ the least favourable value counts: the lowest version, the smallest
    upper bound and timeout, the greatest lower bound, the longest heartbeat.
    """
    session, session_from = _number(config.session_timeout_ms, settings, "session.timeout.ms")
    least, least_from = _number(
        config.min_session_timeout_ms, settings, "min.session.timeout.ms", is_least=False
    )
    most, most_from = _number(config.max_session_timeout_ms, settings, "max.session.timeout.ms")
    heartbeat, _ = _number(
        config.heartbeat_interval_ms, settings, "heartbeat.interval.ms", is_least=False
    )
    size, _ = _number(config.max_size, settings, "max.size")
    versions = sorted(settings.get(VERSION, ()), key=dotted)
    protocols = settings.get("group.coordinator.rebalance.protocols", ())
    return Brokers(
        version=config.version or (versions[0] if versions else None),
        policy=config.migration_policy or _policy(settings),
        session_ms=session,
        min_session_ms=least,
        max_session_ms=most,
        heartbeat_ms=heartbeat,
        max_size=size,
        protocols=next((each for each in protocols if "consumer" not in each), None),
        known=min(session_from, least_from, most_from, key=_STRENGTH.index),
        group_version=min(_logged(settings, GROUP_VERSION), default=None),
        differing=frozenset(
            name
            for name, values in settings.items()
            if len(set(values)) > 1 and _configured(config).get(name) is None
        ),
    )


def _configured(config: BrokersConfig) -> dict[str, object]:
    return {
        VERSION: config.version,
        "group.consumer.migration.policy": config.migration_policy,
        "group.consumer.session.timeout.ms": config.session_timeout_ms,
        "group.consumer.min.session.timeout.ms": config.min_session_timeout_ms,
        "group.consumer.max.session.timeout.ms": config.max_session_timeout_ms,
        "group.consumer.max.size": config.max_size,
    }


def assignment_interval_ms(config: BrokersConfig, settings: Settings) -> int:
    """group.consumer.assignment.interval.ms, which came with 4.3: 0 where brokers are older."""
    if config.assignment_interval_ms is not None:
        return config.assignment_interval_ms
    logged = _logged(settings, "group.consumer.assignment.interval.ms")
    version = brokers_of(config, settings).version
    is_older = version is not None and dotted(version) < dotted("4.3")
    return max(logged, default=0 if is_older else ASSIGNMENT_INTERVAL_MS)


def _logged(settings: Settings, key: str) -> list[int]:
    return [int(each) for each in settings.get(key, ()) if re.fullmatch(r"\d{1,10}", each)]


def _number(
    configured: int | None, settings: Settings, name: str, *, is_least: bool = True
) -> tuple[int, str]:
    if configured is not None:
        return configured, CONFIG
    key = f"group.consumer.{name}"
    logged = _logged(settings, key)
    if logged:
        return (min if is_least else max)(logged), LOGS
    return _DEFAULTS[key], ASSUMED


def _policy(settings: Settings) -> str | None:
    """One that lets no group go over, where any broker has it."""
    logged = sorted(each.lower() for each in settings.get("group.consumer.migration.policy", ()))
    refusing = [each for each in logged if each in ("disabled", "downgrade")]
    return next(iter(refusing or logged), None)
