"""What a broker prints of itself when it starts."""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.records.log_events import BROKER_SETTING, LogEvent
from groupreplay.wire.text.broker_clock import BrokerClock
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN, LineLayout
from groupreplay.wire.text.server_log import ServerLogParser

AT = "[2026-11-21 05:41:10,555] INFO "
AT_MS = 1_795_239_670_555
LOGGER_FIRST = "[%d] %c %p %m%n"


def parsed(*lines: str, layout: str = DEFAULT_PATTERN) -> list[Any]:
    parser = ServerLogParser(LineLayout.of(layout), BrokerClock("UTC"))
    return [parser.parse(line.encode()) for line in lines]


def said(results: list[Any]) -> list[str | None]:
    events = [each for each in results if isinstance(each, LogEvent)]
    assert {(each.event, each.at_ms) for each in events} <= {(BROKER_SETTING, AT_MS)}
    return [each.detail for each in events]


def test_settings_that_groups_depend_on_are_read_and_no_others() -> None:
    results = parsed(
        f"{AT}KafkaConfig values: ",
        "\tadvertised.listeners = PLAINTEXT://secret:1",
        "\tgroup.consumer.session.timeout.ms = 12000",
        "\tgroup.coordinator.rebalance.protocols = [classic, consumer]",
        "\tgroup.initial.rebalance.delay.ms = 3000",
        "\tgroup.max.size = 2147483647",
        " (kafka.server.KafkaConfig)",
        "\tgroup.max.size = 7",
    )
    assert said(results) == [
        "group.consumer.session.timeout.ms = 12000",
        "group.coordinator.rebalance.protocols = [classic, consumer]",
        "group.max.size = 2147483647",
        "group.max.size = 7",
    ]
    assert results[1] is None


@pytest.mark.parametrize(
    "begin",
    [
        f"{AT}ConsumerConfig values: ",
        f"{AT}ShareGroupConfig values: ",
        f"{AT}KafkaConfig values: \n{AT}Something else (kafka.server.KafkaServer)",
    ],
)
def test_settings_of_something_else_are_none_of_the_brokers(begin: str) -> None:
    assert said(parsed(*begin.split("\n"), "\tgroup.max.size = 7")) == []


def test_a_layout_that_ends_with_the_message() -> None:
    results = parsed(
        "[2026-11-21 05:41:10,555] kafka.server.KafkaConfig INFO KafkaConfig values: ",
        "\tgroup.max.size = 7",
        layout=LOGGER_FIRST,
    )
    assert said(results) == ["group.max.size = 7"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Kafka version: 4.3.1 (org.apache.kafka.common.utils.AppInfoParser)", "4.3.1"),
        (
            "Kafka version: 3.9.2-SNAPSHOT (org.apache.kafka.common.utils.AppInfoParser)",
            "3.9.2-SNAPSHOT",
        ),
        ("Kafka version: unknown (org.apache.kafka.common.utils.AppInfoParser)", None),
        ("Kafka version: 4.3.1 (org.example.Plugin)", None),
        ("Kafka versions: 4.3.1 (org.apache.kafka.common.utils.AppInfoParser)", None),
    ],
)
def test_the_version_is_what_kafka_says_it_is(line: str, expected: str | None) -> None:
    assert said(parsed(AT + line)) == ([f"version = {expected}"] if expected else [])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "[BrokerServer id=1] Loaded new metadata Features(metadataVersion=4.0-IV3,"
            " finalizedFeatures={group.version=1, transaction.version=2}, finalizedFeaturesEpoch=5).",
            "1",
        ),
        (
            "[BrokerServer id=1] Loaded new metadata FinalizedFeatures[metadataVersion=4.3-IV0,"
            " finalizedFeatures={metadata.version=29, group.version=2}, finalizedFeaturesEpoch=9].",
            "2",
        ),
        (
            "[ControllerServer id=1] Loaded new metadata Features(metadataVersion=3.9-IV0,"
            " finalizedFeatures={metadata.version=21}, finalizedFeaturesEpoch=4).",
            "0",
        ),
        ("Replayed a FeatureLevelRecord setting feature group.version to 1", None),
        ("finalizedFeatures={group.version=1}", None),
    ],
)
def test_the_level_of_the_feature_is_read_where_it_is_loaded(
    line: str, expected: str | None
) -> None:
    text = f"{AT}{line} (org.apache.kafka.metadata.publisher.FeaturesPublisher)"
    assert said(parsed(text)) == ([f"group.version = {expected}"] if expected else [])
    assert said(parsed(f"{AT}{line} (org.example.Other)")) == []
