"""Configurations: what is read, and the sentence for everything that is not."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from groupreplay.config.checks import dotted
from groupreplay.config.model import (
    BrokersConfig,
    ClientVersions,
    Config,
    GroupsConfig,
    GroupThresholds,
    Owner,
    PrivacyConfig,
    RequestLogSource,
    ServerLogSource,
    Source,
)
from groupreplay.config.reader import load_config
from groupreplay.config.shown import shown
from groupreplay.errors import ConfigError
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN
from tests.support.base_config import load_base

GOOD = """
cluster: prod-eu
warehouse: /data/groupreplay
sources:
  - {kind: segments, path: "hdfs://nn/logs/"}
  - {kind: topics, path: /etc/topics.json}
"""

LOGS = """
cluster: prod-eu
warehouse: /data/groupreplay
sources:
  - {kind: server_log, path: /var/log/kafka/server.log*, broker: 1, timezone: Europe/Berlin}
  - {kind: request_log, path: /r.gz, broker: 1, timezone: UTC, layout: '%d %m%n', message_field: log.message, time_field: at}
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str) -> str:
        path = tmp_path / "c.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_file_over_base_gives_the_whole_configuration(write: Any) -> None:
    config = load_config(write(GOOD + "thresholds: {static_limbo_ms: 30000}\n"))
    assert config.cluster == "prod-eu"
    assert config.sources == (
        Source(kind="segments", path="hdfs://nn/logs/"),
        Source(kind="topics", path="/etc/topics.json"),
    )
    assert config.thresholds.static_limbo_ms == 30_000
    assert config.thresholds.slow_revocation_ms == 10_000
    assert config.replay.slices is None
    assert len(config.config_hash) == 64


def test_logs_of_brokers_have_keys_of_their_own(write: Any) -> None:
    server, request = load_config(write(LOGS)).sources
    assert server == ServerLogSource(
        kind="server_log", path="/var/log/kafka/server.log*", broker=1, timezone="Europe/Berlin"
    )
    assert server.layout == DEFAULT_PATTERN
    assert request == RequestLogSource(
        kind="request_log",
        path="/r.gz",
        broker=1,
        timezone="UTC",
        layout="%d %m%n",
        message_field="log.message",
        time_field="at",
    )
    assert str(server) == "server_log /var/log/kafka/server.log*"


def test_base_yaml_names_every_key_with_the_default_of_the_dataclass() -> None:
    for section, values in load_base().items():
        field = {field.name: field for field in dataclasses.fields(Config)}[section]
        if not isinstance(values, dict):
            assert _as_yaml(field.default) == values
            continue
        assert callable(field.default_factory)
        defaults = dataclasses.asdict(field.default_factory())
        assert {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in defaults.items()
        } == values
    without_default = {"cluster", "warehouse", "sources"}
    assert (
        set(load_base())
        == {
            field.name for field in dataclasses.fields(Config) if not field.metadata.get("computed")
        }
        - without_default
    )


