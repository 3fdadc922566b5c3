"""Table `readiness` of a recording: what the rules are given, cohorts, tiers, and what is hidden.
What the rules find is in tests/report/readiness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from groupreplay.config.model import PrivacyConfig, ReadinessConfig
from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.replay.facts import GroupSnapshot, MemberLife
from groupreplay.report.catalog import SPECS
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.readiness import readiness
from groupreplay.report.words.privacy import hash_keys, hidden
from groupreplay.tables.schemas import table_schema
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import AS_OF_MS, NIGHT, Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import fact
from tests.report.readiness.recorded import AT_ONCE, BASE, BOTH, CLIENTS, judged_groups
from tests.support.fact_frames import frame_of
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import group, groups
from tests.support.replaying import replayed
from tests.support.table_inputs import inputs_of

RECORDING = "migration-4.3"
COVERAGE_DDL = "input STRING, last_at TIMESTAMP, logical_date DATE"

Report = Callable[..., dict[str, Row]]


@pytest.fixture
def coverage(spark: SparkSession) -> Callable[..., DataFrame]:
    """partition -> how far it was read, ms."""

    def build(read: dict[int, int]) -> DataFrame:
        rows = [
            (f"__consumer_offsets-{partition}", datetime.fromtimestamp(at / 1000, UTC), NIGHT)
            for partition, at in read.items()
        ]
        return spark.createDataFrame(rows, COVERAGE_DDL)

    return build


@pytest.fixture
def report(spark: SparkSession, stage: Stage, coverage: Any, context: ReportContext) -> Report:
    """Facts, and what differs in the night -> group id -> its row."""

    def build(facts: list[Any], read: dict[int, int], **night: Any) -> dict[str, Row]:
        own = replace(context, brokers=BASE, clients=CLIENTS, **night)
        tables = {"coverage": coverage(read)}
        frame = readiness(inputs_of(stage(*facts), own, tables=tables))
        schema = table_schema(spark, "readiness").struct
        assert frame.columns == [n for n in schema.names if n not in ("team", "contact")]
        types = {f.name: f.dataType.simpleString() for f in schema}
        assert {f.name: f.dataType.simpleString() for f in frame.schema}.items() <= types.items()
        return {row.group_id: row for row in frame.collect()}

    return build


@pytest.fixture(scope="module")
def recorded() -> tuple[list[Any], dict[int, int]]:
    facts: list[Any] = []
    read: dict[int, int] = {}
    for one in groups(RECORDING):
        facts += replayed(one.entries, one.names, (), one.group_id, one.offsets_partition)
        newest = max(entry.ts_ms for entry in one.entries)
        read[one.offsets_partition] = max(newest, read.get(one.offsets_partition, -1))
    return facts, read


def test_rows_of_a_recording_are_what_the_rules_find(
    spark: SparkSession, report: Report, recorded: tuple[list[Any], dict[int, int]]
) -> None:
    lines = frame_of(spark, EVIDENCE, recorded_evidence(RECORDING))
    night = {"evidence": lines, "evidence_tonight": lines, "log_kinds": BOTH, "readiness": AT_ONCE}
    rows = report(*recorded, **night)
    wanted = judged_groups(RECORDING, logs=True)
    assert rows.keys() == wanted.keys()
    assert not rows.keys() & {"upgrade-eager", "upgrade-coop", "static-upgrade"}
    for group_id, row in rows.items():
        of_rules = wanted[group_id]
        same = ("verdict", "rules_unseen", "suggested_assignor", "observed_ms", "members_static")
        assert {n: row[n] for n in same} == {n: of_rules[n] for n in same}, group_id
        assert [each.asDict(recursive=True) for each in row.rules] == of_rules["rules"], group_id
    forever = rows["classic-forever"]
    assert (forever.cohort, forever.flip_tier) == ("- / apache-kafka-java", 3), "others migrate"
    assert rows["mixed-stall"].flip_tier is None
    assert rows["rollback"].flip_tier is None
    proven = {**night, "readiness": ReadinessConfig(min_observed_ms=0, proven_ms=0)}
    assert report(*recorded, **proven)["classic-forever"].flip_tier == 1
    usual = report(*recorded, **{**night, "readiness": ReadinessConfig()})
    assert usual["classic-forever"].verdict == "UNKNOWN"


def row_of(spark: SparkSession, report: Report, recording: str, group_id: str) -> Row:
    """The row of one recorded group, with the lines of all."""
    one = group(recording, group_id)
    facts = replayed(one.entries, one.names, (), group_id, one.offsets_partition)
    lines = frame_of(spark, EVIDENCE, recorded_evidence(recording))
    night = {"evidence": lines, "evidence_tonight": lines, "log_kinds": BOTH, "readiness": AT_ONCE}
    newest = max(entry.ts_ms for entry in one.entries)
    return report(facts, {one.offsets_partition: newest}, **night)[group_id]


def test_an_empty_group_has_nothing_to_roll(spark: SparkSession, report: Report) -> None:
    """Its producer sends offsets in transactions, and its members are gone."""
    row = row_of(spark, report, "other-groups-4.2", "transactions-tx")
    assert (row.verdict, row.phase, row.flip_tier) == ("READY_OFFLINE", "EMPTY", 0)


def test_an_instance_that_was_taken_over_has_the_client_of_the_process_that_lives(
    spark: SparkSession, report: Report
) -> None:
    found = row_of(spark, report, "classic-3.9", "classic-static").rules
    rules = judged_groups("classic-3.9", logs=True)["classic-static"]["rules"]
    assert [each.asDict(recursive=True) for each in found] == rules
    (restarts,) = [each for each in found if each.rule == "R7"]
    assert [(each.client_id, each.client_inherited) for each in restarts.members] == [
        ("classic-static-n0", False),
        ("classic-static-n1", False),
    ]


def known(group_id: str, partitions: int, **given: Any) -> list[Any]:
    """A group that was watched for a day, and its member."""
    own = {"group_id": group_id, "offsets_partition": 3}
    usual: dict[str, Any] = {
        "protocol": "classic",
        "phase": "CLASSIC",
        "protocol_type": "consumer",
        "protocol_name": "range",
        "members_total": 1,
        "partitions_held": partitions,
        "unbroken_since_at": AS_OF_MS - 86_400_000,
    }
    life = {
        "member_protocol": "classic",
        "profile_offset": 4,
        "session_timeout_ms": 12_000,
        "subscription_user_data": 0,
        "assignment_user_data": 0,
    }
    members = [fact(MemberLife, **own | life)] if (usual | given)["members_total"] else []
    return [fact(GroupSnapshot, **own | usual | given), *members]


def test_the_smallest_group_of_a_cohort_is_its_canary(spark: SparkSession, report: Report) -> None:
    owners = spark.createDataFrame(
        [("a", "pay", None), ("b", "pay", None), ("c", "ship", None), ("d", "ship", None)],
        "group_id STRING, team STRING, contact STRING",
    )
    facts = [
        *known("a", 6),
        *known("b", 2),
        *known("c", 2),
        *known("d", 9, phase="MIGRATING", protocol="consumer"),
        *known("e", 1, phase="EMPTY", members_total=0),
        *known("f", 1, protocol_type="connect"),
        *known("g", 1, unbroken_since_at=AS_OF_MS - 86_399_999),
        *known("h", 3),
        *known("i", 3),
    ]
    of_earlier_life = replace(facts[-1], incarnation=facts[-1].incarnation + 1, rack_id="r")
    facts.append(of_earlier_life)
    rows = report(facts, {3: AS_OF_MS}, owners=owners)
    tiers = {group_id: (row.cohort, row.flip_tier) for group_id, row in rows.items()}
    assert tiers == {
        "a": ("pay / ?", 3),
        "b": ("pay / ?", 2),
        "c": ("ship / ?", 3),
        "d": ("ship / ?", None),
        "e": ("- / ?", 0),
        "f": ("- / ?", None),
        "g": ("- / ?", None),
        "h": ("- / ?", 2),
        "i": ("- / ?", 3),
    }
    assert rows["g"].verdict == "UNKNOWN"
    assert "R10" not in {each.rule for each in rows["i"].rules}, "that was another life"
    assert rows["h"].as_of_at == datetime.fromtimestamp(AS_OF_MS / 1000, UTC).replace(tzinfo=None)


def test_members_in_rules_are_hidden(
    spark: SparkSession, stage: Stage, coverage: Any, context: ReportContext
) -> None:
    times = [(AS_OF_MS - 9_000, AS_OF_MS - 8_900), (AS_OF_MS - 700, AS_OF_MS), (AS_OF_MS, None)]
    told = [
        evidence(Rejoin, group_id="a", member_id="billing-7", position=i, told_at=at, joined_at=to)
        for i, (at, to) in enumerate(times)
    ]
    lines = frame_of(spark, EVIDENCE, told)
    own = replace(context, brokers=BASE, evidence=lines, evidence_tonight=lines)
    facts = known("a", 1)
    slow = {"rebalance_timeout_ms": 1_000, "member_id": "billing-7"}
    facts[1] = replace(facts[1], rack_id="r", client_id="billing", **slow)
    tables = {"coverage": coverage({3: AS_OF_MS})}
    frame = readiness(inputs_of(stage(*facts), own, tables=tables))
    keys = hash_keys(PrivacyConfig(hash=("client_host", "client_id"), salt="0123456789abcdef"))
    (row,) = hidden(SPECS["readiness"], frame, keys).collect()
    (rack,) = [each for each in row.rules if each.rule == "R10"]
    (member,) = rack.members
    hashes = (member.client_id, member.client_host, member.member_id)
    assert [each[:2] for each in hashes] == ["h:", "h:", "h:"]
    assert rack.detail == "the server's assignors do not know racks (KAFKA-19387)"
    (slowest,) = [each for each in row.rules if each.rule == "R13"]
    assert (slowest.value, slowest.limit, slowest.evidence.position) == (700, 1_000, 1)
    assert slowest.members == rack.members
