"""What keys of a configuration must say together: each problem is one sentence."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

from groupreplay.config.model import SAFE_VACUUM_HOURS, BrokersConfig, ClientVersions, Config
from groupreplay.errors import ConfigError

Blame = Callable[[str, str], ConfigError]
"""Key and problem -> the error that names who said it."""


def check_together(config: Config, blame: Blame, *, only_reads: bool) -> None:
    """Raises ConfigError.

    only_reads: secrets were not asked for.
    """
    _check_privacy(config, blame, only_reads)
    _check_retention(config, blame)
    _check_brokers(config.brokers, blame)
    for place, client in enumerate(config.clients):
        _check_client(client, f"clients.{place}", blame)


def dotted(version: str) -> tuple[int, ...]:
    """A version as versions compare, by the numbers that it begins with: 4.0 is 4.0.0, and so is
    4.0.0-rc1; () where it begins with none.
    """
    begin = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in begin[0].split(".")] if begin else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _check_privacy(config: Config, blame: Blame, only_reads: bool) -> None:
    privacy, private = config.privacy, config.private_warehouse
    if not privacy.hash:
        if private is not None:
            raise blame(
                "private_warehouse",
                "it is used only where privacy.hash names what to hide, and privacy.hash is empty",
            )
        return
    if privacy.salt is None and not only_reads:
        raise blame(
            "privacy.salt",
            "is missing, expected ${env:NAME}: privacy.hash needs a salt from the environment",
        )
    if private is None:
        raise blame(
            "private_warehouse",
            "is missing, expected a directory or URI: with privacy.hash internal tables need one of"
            " their own",
        )
    public, hidden = (
        re.sub("^file:/+", "/", path).rstrip("/") + "/" for path in (config.warehouse, private)
    )
    if public.startswith(hidden) or hidden.startswith(public):
        raise blame(
            "private_warehouse",
            f"expected a place neither in the warehouse {config.warehouse} nor around it, found"
            f" {private}",
        )


def _check_retention(config: Config, blame: Blame) -> None:
    retention = config.retention
    if retention.vacuum_hours < SAFE_VACUUM_HOURS and not retention.allow_short_vacuum:
        problem = (
            f"expected at least {SAFE_VACUUM_HOURS} hours, found {retention.vacuum_hours}: less"
            " takes files away that someone may be reading"
        )
        raise blame(
            "retention.vacuum_hours",
            f"{problem}; retention.allow_short_vacuum: true says that nobody is",
        )


def _check_brokers(brokers: BrokersConfig, blame: Blame) -> None:
    """As Kafka's GroupCoordinatorConfig.validate does, of what is given."""
    in_order = ("min_session_timeout_ms", "session_timeout_ms", "max_session_timeout_ms")
    given = [(name, limit) for name in in_order if (limit := getattr(brokers, name)) is not None]
    for (below, least), (name, limit) in itertools.pairwise(given):
        if limit < least:
            raise blame(
                f"brokers.{name}",
                f"expected at least brokers.{below}, which is {least}, found {limit}",
            )
    session, heartbeat = brokers.session_timeout_ms, brokers.heartbeat_interval_ms
    if session is not None and heartbeat is not None and heartbeat >= session:
        raise blame(
            "brokers.heartbeat_interval_ms",
            f"expected less than brokers.session_timeout_ms, which is {session}, found {heartbeat}",
        )


def _check_client(client: ClientVersions, key: str, blame: Blame) -> None:
    if dotted(client.full) < dotted(client.early):
        raise blame(
            f"{key}.full",
            f"expected a version from {key}.early on, which is {client.early!r}, found"
            f" {client.full!r}",
        )
