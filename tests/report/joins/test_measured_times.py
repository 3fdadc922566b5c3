"""Which times of a night count as times of a step of a rebalance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.replay.facts import Epoch, Fact, HeldPartition
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.measured_times import line_times, record_times
from groupreplay.report.what_if.times import CALLBACK, TAKEN
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, fact
from tests.support.fact_frames import frame_of
from tests.support.table_inputs import inputs_of, read_to

EAGER: dict[str, Any] = {"cooperative": False, "stopped": 4}
UNSHOWN: dict[str, Any] = {"cooperative": None, "stopped": None}
"""All had given up all: nobody had anything to list, and the assignor is cooperative."""


def generation(group_id: str, epoch: int, at: int, **more: Any) -> Fact:
    told: dict[str, Any] = {"protocol": "classic", "cooperative": True, "stopped": None}
    times = {"started_at": at, "joined_at": at - 5}
    return fact(Epoch, group_id=group_id, epoch=epoch, **{**told, **times, **more})


def taken(group_id: str, given_at: int) -> Fact:
    return fact(
        HeldPartition,
        group_id=group_id,
        member_id="m",
        end_reason="REVOKED",
        released_epoch=3,
        released_at=AT,
        next_assigned_at=given_at,
    )


def test_members_of_eager_groups_come_for_other_reasons(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    """A member of an eager group lost a partition, and changed its subscription later. So did one of
    a consumer group, whose epochs another life has as generations."""
    groups: dict[str, dict[str, Any]] = {
        "shown": {},
        "unshown": UNSHOWN,
        "eager": EAGER,
        "downgrade": {"joined_at": None},
        "another life": {"started_at": AT + 3_600_000, "joined_at": AT + 3_599_990},
    }
    given_at = AT + 47_010
    rejoins: tuple[dict[str, Any], ...] = (
        {"synced_at": AT, "new_generation": 3},
        {
            "told_at": None,
            "joined_at": AT + 47_000,
            "answered_at": AT + 47_006,
            "new_generation": 4,
        },
    )
    told = [
        evidence(Rejoin, group_id=group_id, member_id="m", position=place, **rejoin)
        for group_id in groups
        for place, rejoin in enumerate(rejoins)
    ]
    lines = frame_of(spark, EVIDENCE, told)
    context = replace(context, evidence=lines, evidence_tonight=lines)
    staged = stage(
        *(taken(group_id, given_at) for group_id in groups),
        *(generation(group_id, 3, AT) for group_id in groups),
        *(generation(group_id, 4, given_at, **shown) for group_id, shown in groups.items()),
    )
    inputs = inputs_of(staged, context, tables=read_to(staged, context, AT))
    found = line_times(lines, inputs).where(f"measure = '{CALLBACK}'").collect()
    assert {(row["_id"], row.ms) for row in found} == {("shown", 47_000), ("unshown", 47_000)}


def test_a_generation_takes_what_the_next_one_gives(stage: Stage, context: ReportContext) -> None:
    """Of a consumer group that is converted, a member had let go what the first generation gives."""
    given_at = AT + 9_062
    takers = [
        generation("cooperative", 3, AT),
        generation("eager before", 3, AT, **EAGER),
        fact(Epoch, group_id="consumers", epoch=3, protocol="consumer", started_at=AT),
        generation("another life", 3, AT - 60_000),
    ]
    groups = [each.group_id for each in takers]
    staged = stage(
        *takers,
        *(taken(group_id, given_at) for group_id in groups),
        *(generation(group_id, 4, given_at) for group_id in groups),
    )
    inputs = inputs_of(staged, context, tables=read_to(staged, context, AT + 10_000))
    found = record_times(inputs).where(f"measure = '{TAKEN}'").collect()
    told = {(row["_id"], row.ms) for row in found}
    assert told == {("cooperative", 9_062), ("eager before", 9_062)}
