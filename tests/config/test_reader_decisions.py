"""Settings of decisions: brokers, clients, readiness, waves, static members and what-if."""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.config.model import (
    BrokersConfig,
    ClientVersions,
)
from groupreplay.config.reader import load_config
from groupreplay.errors import ConfigError
from tests.config.conftest import GOOD

CLIENT = "clients: [{name: x, early: '2.4', full: '2.12'}]\n"


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        ("brokers: {version: 4.1}", "brokers.version", 'a version in quotes such as "4.1.1", or'),
        ("brokers: {version: '4'}", "brokers.version", "found '4'"),
        ("brokers: {version: 4.1.1-rc0}", "brokers.version", "found '4.1.1-rc0'"),
        (
            "brokers: {migration_policy: both}",
            "brokers.migration_policy",
            "expected one of bidirectional, upgrade, downgrade, disabled, or null, found 'both'",
        ),
        ("brokers: {session_timeout_ms: 45s}", "brokers.session_timeout_ms", "found '45s'"),
        ("brokers: {max_size: 0}", "brokers.max_size", "from 1 to 2147483647, or null, found 0"),
        (
            "brokers: {classic_heartbeat_ms: null}",
            "brokers.classic_heartbeat_ms",
            "expected a whole number from 1 to 2147483647, found nothing",
        ),
        ("brokers: {timeout: 1}", "brokers.timeout", "there is no such key"),
        (
            "brokers: {session_timeout_ms: 45000, max_session_timeout_ms: 30000}",
            "brokers.max_session_timeout_ms",
            "expected at least brokers.session_timeout_ms, which is 45000, found 30000",
        ),
        (
            "brokers: {min_session_timeout_ms: 6001, session_timeout_ms: 6000}",
            "brokers.session_timeout_ms",
            "expected at least brokers.min_session_timeout_ms, which is 6001, found 6000",
        ),
        (
            "brokers: {min_session_timeout_ms: 2, max_session_timeout_ms: 1}",
            "brokers.max_session_timeout_ms",
            "expected at least brokers.min_session_timeout_ms",
        ),
        (
            "brokers: {session_timeout_ms: 5000, heartbeat_interval_ms: 5000}",
            "brokers.heartbeat_interval_ms",
            "expected less than brokers.session_timeout_ms, which is 5000, found 5000",
        ),
        (
            "readiness: {epochs_per_hour: 16}",
            "readiness.epochs_per_hour",
            "expected a whole number from 1 to 15, found 16",
        ),
        ("readiness: {min_observed_ms: -1}", "readiness.min_observed_ms", "from 0 to"),
        ("readiness: {proven_ms: 1d}", "readiness.proven_ms", "expected a whole number"),
        ("readiness: {lookback_ms: null}", "readiness.lookback_ms", "found nothing"),
        ("clients: {name: x}", "clients", "expected a list of at most 100 mappings"),
        ("clients: [x]", "clients.0", "expected a mapping of keys, found 'x'"),
        (CLIENT.replace("name: x, ", ""), "clients.0.name", "is missing, expected a text"),
        (CLIENT.replace("'2.12'", "2.12"), "clients.0.full", "a version in quotes such as"),
        (
            CLIENT.replace("'2.12'", "'2.3.9'"),
            "clients.0.full",
            "expected a version from clients.0.early on, which is '2.4', found '2.3.9'",
        ),
        (CLIENT.replace("name", "names"), "clients.0.names", "did you mean 'name'?"),
        ("waves: {gap_ms: 3600001}", "waves.gap_ms", "from 1000 to 3600000, found 3600001"),
        ("waves: {flap_cycles: 1}", "waves.flap_cycles", "from 2 to 1000, found 1"),
        ("static: {registration_ms: 3600001}", "static.registration_ms", "from 0 to 3600000"),
        ("static: {expansion_ms: '5'}", "static.expansion_ms", "a whole number from 0"),
        ("what_if: {static_timeout_ms: 0}", "what_if.static_timeout_ms", "from 1 to"),
        ("what_if: {other_heartbeat_ms: x}", "what_if.other_heartbeat_ms", "or null, found 'x'"),
        ("what_if: {min_samples: 0}", "what_if.min_samples", "from 1 to 1000000, found 0"),
        ("what_if: {min_fleet_samples: 0}", "what_if.min_fleet_samples", "found 0"),
        ("what_if: 3", "what_if", "expected a mapping of keys, found 3"),
    ],
)
def test_bad_settings_of_decisions_are_named(write: Any, text: str, key: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write(GOOD + text + "\n"))
    assert caught.value.key == key
    assert says in str(caught.value)


def test_settings_of_decisions_are_read_and_a_list_of_clients_replaces_the_default(
    write: Any,
) -> None:
    config = load_config(
        write(
            GOOD
            + "brokers: {version: '4.1.1', session_timeout_ms: 12000, heartbeat_interval_ms: 2000,"
            " min_session_timeout_ms: 6000}\n" + CLIENT
        ),
        ["waves.gap_ms=11000", "readiness.min_observed_ms=0", "clients.0.full='2.13'"],
    )
    assert config.brokers == BrokersConfig(
        version="4.1.1",
        session_timeout_ms=12_000,
        min_session_timeout_ms=6_000,
        heartbeat_interval_ms=2_000,
    )
    assert config.clients == (ClientVersions(name="x", early="2.4", full="2.13"),)
    assert (config.waves.gap_ms, config.readiness.min_observed_ms) == (11_000, 0)
    assert (config.static.registration_ms, config.what_if.other_heartbeat_ms) == (900_000, None)
    assert load_config(write(GOOD + "clients: []\n")).clients == ()
