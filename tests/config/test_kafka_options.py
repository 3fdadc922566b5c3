"""Sources that are clusters: what of Kafka's options may be given, and that no secret stands in a
configuration or shows in an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupreplay.config.kafka_options import REFUSED, secrets_of
from groupreplay.config.reader import load_config
from groupreplay.config.sources import KafkaSource, KafkaTopicsSource
from groupreplay.errors import ConfigError

PASSWORD = "hunter2-hunter2"
JAAS = (
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="u"'
    ' password="${env:KAFKA_PASSWORD}";'
)


def _text(options: str = "{}", more: str = "") -> str:
    return (
        "cluster: c\nwarehouse: /w\nsources:\n  - {kind: kafka, bootstrap_servers:"
        f" 'b1:9092,b2:9092', options: {options}}}\n{more}"
    )


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)

    def load(text: str, *overrides: str, only_reads: bool = False) -> Any:
        path = tmp_path / "c.yaml"
        path.write_text(text, encoding="utf-8")
        return load_config(str(path), overrides, only_reads=only_reads)

    return load


def test_any_option_of_security_and_time_is_passed_on_as_text(load: Any) -> None:
    (source,) = load(
        _text(
            "{security.protocol: SASL_SSL, request.timeout.ms: 5000, allow.auto.create.topics:"
            " false}"
        )
    ).sources
    assert source == KafkaSource(
        kind="kafka",
        bootstrap_servers="b1:9092,b2:9092",
        options={
            "security.protocol": "SASL_SSL",
            "request.timeout.ms": "5000",
            "allow.auto.create.topics": "false",
        },
    )
    assert source.topic == "__consumer_offsets"
    assert str(source) == "kafka b1:9092,b2:9092"


def test_secrets_come_from_the_environment_or_a_file_and_show_nowhere(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("from a file\n")
    text = _text(f"{{sasl.jaas.config: '{JAAS}', ssl.key.password: '${{file:{tmp_path}/key}}'}}")
    config = load(text)
    options = config.sources[0].options
    assert options["sasl.jaas.config"].endswith(f'password="{PASSWORD}";')
    assert options["ssl.key.password"] == "from a file"
    assert PASSWORD not in repr(config)
    assert {PASSWORD, "from a file"} <= set(secrets_of(options))
    monkeypatch.setenv("KAFKA_PASSWORD", "another")
    assert load(text).config_hash == config.config_hash
    monkeypatch.delenv("KAFKA_PASSWORD")
    assert load(text, only_reads=True).sources[0].options == {}


@pytest.mark.parametrize(
    ("options", "key", "says"),
    [
        *[
            (f"{{{name}: x}}", f"options.{name}", "this option cannot be given: ")
            for name in REFUSED
        ],
        ("{kafka.group.id: x}", "options.kafka.group.id", "nothing is consumed as a group"),
        (
            "{kafka.ssl.protocol: TLS}",
            "options.kafka.ssl.protocol",
            "expected Kafka's own name of the option, 'ssl.protocol'",
        ),
        ("[]", "options", "expected a mapping of Kafka's option names"),
        ("{ssl.protocol: [TLS]}", "options.ssl.protocol", "expected a text, a number"),
        (
            f"{{ssl.key.password: {PASSWORD}}}",
            "options.ssl.key.password",
            "holds a secret in clear: expected ${env:NAME} or ${file:/path}",
        ),
        (
            f"{{ssl.key.password: 'x${{env:KAFKA_PASSWORD}}{PASSWORD}'}}",
            "options.ssl.key.password",
            "holds a secret in clear",
        ),
        (
            f"{{ssl.keystore.key: {PASSWORD}}}",
            "options.ssl.keystore.key",
            "holds a secret in clear",
        ),
        (
            f"{{sasl.jaas.config: 'X required password=\"{PASSWORD}\";'}}",
            "options.sasl.jaas.config",
            "holds a secret in clear",
        ),
        (
            f"{{sasl.jaas.config: 'X required clientSecret={PASSWORD};'}}",
            "options.sasl.jaas.config",
            "holds a secret in clear",
        ),
        (
            "{ssl.key.password: '${file:/no/such/file}'}",
            "options.ssl.key.password",
            "the file '/no/such/file' cannot be read: No such file",
        ),
        (
            "{ssl.key.password: '${env:NOT_THERE_AT_ALL}'}",
            "options.ssl.key.password",
            "the environment has no variable 'NOT_THERE_AT_ALL'",
        ),
    ],
)
def test_an_option_that_cannot_be_is_named_without_its_value(
    load: Any, options: str, key: str, says: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(_text(options))
    assert caught.value.key == f"sources.0.{key}"
    assert says in str(caught.value)
    assert PASSWORD not in str(caught.value)


def test_an_option_that_is_given_as_an_argument_is_not_repeated(load: Any) -> None:
    for override in (
        f"sources.0.options={{ssl.key.password: {PASSWORD}}}",
        f"sources=[{{kind: kafka, options: {{a: {PASSWORD}}}}}]",
    ):
        with pytest.raises(ConfigError) as caught:
            load(_text(), override)
        assert PASSWORD not in str(caught.value)


def test_options_without_a_secret_are_no_secrets(load: Any) -> None:
    """Kerberos has a key tab, OAuth a place where tokens are had."""
    kerberos = (
        'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="/k"'
        ' principal="p";'
    )
    (source,) = load(
        _text(
            f"{{sasl.jaas.config: '{kerberos}', sasl.oauthbearer.token.endpoint.url:"
            " 'https://idp/token'}"
        )
    ).sources
    assert set(source.options) == {"sasl.jaas.config", "sasl.oauthbearer.token.endpoint.url"}


def test_topics_of_the_cluster_are_asked_of_its_own_brokers_or_those_of_the_live_topic(
    load: Any,
) -> None:
    live, topics = load(
        _text("{security.protocol: SSL}", "  - {kind: topics, from: kafka}\n")
    ).sources
    assert topics == KafkaTopicsSource(
        kind="topics", bootstrap_servers="b1:9092,b2:9092", options=live.options
    )
    own = "{kind: topics, from: kafka, bootstrap_servers: 'b:1', options: {a.b: 1}}"
    assert load(
        f"cluster: c\nwarehouse: /w\nsources: [{{kind: segments, path: /l/}}, {own}]\n"
    ).sources[1] == KafkaTopicsSource(kind="topics", bootstrap_servers="b:1", options={"a.b": "1"})


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        (
            _text().replace(", bootstrap_servers: 'b1:9092,b2:9092'", ""),
            "sources.0.bootstrap_servers",
            "is missing, expected host:port, or several",
        ),
        (
            _text().replace("b1:9092,b2:9092", "b1"),
            "sources.0.bootstrap_servers",
            "expected host:port, or several parted by commas, found 'b1'",
        ),
        (
            _text().replace("options: {}", "path: /x"),
            "sources.0.path",
            "there is no such key; expected one of kind, bootstrap_servers, options, topic",
        ),
        (
            _text(more="  - {kind: kafka, bootstrap_servers: 'b:1'}\n"),
            "sources.1",
            "expected one source of the kind kafka",
        ),
        (
            _text(more="  - {kind: segments, path: /x/}\n"),
            "sources.1.kind",
            "from files or from kafka, found segments beside kafka",
        ),
        (
            _text(more="  - {kind: topics, from: zookeeper}\n"),
            "sources.1.from",
            "expected kafka, found 'zookeeper'",
        ),
        (
            _text(more="  - {kind: topics, from: kafka, options: {a: 1}}\n"),
            "sources.1.bootstrap_servers",
            "is missing, expected host:port",
        ),
        (
            (
                "cluster: c\nwarehouse: /w\nsources: [{kind: segments, path: /l/}, {kind: topics,"
                " from: kafka}]\n"
            ),
            "sources.1.bootstrap_servers",
            "is missing, expected host:port, or no options and a source of the kind kafka",
        ),
    ],
)
def test_a_source_that_cannot_be_is_named(load: Any, text: str, key: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert caught.value.key == key
    assert says in str(caught.value)
