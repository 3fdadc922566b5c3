"""Rows that the report makes of a recording and of its brokers' logs, in a session of Spark: of the
tables whose joins with lines no pure Python does.

Facts and lines are those of the replay in pure Python; a night of the whole job takes minutes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.model import (
    BrokersConfig,
    Config,
    ReadinessConfig,
    Thresholds,
    WhatIfConfig,
)
from groupreplay.config.sources import TEXT_KINDS
from groupreplay.report.catalog import SPECS
from groupreplay.report.context import ReportContext
from groupreplay.workers.evidence_slices import EVIDENCE
from groupreplay.workers.fact_frames import REPLAYED
from tests.simulator.criteria import LONG_SESSION_MS, OTHER_HEARTBEAT_MS, PROVEN_MS, STALLED_MS
from tests.simulator.line_columns import STORED
from tests.simulator.played import LOW_THRESHOLDS_MS, brokers_of
from tests.simulator.proved import evidence_in
from tests.simulator.replayed import Replayed, replay_recording
from tests.simulator.tables import Row, rows_of
from tests.support.fact_frames import frame_of
from tests.support.table_inputs import TOPICS_DDL, inputs_of, topics_of

_USUAL_CLIENTS: Final[Any] = next(
    each.default for each in dataclasses.fields(Config) if each.name == "clients"
)
_MADE_OF: Final = frozenset({"departure_waves"})
"""Tables of a night that others of it are made of."""


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
            thresholds=Thresholds(migration_stalled_ms=STALLED_MS, **LOW_THRESHOLDS_MS),
            evidence=lines,
            evidence_tonight=lines,
            log_kinds=frozenset(TEXT_KINDS),
            clients=_USUAL_CLIENTS,
            readiness=ReadinessConfig(min_observed_ms=0, proven_ms=PROVEN_MS),
            brokers=BrokersConfig(
                session_timeout_ms=told.get("session_timeout_ms"),
                heartbeat_interval_ms=told.get("heartbeat_interval_ms"),
            ),
            what_if=WhatIfConfig(other_heartbeat_ms=OTHER_HEARTBEAT_MS),
        )

    @property
    def _judged(self) -> ReportContext:
        """With longer sessions than those of members."""
        own = self._context
        brokers = dataclasses.replace(own.brokers, session_timeout_ms=LONG_SESSION_MS)
        return dataclasses.replace(own, brokers=brokers)

    def rows(self, table: str) -> Sequence[Row]:
        name = STORED.get(table, table)
        if name not in self._built:
            spec = SPECS[name]
            tables = {each: self._committed(each) for each in spec.tables if each in _MADE_OF}
            more = spec.facts_with_evidence
            kinds = (*spec.facts, *spec.beside) if more is None else more.kinds
            facts = [fact for kind in kinds for fact in self._replayed.of(kind)]
            staged = frame_of(self._spark, REPLAYED, facts)
            context = self._context if name != "readiness" else self._judged
            inputs = inputs_of(
                staged, context, given_topics=self._given, tables={**self._tables, **tables}
            )
            self._built[name] = spec.build(inputs).toArrow()
        return rows_of(table, self._built[name])

    def _committed(self, name: str) -> DataFrame:
        """A table that this night made before."""
        self.rows(name)
        return self._spark.createDataFrame(self._built[name])

    @cached_property
    def _given(self) -> DataFrame:
        given = [(topic_id, *each) for topic_id, each in self._replayed.given.items()]
        return self._spark.createDataFrame(given, f"{TOPICS_DDL}, partitions INT")

    @cached_property
    def _tables(self) -> Mapping[str, DataFrame]:
        """What this night committed before: names of topics, and how far each log was read."""
        tonight = self._context.logical_date
        read = [
            (tonight, each.input, datetime.fromtimestamp(each.last_at / 1000, UTC))
            for each in self._replayed.coverage
            if each.last_at is not None
        ]
        ddl = "logical_date DATE, input STRING, last_at TIMESTAMP"
        return {
            "coverage": self._spark.createDataFrame(read, ddl),
            "topics": topics_of(self._spark, tonight, *self._replayed.names.items()),
        }
