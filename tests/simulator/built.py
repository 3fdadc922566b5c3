"""Rows that the report makes of a recording and of its brokers' logs, in a session of Spark: of the
tables whose joins with lines no pure Python does.

Facts and lines are those of the replay in pure Python; a night of the whole job takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.model import BrokersConfig, Thresholds
from groupreplay.config.sources import TEXT_KINDS
from groupreplay.replay.decision_facts import Churn, Failover
from groupreplay.replay.facts import Chain, Epoch, Fact, GroupSnapshot, MemberLife, Stall
from groupreplay.report.context import ReportContext
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.tables.coordinator_events import coordinator_events
from groupreplay.report.tables.coordinator_failovers import coordinator_failovers
from groupreplay.report.tables.departure_waves import departure_waves
from groupreplay.report.tables.rebalances import rebalances
from groupreplay.report.tables.stuck_groups import stuck_groups
from groupreplay.workers.evidence_slices import EVIDENCE
from groupreplay.workers.fact_frames import REPLAYED
from tests.simulator.line_columns import STORED
from tests.simulator.played import brokers_of
from tests.simulator.proved import evidence_in
from tests.simulator.replayed import Replayed, replay_recording
from tests.simulator.tables import Row, rows_of
from tests.support.fact_frames import frame_of
from tests.support.table_inputs import inputs_of, read_to

_BUILDS: Final[dict[str, tuple[tuple[type[Fact], ...], Callable[[TableInputs], DataFrame]]]] = {
    "coordinator_failovers": ((Failover,), coordinator_failovers),
    "departure_waves": ((Churn,), departure_waves),
    "rebalances": ((), rebalances),
    "coordinator_events": ((GroupSnapshot, Epoch), coordinator_events),
    "stuck_groups": ((Stall, Chain, MemberLife, GroupSnapshot, Epoch), stuck_groups),
}
"""Table -> the kinds of facts that give it rows, or tell which life of a group is the last."""


class BuiltTables:
    """Each table is built once."""

    def __init__(self, spark: SparkSession, recording: Path, replayed: Replayed | None = None):
        self._spark, self._recording = spark, recording
        self._replayed = replayed or replay_recording(recording)
        self._built: dict[str, Any] = {}

    @cached_property
    def _context(self) -> ReportContext:
        told = brokers_of(self._recording)
        lines = frame_of(self._spark, EVIDENCE, evidence_in(self._recording))
        return ReportContext(
            cluster="simulated",
            logical_date=date(2030, 1, 1),
            as_of_ms=self._replayed.as_of_ms,
            thresholds=Thresholds(),
            evidence=lines,
            evidence_tonight=lines,
            log_kinds=frozenset(TEXT_KINDS),
            brokers=BrokersConfig(
                session_timeout_ms=told.get("session_timeout_ms"),
                heartbeat_interval_ms=told.get("heartbeat_interval_ms"),
            ),
        )

    def rows(self, table: str) -> Sequence[Row]:
        name = STORED.get(table, table)
        if name not in self._built:
            kinds, build = _BUILDS[name]
            facts = [fact for kind in kinds for fact in self._replayed.of(kind)]
            staged = frame_of(self._spark, REPLAYED, facts)
            read = read_to(staged, self._context, self._replayed.as_of_ms)
            self._built[name] = build(inputs_of(staged, self._context, tables=read)).toArrow()
        return rows_of(table, self._built[name])
