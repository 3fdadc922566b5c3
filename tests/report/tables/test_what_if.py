"""What waves of recordings would have cost under another protocol, from the topic alone and with
lines.

Holds report/joins/lines/rejoin_times.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf

from groupreplay.config.model import BrokersConfig, WavesConfig, WhatIfConfig
from groupreplay.evidence.evidence_facts import (
    BrokerSetting,
    Contact,
    Departure,
    Rebalance,
    Rejoin,
)
from groupreplay.replay.decision_facts import Churn
from groupreplay.replay.facts import Epoch, HandOver, HeldPartition
from groupreplay.report.catalog import SPECS
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.departure_waves import departure_waves
from groupreplay.report.tables.what_if import what_if
from groupreplay.tables.schemas import table_schema
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, fact
from tests.support.fact_frames import frame_of
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import groups
from tests.support.replaying import replayed
from tests.support.table_inputs import inputs_of, read_to

BROKERS = BrokersConfig(
    heartbeat_interval_ms=2000, session_timeout_ms=12_000, classic_heartbeat_ms=1000
)
"""As the brokers of the recordings were."""

NEEDED = (Churn, HandOver, Epoch, HeldPartition)
PROVING = (BrokerSetting, Contact, Departure, Rebalance, Rejoin)

Key = tuple[str, int, str]
"""(group, from_offset, scenario)"""


def facts_of(recording: str) -> list[Any]:
    return [
        each
        for one in groups(recording)
        for each in replayed(one.entries, one.names, (), one.group_id, one.offsets_partition)
        if isinstance(each, NEEDED)
    ]


def lines_of(spark: SparkSession, recording: str) -> DataFrame:
    lines = [each for each in recorded_evidence(recording) if isinstance(each, PROVING)]
    return frame_of(spark, EVIDENCE, lines)


def priced(
    stage: Stage, context: ReportContext, facts: Sequence[Any], at: int, before: int = -1
) -> DataFrame:
    """The table, of a night that read so far, ms, and published `departure_waves` before.

    before: how far the night before had read.
    """
    staged = stage(*facts)
    tonight = read_to(staged, context, at)["coverage"]
    earlier = read_to(staged, replace(context, logical_date=date(2020, 1, 1)), before)["coverage"]
    coverage = {"coverage": tonight.unionByName(earlier.where(sf.lit(before >= 0)))}
    waves = departure_waves(inputs_of(staged, context, tables=coverage))
    return what_if(inputs_of(staged, context, tables={**coverage, "departure_waves": waves}))


def rows(frame: DataFrame) -> dict[Key, Row]:
    return {(row.group_id, row.from_offset, row.scenario): row for row in frame.collect()}


def of_recording(
    stage: Stage,
    context: ReportContext,
    recording: str,
    gap_ms: int,
    lines: DataFrame | None,
    brokers: BrokersConfig = BROKERS,
) -> dict[Key, Row]:
    context = replace(
        context,
        brokers=brokers,
        waves=WavesConfig(gap_ms=gap_ms),
        evidence=lines,
        evidence_tonight=lines,
    )
    return rows(priced(stage, context, facts_of(recording), 2 * 10**12))


def told(row: Row, names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names.split())


COSTS = "low_ms mid_ms high_ms"


@pytest.mark.long
def test_prices_of_consumer_groups(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    lines = lines_of(spark, "consumer-4.3")
    found = of_recording(stage, context, "consumer-4.3", 11_000, lines)
    crash = {name: found["crash", 72, name] for name in ("EAGER", "COOPERATIVE", "CONSUMER")}
    assert {name: (*told(row, COSTS), row.basis) for name, row in crash.items()} == {
        "EAGER": (22_000, 24_810, 34_100, "ASSUMED"),
        "COOPERATIVE": (22_000, 24_020, 28_200, "ASSUMED"),
        "CONSUMER": (20_000, 24_000, 32_000, None),
    }
    wanted = (True, 25_004, -4.0, -4.0, None)
    assert (
        told(crash["CONSUMER"], "is_actual actual_ms delta_pct model_error_pct refused") == wanted
    )
    assert told(crash["EAGER"], "r_ms y_ms session_ms heartbeat_ms") == (125, 10, 12_000, 1_000)
    assert told(crash["EAGER"], "is_actual actual_ms model_error_pct") == (False, 25_004, None)
    bounce = found["static-bounce", 38, "CONSUMER"]
    assert told(bounce, "events rebalances moved_min stopped_partitions") == (4, 1, 2, 4)
    assert bounce.mid_ms == 2 * 3_968 + 2 * 12_000
    assert {key[:2] for key in found}.isdisjoint({("crash", 4), ("wave", 4)}), "starts"
    assert found["stuck-revoker", 141, "CONSUMER"].refused == "NO_ACTUAL"
    check_all(found.values())


@pytest.mark.long
def test_prices_of_eager_groups(spark: SparkSession, stage: Stage, context: ReportContext) -> None:
    """With both logs R is the group's own; from the topic alone there is none."""
    lines = lines_of(spark, "classic-3.9")
    other_beat = replace(BROKERS, classic_heartbeat_ms=3_000)  # its own is 1 s, as lines show
    found = of_recording(stage, context, "classic-3.9", 3_000, lines, other_beat)
    actual = found["classic-eager", 26, "EAGER"]
    assert told(actual, f"is_actual {COSTS}") == (True, 18, 1_036, 6_102)
    assert told(actual, "actual_ms model_error_pct basis r_ms y_ms") == (1_740, -40.5, "OWN", 1, 5)
    assert told(found["classic-eager", 26, "CONSUMER"], COSTS) == (0, 2_000, 4_000)
    bounce = found["classic-static", 36, "EAGER_STATIC"]
    assert told(bounce, "mid_ms rebalances basis") == (2 * 3_125, 0, None)
    assert {key[0] for key in found}.isdisjoint({"streams-classic"})
    check_all(found.values())
    slow = "basis r_ms actual_ms model_error_pct"
    assert told(found["classic-coop", 26, "COOPERATIVE"], slow) == ("FEW", 3_010, 12_162, -13.1)
    paused = found["classic-coop", 26, "COOPERATIVE"]
    assert paused.low_ms <= paused.actual_ms <= paused.high_ms
    assert told(found["classic-coop", 26, "CONSUMER"], "basis r_ms") == ("TRANSFERRED", 3_010)
    alone = of_recording(stage, context, "classic-3.9", 3_000, None)
    assert told(alone["classic-coop", 26, "COOPERATIVE"], slow) == ("FEW", 3_530, 12_162, -0.3)
    refused = {row.refused for key, row in alone.items() if key[0] == "classic-eager"}
    assert refused == {"NO_TIMES"}
    assert told(alone["classic-eager", 26, "EAGER"], f"{COSTS} actual_ms") == (None,) * 4


