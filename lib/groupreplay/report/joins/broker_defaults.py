"""Named step: what the brokers are set to, as configured, else Kafka's default; for tables that do
not ask what brokers printed (`broker_settings`).
"""

from __future__ import annotations

from groupreplay.report.joins.context import ReportContext
from groupreplay.report.readiness.brokers import brokers_of


def session_timeout_ms(context: ReportContext) -> int:
    """group.consumer.session.timeout.ms."""
    return brokers_of(context.brokers, {}).session_ms


def heartbeat_ms(context: ReportContext) -> int:
    """group.consumer.heartbeat.interval.ms."""
    return brokers_of(context.brokers, {}).heartbeat_ms