def _as_yaml(default: Any) -> Any:
    if isinstance(default, tuple):
        return [_as_yaml(each) for each in default]
    return dataclasses.asdict(default) if isinstance(default, ClientVersions) else default


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        (GOOD + "warehous: /x\n", "warehous", "there is no such key; did you mean 'warehouse'?"),
        (GOOD + "slices: 3\n", "slices", "there is no such key; did you mean 'replay.slices'?"),
        (GOOD + "xyzzy: 3\n", "xyzzy", "there is no such key; expected one of cluster, warehouse"),
        (
            GOOD + "thresholds: {static_limbo: 1}\n",
            "thresholds.static_limbo",
            "did you mean 'static_limbo_ms'?",
        ),
        (GOOD.replace("cluster: prod-eu", ""), "cluster", "is missing, expected a name of letters"),
        (
            GOOD.replace("prod-eu", "a'b"),
            "cluster",
            "expected a name of letters, digits, '.', '_' and '-', found \"a'b\"",
        ),
        (
            GOOD.replace("prod-eu", "''"),
            "cluster",
            "expected a name of letters, digits, '.', '_' and '-', found ''",
        ),
        (
            GOOD.replace("prod-eu", "2024-01-01"),
            "cluster",
            "found 2024-01-01 (a date; put a text in quotes)",
        ),
        (
            GOOD.replace("/data/groupreplay", "[]"),
            "warehouse",
            "expected a text, found an empty list",
        ),
        (GOOD.replace("/data/groupreplay", "''"), "warehouse", "expected a text, found ''"),
        (
            GOOD + "thresholds: {static_limbo_ms: 5m}\n",
            "thresholds.static_limbo_ms",
            "expected a whole number from 1000 to",
        ),
        (GOOD + "thresholds: {static_limbo_ms: 999}\n", "thresholds.static_limbo_ms", "found 999"),
        (
            GOOD + "thresholds: {fence_loop_window_ms: 3600001}\n",
            "thresholds.fence_loop_window_ms",
            "from 1000 to 3600000, found 3600001",
        ),
        (
            GOOD + "replay: {slices: true}\n",
            "replay.slices",
            "expected a whole number from 1 to 4096, or null, found True",
        ),
        (GOOD + "replay: 3\n", "replay", "expected a mapping of keys, found 3"),
        (
            "cluster: c\nwarehouse: /w\nsources: []\n",
            "sources",
            "expected a list of at least 1 source, found an empty list",
        ),
        (
            "cluster: c\nwarehouse: /w\nsources: [x]\n",
            "sources.0",
            "expected a mapping of keys, found 'x'",
        ),
        (
            GOOD.replace("kind: segments", "kind: segment"),
            "sources.0.kind",
            "there is no kind of source 'segment'; did you mean 'segments'?",
        ),
        (
            LOGS.replace("broker: 1, ", "", 1),
            "sources.0.broker",
            "is missing, expected a whole number from 0",
        ),
        (
            LOGS.replace("broker: 1", "broker: b-1", 1),
            "sources.0.broker",
            "expected a whole number from 0 to 2147483647, found 'b-1'",
        ),
        (
            LOGS.replace(", timezone: Europe/Berlin", "", 1),
            "sources.0.timezone",
            "is missing, expected the broker's time zone, an IANA name",
        ),
        (
            LOGS.replace("Europe/Berlin", "Berlin", 1),
            "sources.0.timezone",
            "there is no time zone 'Berlin'; did you mean 'Europe/Berlin'?",
        ),
        (
            LOGS.replace("Europe/Berlin", "europe/berln", 1),
            "sources.0.timezone",
            "did you mean 'Europe/Berlin'?",
        ),
        (
            LOGS.replace("Europe/Berlin", "+02:00", 1),
            "sources.0.timezone",
            "expected an IANA name such as UTC",
        ),
        (
            LOGS.replace("Europe/Berlin", "3", 1),
            "sources.0.timezone",
            "expected the broker's time zone",
        ),
        (
            LOGS.replace("'%d %m%n'", "'%m%n'"),
            "sources.1.layout",
            "expected a log4j pattern that can be read: The layout %m%n has no date",
        ),
        (
            LOGS.replace("message_field", "messagefield"),
            "sources.1.messagefield",
            "did you mean 'message_field'?",
        ),
        (
            LOGS.replace("server_log,", "server_log, message_field: x,"),
            "sources.0.message_field",
            "there is no such key; expected one of kind, path, broker",
        ),
        (
            LOGS.replace("log.message", "3"),
            "sources.1.message_field",
            "expected a text, or null, found 3",
        ),
        (
            GOOD.replace("kind: segments,", "kind: segments, broker: 1,"),
            "sources.0.broker",
            "there is no such key; expected one of kind, path",
        ),
        (GOOD.replace("kind: segments, ", ""), "sources.0.kind", "is missing"),
        (
            GOOD.replace("path: /etc", "pfad: /etc"),
            "sources.1.pfad",
            "there is no such key; expected one of kind, path",
        ),
        (GOOD + "cluster: twice\n", "", "line 7: the key 'cluster' stands twice"),
        (GOOD + "no: 1\n", "", "a key must be a text, found False"),
        (
            GOOD + "retention: {vacuum_hours: 24}\n",
            "retention.vacuum_hours",
            "expected at least 168 hours, found 24: less takes files away",
        ),
        (
            GOOD + "retention: {allow_short_vacuum: 1}\n",
            "retention.allow_short_vacuum",
            "expected true or false, found 1",
        ),
        ("cluster: [", "", "line 1: "),
        ("- a\n", "", "expected a mapping of keys, found a list"),
        ("", "cluster", "is missing"),
        (
            GOOD.replace("/data", "${env:GROUPREPLAY_NOT_SET}"),
            "warehouse",
            "the environment has no variable 'GROUPREPLAY_NOT_SET'",
        ),
    ],
)
def test_a_bad_configuration_is_named_with_file_and_key(
    write: Any, text: str, key: str, says: str
) -> None:
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert (caught.value.file, caught.value.key) == (path, key)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2


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


