"""What a broker prints of itself when it starts: its version, and those of its settings that groups
depend on, and the level of the feature that allows the consumer protocol.

`KafkaConfig values: ` is followed by a line `\\tname = value` for each setting; no other one is
read. Source: AbstractConfig.logAll, AppInfoParser, FeaturesPublisher.
"""

from __future__ import annotations

import re
from typing import Final

from groupreplay.records.log_events import BROKER_SETTING, LogEvent

SETTINGS: Final = frozenset(
    {
        *(
            f"group.consumer.{name}"
            for name in (
                *("session.timeout.ms", "min.session.timeout.ms", "max.session.timeout.ms"),
                *("heartbeat.interval.ms", "min.heartbeat.interval.ms"),
                *("max.heartbeat.interval.ms", "assignment.interval.ms"),
                *("max.size", "migration.policy", "assignors"),
            )
        ),
        *("group.min.session.timeout.ms", "group.max.session.timeout.ms", "group.max.size"),
        "group.coordinator.rebalance.protocols",
    }
)
BEGIN: Final = "KafkaConfig values:"
"""Settings of other things of the same process are printed too, under other names."""

_LINE: Final = re.compile(r"\t(group\.[a-z.]{1,60}) = (.{0,1000})")
_VERSION: Final = re.compile(r"Kafka version: ([0-9][0-9A-Za-z.-]{0,40})")
_FEATURES: Final = re.compile(
    r"Loaded new metadata (?:Finalized)?Features[\[(].{0,200}?finalizedFeatures=\{([^}]{1,2000})\}"
)
_FEATURES_LOGGER: Final = "FeaturesPublisher"
_VERSION_LOGGER: Final = "AppInfoParser"


def setting_of(line: str, at_ms: int) -> LogEvent | None:
    """Setting in a line below BEGIN, written at at_ms; None for one that nobody asks for."""
    found = _LINE.fullmatch(line)
    if found is None or found[1] not in SETTINGS:
        return None
    return LogEvent(event=BROKER_SETTING, at_ms=at_ms, detail=f"{found[1]} = {found[2]}")


def group_version_of(message: str, logger: str, at_ms: int) -> LogEvent | None:
    """The finalized level of group.version, of a whole line; 0 where other features are finalized
    and it is not.
    """
    if "finalizedFeatures={" not in message or not logger.endswith(_FEATURES_LOGGER):
        return None
    found = _FEATURES.search(message)
    if found is None:
        return None
    levels = dict(each.split("=", 1) for each in found[1].split(", ") if "=" in each)
    level = levels.get("group.version", "0")
    return LogEvent(event=BROKER_SETTING, at_ms=at_ms, detail=f"group.version = {level}")


def version_of(message: str, logger: str, at_ms: int) -> LogEvent | None:
    """Version in a whole line.

    logger: logger of the line, "" where the layout does not show it.
    """
    if not message.startswith("Kafka version: ") or not logger.endswith(_VERSION_LOGGER):
        return None
    found = _VERSION.fullmatch(message.strip())
    return (
        LogEvent(event=BROKER_SETTING, at_ms=at_ms, detail=f"version = {found[1]}")
        if found
        else None
    )