def check_all(found: Iterable[Row]) -> None:
    """What holds of every row."""
    for row in found:
        if row.low_ms is None:
            assert row.refused in ("WAVE_HIDDEN", "NO_TIMES", "UNKNOWN_ENDS")
            continue
        assert 0 <= row.low_ms <= row.mid_ms <= row.high_ms
        assert row.is_actual or row.model_error_pct is None
        assert (row.delta_pct is None) == (row.refused is not None or not row.actual_ms)


def test_a_generation_of_an_earlier_night_tells_no_sync_phase(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    """It goes on, so its fact is staged again."""
    facts, lines = facts_of("classic-3.9"), lines_of(spark, "classic-3.9")
    last = max(each.started_at for each in facts if isinstance(each, Epoch))
    own = replace(
        context,
        brokers=BROKERS,
        evidence=lines,
        evidence_tonight=lines,
        waves=WavesConfig(gap_ms=3_000),
    )
    found = rows(priced(stage, own, facts, 2 * 10**12, last))
    y_ms = {row.y_ms for (group_id, *_), row in found.items() if group_id == "classic-eager"}
    assert y_ms == {None, 10}, "5 by its own"


def test_a_wave_with_a_hole_is_refused_and_another_heartbeat_priced(
    stage: Stage, context: ReportContext
) -> None:
    context = replace(context, what_if=WhatIfConfig(other_heartbeat_ms=1_000))
    hidden = fact(Churn, is_cut=True, is_final=True)
    revokes = [
        fact(HandOver, outcome="ACKED", revoke_ms=ms, partition=ms, group_id="known")
        for ms in (100, 101, 104)
    ]
    classic = fact(
        HandOver, outcome="ACKED", revoke_ms=9, group_id="known", member_protocol="classic"
    )
    joined = fact(Churn, group_id="known", members_before=1)
    found = rows(priced(stage, context, [hidden, *revokes, classic, joined], AT))
    assert {row.refused for key, row in found.items() if key[0] == "g"} == {"WAVE_HIDDEN"}
    usual, other = (found["known", 10, name] for name in ("CONSUMER", "CONSUMER_HEARTBEAT"))
    assert told(usual, "moved_min r_ms basis heartbeat_ms") == (1, 101, "OWN", 5_000)
    assert told(usual, COSTS) == (100, 101 + 2_500, 103 + 5_000)
    assert told(other, f"heartbeat_ms {COSTS}") == (1_000, 100, 101 + 500, 103 + 1_000)
    assert (usual.is_actual, other.is_actual, usual.is_final) == (True, False, False)


def test_heartbeats_are_those_of_the_group(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    revokes = [
        fact(HandOver, outcome="ACKED", revoke_ms=ms, partition=ms) for ms in (100, 101, 104)
    ]
    contacts = [
        evidence(Contact, member_id="m", heartbeat_interval_ms=1_000),
        evidence(Contact, member_id="n", beats=10, beats_ms=20_310),
        evidence(Contact, member_id="o", beats=9, beats_ms=90_000),
    ]
    lines = frame_of(spark, EVIDENCE, contacts)
    context = replace(context, evidence=lines, evidence_tonight=lines)
    found = rows(priced(stage, context, [fact(Churn, members_before=1), *revokes], AT))
    beats = {key[2]: row.heartbeat_ms for key, row in found.items()}
    assert (beats["CONSUMER"], beats["EAGER"], beats["COOPERATIVE"]) == (1_000, 2_000, 2_000)


def test_rows_have_the_columns_of_the_schema(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    frame = priced(stage, context, [fact(Churn)], AT)
    schema = table_schema(spark, SPECS["what_if"].name).struct
    owners = {"team", "contact"}
    wanted = {f.name: f.dataType.simpleString() for f in schema if f.name not in owners}
    assert {f.name: f.dataType.simpleString() for f in frame.schema} == wanted
    assert frame.select(sf.countDistinct("scenario")).first()[0] == 5  # type: ignore[index]