@pytest.mark.parametrize(
    ("less", "more"), [("2.4", "2.12"), ("3.9.2", "4.0"), ("4.0", "4.0.1"), ("9.9.9", "10.0")]
)
def test_versions_compare_as_numbers(less: str, more: str) -> None:
    assert dotted(less) < dotted(more)
    assert dotted("4.0") == dotted("4.0.0")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.yaml: cannot be read: No such file"):
        load_config(str(tmp_path / "nothing.yaml"))


def test_overrides_set_any_key_and_are_blamed_for_what_they_say(write: Any) -> None:
    path = write(GOOD)
    config = load_config(
        path, ["thresholds.static_limbo_ms=30000", "sources.1.path=/x.json", "cluster='7'"]
    )
    assert (config.thresholds.static_limbo_ms, config.sources[1], config.cluster) == (
        30_000,
        Source(kind="topics", path="/x.json"),
        "7",
    )
    for override, says in [
        ("thresholds.static_limbo_ms=1", "expected a whole number from 1000"),
        ("replay.slice=3", "there is no such key; did you mean 'slices'?"),
        ("sources.2.path=/x", "the list sources has the places 0 to 1"),
        ("cluster.x=1", "cluster holds 'prod-eu', so nothing can be set below it"),
        ("novalue", "expected key=value"),
    ]:
        with pytest.raises(ConfigError) as caught:
            load_config(path, [override])
        assert caught.value.file.startswith("--set")
        assert says in str(caught.value)


def test_environment_is_replaced_in_texts_and_numbers_and_kept_out_of_the_hash(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(
        GOOD.replace("/data", "s3a://${env:BUCKET}") + "replay: {slices: '${env:SLICES}'}\n"
    )
    monkeypatch.setenv("BUCKET", "007")
    monkeypatch.setenv("SLICES", "8")
    config = load_config(path)
    assert (config.warehouse, config.replay.slices) == ("s3a://007/groupreplay", 8)
    monkeypatch.setenv("BUCKET", "other")
    assert load_config(path).config_hash == config.config_hash
    assert load_config(path, ["report.top=6"]).config_hash != config.config_hash


SALT = "0123456789abcdef"
PRIVATE = (
    GOOD + "private_warehouse: /private\nprivacy: {hash: [principal, client_id, principal], salt:"
    " '${env:GROUPREPLAY_SALT}'}\n"
)


def test_salt_comes_from_the_environment_and_shows_nowhere(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPREPLAY_SALT", SALT)
    config = load_config(write(PRIVATE))
    assert config.privacy == PrivacyConfig(hash=("client_id", "principal"), salt=SALT)
    assert config.private_warehouse == "/private"
    assert SALT not in repr(config)
    monkeypatch.setenv("GROUPREPLAY_SALT", SALT[::-1])
    assert load_config(write(PRIVATE)).config_hash == config.config_hash
    monkeypatch.delenv("GROUPREPLAY_SALT")
    assert load_config(write(PRIVATE), only_reads=True).privacy.salt is None


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        (
            PRIVATE.replace("principal, ", "user, ", 1),
            "privacy.hash",
            "there is no field 'user' that could be hashed",
        ),
        (
            PRIVATE.replace("principal, ", "client_ip, ", 1),
            "privacy.hash",
            "that could be hashed; did you mean 'client_id'?",
        ),
        (
            PRIVATE.replace("[principal, client_id, principal]", "client_id"),
            "privacy.hash",
            "expected a list of client_host, client_id",
        ),
        (
            PRIVATE.replace("${env:GROUPREPLAY_SALT}", "0123456789abcdef0"),
            "privacy.salt",
            "expected ${env:NAME}: a secret stands in the environment",
        ),
        (
            PRIVATE.replace("${env:GROUPREPLAY_SALT}", "0123456789abcdef${env:HOME}"),
            "privacy.salt",
            "expected ${env:NAME}",
        ),
        (
            PRIVATE.replace("'${env:GROUPREPLAY_SALT}'", "12345678901234567890"),
            "privacy.salt",
            "expected ${env:NAME}",
        ),
        (
            PRIVATE.replace("GROUPREPLAY_SALT", "GROUPREPLAY_SHORT"),
            "privacy.salt",
            "at least 16 characters in the variable 'GROUPREPLAY_SHORT'",
        ),
        (
            PRIVATE.replace("GROUPREPLAY_SALT", "GROUPREPLAY_NOT_SET"),
            "privacy.salt",
            "has no variable 'GROUPREPLAY_NOT_SET'",
        ),
        (
            GOOD + "private_warehouse: /private\nprivacy: {hash: [principal]}\n",
            "privacy.salt",
            "is missing, expected ${env:NAME}",
        ),
        (
            PRIVATE.replace("private_warehouse: /private\n", ""),
            "private_warehouse",
            "is missing, expected a directory or URI",
        ),
        (
            PRIVATE.replace("/private", "/data/groupreplay/"),
            "private_warehouse",
            "neither in the warehouse /data/groupreplay nor around it",
        ),
        (
            PRIVATE.replace("/private", "file:///data/groupreplay/private"),
            "private_warehouse",
            "neither in the warehouse",
        ),
        (PRIVATE.replace("/private", "/data"), "private_warehouse", "neither in the warehouse"),
        (
            GOOD + "private_warehouse: /private\n",
            "private_warehouse",
            "it is used only where privacy.hash names what to hide",
        ),
    ],
)
def test_privacy_that_would_not_hold_is_refused_without_the_salt(
    write: Any, monkeypatch: pytest.MonkeyPatch, text: str, key: str, says: str
) -> None:
    monkeypatch.setenv("GROUPREPLAY_SALT", SALT)
    monkeypatch.setenv("GROUPREPLAY_SHORT", SALT[1:])
    with pytest.raises(ConfigError) as caught:
        load_config(write(text))
    assert caught.value.key == key
    assert says in str(caught.value)
    assert SALT[1:] not in str(caught.value)
    assert "1234567890" not in str(caught.value)


