"""What brokers are set to: as configured, else as their logs say, else Kafka's default."""

from __future__ import annotations

import pytest

from groupreplay.config.model import BrokersConfig
from groupreplay.report.brokers import assignment_interval_ms, settings_of

INTERVAL = "group.consumer.assignment.interval.ms"


@pytest.mark.parametrize(
    ("told", "interval_ms"),
    [
        ([], 1_000),
        ([("version", "4.3.0")], 1_000),
        ([("version", "4.4.0"), ("version", "4.2.1")], 0),
        ([("version", "4.4.0"), (INTERVAL, "500"), (INTERVAL, "700")], 700),
        ([(INTERVAL, "soon")], 1_000),
    ],
)
def test_the_assignment_interval_came_with_a_version(
    told: list[tuple[str, str]], interval_ms: int
) -> None:
    settings = settings_of({"setting": name, "value": value} for name, value in told)
    assert assignment_interval_ms(BrokersConfig(), settings) == interval_ms
    configured = BrokersConfig(assignment_interval_ms=3)
    assert assignment_interval_ms(configured, settings) == 3


def test_the_oldest_broker_is_as_configured() -> None:
    assert assignment_interval_ms(BrokersConfig(version="4.2.0"), {}) == 0
