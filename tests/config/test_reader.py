"""Configurations: what is read, and the sentence for everything that is not.

Holds config/model.py, config/sources.py.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from groupreplay.config.model import ClientVersions, Config
from groupreplay.config.reader import load_config
from groupreplay.config.sources import RequestLogSource, ServerLogSource, Source
from groupreplay.errors import ConfigError
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN
from tests.config.conftest import GOOD
from tests.support.base_config import load_base

LOGS = """
cluster: prod-eu
warehouse: /data/groupreplay
sources:
  - {kind: server_log, path: /var/log/kafka/server.log*, broker: 1, timezone: Europe/Berlin}
  - {kind: request_log, path: /r.gz, broker: 1, timezone: UTC, layout: '%d %m%n', message_field: log.message, time_field: at}
"""


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


def test_relative_paths_are_made_absolute_from_where_the_job_starts(write: Any) -> None:
    config = load_config(
        write("cluster: c\nwarehouse: w\nsources: [{kind: segments, path: logs/}]\n")
    )
    assert config.warehouse == os.path.join(os.getcwd(), "w")
    assert config.sources == (
        Source(kind="segments", path=os.path.join(os.getcwd(), "logs") + "/"),
    )