def test_salt_given_as_an_argument_is_refused_and_not_repeated(write: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write(GOOD), [f"privacy.salt={SALT}"])
    assert str(caught.value).startswith("--set privacy.salt: privacy.salt: expected ${env:NAME}")
    assert SALT not in str(caught.value)


def test_groups_are_chosen_by_patterns(write: Any) -> None:
    config = load_config(write(GOOD + "groups: {include: [orders.*], exclude: ['*-test-?']}\n"))
    assert config.groups == GroupsConfig(include=("orders.*",), exclude=("*-test-?",))
    assert not Config(cluster="c", warehouse="w", sources=()).groups
    for text, key, says in [
        (
            "groups: {exclude: console-*}",
            "groups.exclude",
            "expected a list of patterns of group ids, found 'console-*'",
        ),
        ("groups: {exclude: [a, 7]}", "groups.exclude.1", "expected a text, found 7"),
        ("groups: {exclude: ['']}", "groups.exclude.0", "expected a text, found ''"),
        ("groups: {exlude: [a]}", "groups.exlude", "did you mean 'exclude'?"),
    ]:
        with pytest.raises(ConfigError) as caught:
            load_config(write(GOOD + text + "\n"))
        assert caught.value.key == key
        assert says in str(caught.value)


def test_thresholds_of_some_groups_differ(write: Any) -> None:
    text = (
        GOOD
        + "thresholds_by_group:\n- {pattern: batch-*, slow_revocation_ms: 60000, fence_loop_count:"
        " 9}\n- {pattern: '*', static_limbo_ms: 20000}\n"
    )
    assert load_config(write(text)).thresholds_by_group == (
        GroupThresholds(
            pattern="batch-*", limits={"slow_revocation_ms": 60_000, "fence_loop_count": 9}
        ),
        GroupThresholds(pattern="*", limits={"static_limbo_ms": 20_000}),
    )
    for wrong, key, says in [
        (
            text.replace("60000", "10"),
            "thresholds_by_group.0.slow_revocation_ms",
            "expected a whole number from 1000 to",
        ),
        (
            text.replace("static_limbo_ms", "static_limbo"),
            "thresholds_by_group.1.static_limbo",
            "did you mean 'static_limbo_ms'?",
        ),
        (
            text.replace("pattern: '*', ", ""),
            "thresholds_by_group.1",
            "expected a mapping with the key pattern",
        ),
        (
            GOOD + "thresholds_by_group: {pattern: a}\n",
            "thresholds_by_group",
            "expected a list of at most 200 mappings, found a mapping",
        ),
    ]:
        with pytest.raises(ConfigError) as caught:
            load_config(write(wrong))
        assert caught.value.key == key
        assert says in str(caught.value)


