"""Waves of all recordings, and chains of events by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from pyspark.sql import Row

from groupreplay.config.model import BrokersConfig, WavesConfig
from groupreplay.evidence.evidence_facts import Contact, Departure, Rejoin
from groupreplay.replay.decision_facts import Churn
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.departure_waves import departure_waves
from tests.report.conftest import Stage
from tests.report.facts_by_hand import AT, fact
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import groups, recordings
from tests.support.replaying import replayed
from tests.support.table_inputs import inputs_of, read_to

BROKERS = BrokersConfig(
    heartbeat_interval_ms=2000, session_timeout_ms=12_000, classic_heartbeat_ms=1000
)
"""As the brokers of the recordings were."""

RECORDINGS = [
    name for name in recordings() if not name.startswith(("compacted", "streams", "h-compacted"))
]


@cache
def all_chains() -> list[Any]:
    return [
        replace(each, group_id=f"{recording} {one.group_id}")
        for recording in RECORDINGS
        for one in groups(recording)
        for each in replayed(one.entries, one.names, (), one.group_id, one.offsets_partition)
        if isinstance(each, Churn)
    ]


def all_lines() -> list[Any]:
    return [
        replace(each, group_id=f"{recording} {each.group_id}")
        for recording in RECORDINGS
        for each in recorded_evidence(recording)
        if isinstance(each, (Contact, Departure, Rejoin))
    ]


def waves(stage: Stage, context: ReportContext, gap_ms: int) -> dict[tuple[str, str, int], Row]:
    context = replace(context, brokers=BROKERS, waves=WavesConfig(gap_ms=gap_ms))
    staged = stage(*all_chains())
    frame = departure_waves(inputs_of(staged, context, tables=read_to(staged, context, 2 * 10**12)))
    return {(*row.group_id.split(" ", 1), row.from_offset): row for row in frame.collect()}


def by_hand(*events: tuple[str, int, str, str], before: int = 2, **values: Any) -> Any:
    """events: kind, seconds, process, host."""
    counts = [{"J": 1, "G": -1}.get(kind, 0) for kind, *_ in events]
    zeros = {
        name: [0] * len(events)
        for name in (
            *("moved_counts", "returned_counts", "asked_ms", "removed_counts", "removed_ms"),
            *("gap_ms", "stop_counts", "lows_ms", "highs_ms", "high_unknowns", "idles_ms"),
            *("held_counts", "hidden_before", "host_members"),
        )
    }
    nothing = {
        name: [None] * len(events)
        for name in ("other_ids", "instance_ids", "silences_ms", "record_ends", "settled")
    }
    usual: dict[str, Any] = {
        "event_kinds": [kind for kind, *_ in events],
        "times_at": [AT + 1000 * second for _, second, _, _ in events],
        "offsets": [10 + i for i in range(len(events))],
        "member_ids": [f"{name}{i}" for i, (_, _, name, _) in enumerate(events)],
        "identities": [f"client:{name}" for _, _, name, _ in events],
        "client_ids": [name for _, _, name, _ in events],
        "client_hosts": [host for *_, host in events],
        "member_protocols": ["consumer"] * len(events),
        "group_modes": ["CONSUMER"] * len(events),
        "incarnations": [1] * len(events),
        "group_epochs_before": [5 + i for i in range(len(events))],
        "group_epochs": [6 + i for i in range(len(events))],
        "members_after": [before + sum(counts[: i + 1]) for i in range(len(events))],
        "members_before": before,
        "target_partitions": [6] * len(events),
        "own_sessions_ms": [45_000] * len(events),
        "own_rebalances_ms": [300_000] * len(events),
    }
    return fact(Churn, **(zeros | nothing | usual | values))
