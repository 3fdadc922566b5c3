"""Clear and hashed rows, or those of two salts, never stand in the same tables: a run that would
mix them is refused before it writes anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from groupreplay.errors import ConfigError
from groupreplay.night.earlier.history import PastNight
from groupreplay.report.words.privacy import HashKeys
from groupreplay.tables.schemas import ALWAYS, INTERNAL
from groupreplay.tables.warehouse import Warehouse

_REMEDY = "give another warehouse, which then replays from the logs"


def check_privacy(warehouse: Warehouse, nights: Sequence[PastNight], keys: HashKeys | None) -> None:
    """Raises ConfigError for a run that would mix them.

    nights: all nights of the cluster that landed, in order.
    keys: keys that this run hashes with, None where it hides nothing.
    """
    if not nights:
        return
    before, now = nights[-1].hashed, keys.fingerprint if keys else ""
    if before != now:
        raise ConfigError(
            _key(before, now), "", f"{_difference(warehouse, before, now)}: {_REMEDY}"
        )
    if warehouse.private_root != warehouse.root and not any(
        warehouse.exists(name) for name in ALWAYS if name in INTERNAL
    ):
        raise ConfigError(
            "private_warehouse",
            "",
            f"{warehouse.private_root} holds no raw rows and states of the nights before: expected"
            " the place they are in",
        )


def _key(before: str, now: str) -> str:
    return "privacy.salt" if _fields(before) == _fields(now) else "privacy.hash"


def _difference(warehouse: Warehouse, before: str, now: str) -> str:
    place = f"the tables of cluster {warehouse.cluster} in {warehouse.root}"
    if _fields(before) == _fields(now):
        return f"{place} were hashed with another salt"
    return (
        f"{place} were written with {_fields(before) or 'nothing'} hashed, and now it is"
        f" {_fields(now) or 'nothing'}"
    )


def _fields(fingerprint: str) -> str:
    return fingerprint.partition("/")[0].replace(",", ", ")