OWNERS = """
- {pattern: "orders.*", team: orders, contact: "#orders"}
- {pattern: "*", team: other}
"""


def test_owners_stand_in_a_file_of_their_own(write: Any, tmp_path: Path) -> None:
    file = tmp_path / "owners.yaml"
    file.write_text(OWNERS, encoding="utf-8")
    config = load_config(write(GOOD + f"owners: {file}\n"))
    assert config.owner_rules == (
        Owner(pattern="orders.*", team="orders", contact="#orders"),
        Owner(pattern="*", team="other"),
    )
    file.write_text(OWNERS.replace("other", "others"), encoding="utf-8")
    assert load_config(write(GOOD + f"owners: {file}\n")).config_hash != config.config_hash
    file.unlink()
    assert load_config(write(GOOD + f"owners: {file}\n"), only_reads=True).owner_rules == ()


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        (None, "", "cannot be read: No such file or directory"),
        (
            "orders: x\n",
            "",
            "expected a list of {pattern: .., team: .., contact: ..}, found a mapping",
        ),
        ("- {pattern: a, team: [b]}\n", "0.team", "expected a text, found a list"),
        (
            OWNERS + "- {pattern: a, tam: b}\n",
            "2.tam",
            "there is no such key; did you mean 'team'?",
        ),
        (OWNERS + "- {pattern: a}\n", "2.team", "is missing, expected a text"),
        (OWNERS + "- a\n", "2", "expected a mapping of keys, found 'a'"),
        ("- {pattern: a, team: b\n", "", "line 2: "),
    ],
)
def test_owners_that_cannot_be_used_are_refused_by_file_and_key(
    write: Any, tmp_path: Path, text: str | None, key: str, says: str
) -> None:
    file = tmp_path / "owners.yaml"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(write(GOOD + f"owners: {file}\n"))
    assert (caught.value.file, caught.value.key) == (str(file), key)
    assert says in str(caught.value)


def test_configuration_in_force_is_shown_without_secrets(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPREPLAY_SALT", SALT)
    config = load_config(
        write(PRIVATE.replace("hdfs://nn/logs/", "s3a://AKIA:pass@bucket/logs/")), ["report.top=7"]
    )
    told = json.loads(config.in_force)
    assert told["privacy"]["salt"] == "${env:GROUPREPLAY_SALT}"
    assert told["sources"][0]["path"] == "s3a://(hidden)@bucket/logs/"
    assert (told["report"]["top"], told["thresholds"]["static_limbo_ms"]) == (7, 10_000)
    assert "AKIA" not in config.in_force
    assert SALT not in config.in_force


def test_what_names_a_secret_is_hidden_at_any_depth() -> None:
    tree = {
        "options": {
            "ssl.keystore.password": "x",
            "sasl.jaas.config": "y",
            "client.id": "z",
            "aws.access.key": 7,
        },
        "tokens": [{"a": "x"}, None],
    }
    assert json.loads(shown(tree)) == {
        "options": {
            "ssl.keystore.password": "(hidden)",
            "sasl.jaas.config": "(hidden)",
            "client.id": "z",
            "aws.access.key": "(hidden)",
        },
        "tokens": [{"a": "(hidden)"}, None],
    }
    assert (
        shown({"password": "${env:P}", "token": "a${env:P}"})
        == '{"password":"${env:P}","token":"(hidden)"}'
    )


def test_relative_paths_are_made_absolute_from_where_the_job_starts(write: Any) -> None:
    config = load_config(
        write("cluster: c\nwarehouse: w\nsources: [{kind: segments, path: logs/}]\n")
    )
    assert config.warehouse == os.path.join(os.getcwd(), "w")
    assert config.sources == (
        Source(kind="segments", path=os.path.join(os.getcwd(), "logs") + "/"),
    )
