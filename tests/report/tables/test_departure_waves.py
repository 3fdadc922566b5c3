"""What waves of recordings were, from the topic alone and with lines, and by hand.

Holds report/joins/lines/departure_ends.py, report/joins/lines/rejoin_times.py.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from groupreplay.config.model import BrokersConfig
from groupreplay.evidence.evidence_facts import BrokerSetting, Rejoin
from groupreplay.report.catalog import SPECS
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.departure_waves import departure_waves
from groupreplay.tables.schemas import table_schema
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT
from tests.report.waves import all_lines, by_hand, waves
from tests.support.documents import text
from tests.support.fact_frames import frame_of
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import group
from tests.support.table_inputs import inputs_of, read_to

CLASSES = {
    ("consumer-4.3", "wave", 4): "START",
    ("consumer-4.3", "wave", 71): "ROLLOUT",
    ("consumer-4.3", "fence-loop", 25): "FLAPPING",
    ("consumer-4.3", "crash", 72): "CRASH",
    ("consumer-4.3", "stuck-revoker", 141): "POLL_TIMEOUT",
    ("consumer-4.3", "static-bounce", 38): "CRASH",
    ("consumer-4.3", "assignor-change", 30): "ROLLOUT",
    ("consumer-4.3", "frozen", 66): "CRASH",
    ("consumer-4.3", "frozen", 153): "RESTART",
    ("migration-4.3", "upgrade-eager", 30): "ROLLOUT",
    ("migration-4.3", "upgrade-old-client", 32): "ROLLOUT",
    ("migration-4.3", "mixed-stall", 83): "ROLLOUT",
    ("migration-4.3", "rollback", 84): "ROLLOUT",
    ("migration-4.3", "static-upgrade", 36): "BOUNCE",
    ("migration-4.3", "upgrade-crash", 127): "CRASH",
    ("migration-4.3", "offline-upgrade", 78): "RECREATE",
    ("classic-3.9", "classic-slow-join", 49): "POLL_TIMEOUT",
    ("consumer-4.3", "deleted", 17): "STOP",
}

SHORT_CLASSES = {
    ("consumer-4.3", "wave", 71): "SCALE_DOWN",
    ("consumer-4.3", "wave", 146): "SCALE_UP",
    ("consumer-4.3", "scale-up", 9): "START",
    ("consumer-4.3", "scale-up", 69): "SCALE_UP",
    ("consumer-4.3", "scale-up", 110): "SCALE_UP",
    ("consumer-4.3", "scale-up", 175): "SCALE_DOWN",
    ("classic-3.9", "classic-eager", 26): "SCALE_DOWN",
    ("classic-3.9", "classic-eager", 57): "SCALE_UP",
    ("classic-3.9", "classic-eager", 117): "CRASH",
    ("consumer-4.3", "static-bounce", 38): "AWAY",
}
"""With a gap of 3 s."""

UNSEEN = {"HOST_SWAP", "MIXED"}
"""No recording has such a wave."""

_LEFT = {"LEAVE_HEARTBEAT", "LEAVE_GROUP", "ADMIN_REMOVAL", "LEFT"}
_EXPIRED = {"SESSION_EXPIRED", "EXPIRED"}


def test_classes_of_recordings(spark: SparkSession, stage: Stage, context: ReportContext) -> None:
    """The same from the topic alone as with lines; of each wave the ends are equal, or UNKNOWN."""
    lines = frame_of(spark, EVIDENCE, all_lines())
    proved = replace(context, evidence=lines, evidence_tonight=lines)
    alone, known = waves(stage, context, 11_000), waves(stage, proved, 11_000)
    assert {key: alone[key]["class"] for key in CLASSES} == CLASSES
    assert {key: known[key]["class"] for key in CLASSES} == CLASSES
    assert alone.keys() == known.keys()
    assert not UNSEEN & {row["class"] for row in (*alone.values(), *known.values())}
    counts: Counter[str] = Counter()
    for key, row in known.items():
        told, inferred = kinds(row), kinds(alone[key])
        unknown = inferred.pop("UNKNOWN", 0)
        assert not inferred - told, (key, row.ends, alone[key].ends)
        assert (told - inferred).total() == unknown, (key, row.ends, alone[key].ends)
        counts.update(UNKNOWN=unknown, KNOWN=inferred.total())
    assert counts == {"KNOWN": 194, "UNKNOWN": 16}
    slow = known["classic-3.9", "classic-slow-join", 49]
    assert (
        slow.class_confidence,
        alone["classic-3.9", "classic-slow-join", 49].class_confidence,
    ) == (
        "EXACT",
        "INFERRED",
    )
    assert all(row.is_final for row in alone.values()), "the partitions were read far enough"


_ROW_OF_PAGE = re.compile(
    r"^\| `([A-Z_]+)` \| `([\w.-]+)` p(\d+):(\d+) \| `([\w-]+)` \| (\d+) s \|", re.MULTILINE
)


def test_the_page_lists_these_waves() -> None:
    rows = _ROW_OF_PAGE.findall(text("docs/decisions.md"))
    told = {
        gap: {
            (recording, group_id, int(at)): name
            for name, recording, _, at, group_id, s in rows
            if s == gap
        }
        for gap in ("11", "3")
    }
    assert told == {"11": CLASSES, "3": SHORT_CLASSES}
    for _, recording, partition, _, group_id, _ in rows:
        assert group(recording, group_id).offsets_partition == int(partition)


def kinds(row: Row) -> Counter[str]:
    """What lines tell apart and silence does not, as one."""
    found: Counter[str] = Counter()
    for end, count in row.ends.items():
        kind = "LEFT" if end in _LEFT else "EXPIRED" if end in _EXPIRED else end
        is_late = kind in ("REBALANCE_TIMEOUT", "JOIN_TIMEOUT", "SYNC_TIMEOUT")
        found["POLL_TIMEOUT" if is_late else kind] += count
    return found


EAGER_COSTS = {
    ("classic-3.9", "classic-eager", 26): (1_740, 1_834),
    ("classic-3.9", "classic-eager", 57): (18, 79),
    ("classic-3.9", "classic-eager", 117): (28_002, 27_875),
    ("classic-3.9", "classic-slow-join", 49): (40_065, 40_000),
}
"""With a gap of 3 s: est_ms, and what the clients saw (of slow-join what its callbacks last: four
partitions of two members for 9 s, and two of the one that was dropped)."""


def test_what_an_eager_group_cost_is_known_by_the_request_log(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    lines = frame_of(spark, EVIDENCE, all_lines())
    found = waves(stage, replace(context, evidence=lines, evidence_tonight=lines), 3_000)
    for key, (est_ms, true_ms) in EAGER_COSTS.items():
        row = found[key]
        assert (row.est_ms, row.est_is_partial) == (est_ms, False), key
        assert row.low_ms <= true_ms <= row.high_ms, key
        assert abs(est_ms - true_ms) < max(150, true_ms / 100), key
    known = [row for row in found.values() if row.low_ms is not None]
    assert all(row.low_ms <= row.est_ms <= row.high_ms for row in known if row.est_ms is not None)
    assert [
        key for key, row in found.items() if row.low_ms is not None and row.est_ms is None
    ] == []


def test_classes_with_a_short_gap(stage: Stage, context: ReportContext) -> None:
    found = waves(stage, context, 3_000)
    assert {key: found[key]["class"] for key in SHORT_CLASSES} == SHORT_CLASSES
    assert not UNSEEN & {row["class"] for row in found.values()}
    row = found["consumer-4.3", "scale-up", 175]
    assert row.est_ms is not None
    assert row.low_ms <= row.est_ms <= row.high_ms
    assert found["classic-3.9", "classic-eager", 26].est_ms is None, "when they were told is unseen"


def one(stage: Stage, context: ReportContext, chain: Any) -> Row:
    staged = stage(chain)
    tables = read_to(staged, context, AT)
    (row,) = departure_waves(inputs_of(staged, context, tables=tables)).collect()
    return row


def test_pods_on_other_hosts_are_a_host_swap(stage: Stage, context: ReportContext) -> None:
    events = (("G", 0, "a", "/h1"), ("J", 5, "b", "/h2"))
    assert one(stage, context, by_hand(*events))["class"] == "HOST_SWAP"
    left = by_hand(*events, host_members=[1, 1])
    assert one(stage, context, left)["class"] == "RESTART", "somebody is left on the old host"
    row = one(stage, context, by_hand(("G", 0, "a", "/h1"), ("J", 5, "a", "/h1")))
    assert (row["class"], row.cycles, row.hosts_out, row.class_confidence) == (
        "RESTART",
        1,
        ["/h1"],
        "INFERRED",
    )
    assert (row.ends, row.is_final) == ({"UNKNOWN": 1}, False)
    assert [each.asDict() for each in row.clients] == [
        {"client_id": "a", "client_host": "/h1", "instance_id": None, "departed": 1, "joined": 1}
    ]


def test_a_hole_hides_what_a_wave_cost(stage: Stage, context: ReportContext) -> None:
    hidden = by_hand(("G", 0, "a", "/h"), ("G", 1, "b", "/h"), hidden_before=[1, 1])
    row = one(stage, context, hidden)
    assert (row["class"], row.start_observed, row.moved, row.low_ms, row.est_ms) == (
        *("STOP", False, None, None, None),
    )


@pytest.mark.parametrize("silence", [None, 4_000])
def test_an_estimate_counts_from_when_the_member_stopped(
    stage: Stage, context: ReportContext, silence: int | None
) -> None:
    gone = by_hand(
        ("G", 0, "a", "/h"),
        removed_counts=[2],
        removed_ms=[700],
        silences_ms=[silence],
        lows_ms=[700],
        highs_ms=[9000],
    )
    row = one(stage, context, gone)
    assert (row.est_ms, row.est_is_partial) == ((700, True) if silence is None else (8700, False))


Told = list[dict[str, Any]]


def waves_with(
    spark: SparkSession, stage: Stage, context: ReportContext, chain: Any, cases: dict[str, Told]
) -> dict[str, Row]:
    """The one wave of a chain, by case: the case's group has these rejoins."""
    lines = frame_of(
        spark,
        EVIDENCE,
        [
            evidence(Rejoin, **({"group_id": name, "member_id": "a0"} | each))
            for name, told in cases.items()
            for each in told
        ],
    )
    context = replace(context, evidence=lines, evidence_tonight=lines)
    staged = stage(*(replace(chain, group_id=name) for name in cases))
    tables = read_to(staged, context, AT)
    rows = departure_waves(inputs_of(staged, context, tables=tables)).collect()
    return {row.group_id: row for row in rows}


STOPPED: dict[str, tuple[Told, tuple[int | None, int]]] = {
    "no line": ([], (None, 5000)),
    "of one member": ([{"told_at": AT - 100}], (600, 5000)),
    "the mean of those that were told": (
        [
            {"told_at": AT - 100},
            {"told_at": AT - 400, "member_id": "n"},
            {"told_at": None, "joined_at": AT - 900, "member_id": "o"},
        ],
        (1500, 5000),
    ),
    "not below what is sure": ([{"told_at": AT - 5}], (60, 5000)),
    "a callback that commits last": ([{"told_at": AT - 9_000}], (54_000, 54_000)),
    "of another generation": ([{"told_at": AT - 100, "new_generation": 8}], (None, 5000)),
    "of another group": ([{"told_at": AT - 100, "group_id": "other"}], (None, 5000)),
    "long ago": ([{"told_at": AT - 3_600_001}], (None, 5000)),
    "in a life before": (
        [{"told_at": AT - 100, "synced_at": AT}, {"told_at": AT - 9_000, "synced_at": AT - 8_000}],
        (600, 5000),
    ),
}
"""Who was told to join generation 7, which stopped six partitions -> est_ms and high_ms."""

STOPPED_BY_MEMBER: dict[str, tuple[Told, int | None]] = {
    "each counts what it had": (
        [{"told_at": AT - 100}, {"told_at": AT - 400, "member_id": "n"}],
        4 * 100 + 1 * 400 + 1 * 250,
    ),
    "who was not told counts as the others": (
        [{"told_at": AT - 100}],
        4 * 100 + 1 * 100 + 1 * 100,
    ),
    "not from before the K2 before": (
        [{"told_at": AT - 3_000}, {"told_at": AT - 3_000, "member_id": "n"}],
        4 * 3_000 + 1 * 1_000 + 1 * 3_000,
    ),
    "not since it was told, where it had no assignment": (
        [
            {"told_at": AT - 100, "is_unassigned": True},
            {"told_at": AT - 100, "member_id": "n", "is_unassigned": True},
        ],
        4 * 100 + 1 * 1_000 + 1 * 100,
    ),
    "but since it was told to join that generation": (
        [
            {"told_at": AT - 100, "is_unassigned": True, "unassigned_since": AT - 700},
            {"told_at": AT - 100, "member_id": "n", "is_unassigned": True}
            | {"unassigned_since": AT - 800},
        ],
        4 * 100 + 1 * 800 + 1 * 100,
    ),
    "and not from before the K2 before": (
        [
            {"told_at": AT - 100, "member_id": "n", "is_unassigned": True}
            | {"unassigned_since": AT - 3_000},
        ],
        4 * 100 + 1 * 1_000 + 1 * 100,
    ),
    "one that is told twice, since the first time": (
        [{"told_at": AT - 500}, {"told_at": AT - 100}],
        4 * 500 + 1 * 300 + 1 * 300,
    ),
    "no line": ([], None),
}
"""Who was told -> est_ms. Of six partitions a0 had four, n one, for a second; of one it is not known
who had it.
"""


def test_members_that_stay_stop_when_they_are_told(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    chain = by_hand(
        ("J", 0, "b", "/h"), stop_counts=[6], lows_ms=[60], highs_ms=[5000], group_epochs=[7]
    )
    cases = {
        name: [{"new_generation": 7} | each for each in told] for name, (told, _) in STOPPED.items()
    }
    found = waves_with(spark, stage, context, chain, cases)
    assert {name: (row.est_ms, row.high_ms) for name, row in found.items()} == {
        name: expected for name, (_, expected) in STOPPED.items()
    }


def test_a_generation_costs_what_each_member_had_since_it_was_told(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    """A mean over members would count those alike that had much and those that had little."""
    chain = by_hand(
        *(("J", 0, "b", "/h"), ("J", 1, "c", "/h")),
        stop_counts=[0, 6],
        stop_events=[1, 1],
        stop_member_ids=["a0", "n"],
        stop_partitions=[4, 1],
        stop_read_ms=[None, 1_000],
        group_epochs=[6, 7],
        times_at=[AT, AT],
    )
    cases = {
        name: [{"new_generation": 7} | each for each in told]
        for name, (told, _) in STOPPED_BY_MEMBER.items()
    }
    found = waves_with(spark, stage, context, chain, cases)
    assert {name: row.est_ms for name, row in found.items()} == {
        name: expected for name, (_, expected) in STOPPED_BY_MEMBER.items()
    }
    assert {row.est_is_partial for row in found.values() if row.est_ms is not None} == {False}


GONE: dict[str, tuple[Told, int]] = {
    "and gave up later": ([{"told_at": AT - 10_000}], 2 * 10_000),
    "after it had stopped anyway": ([{"told_at": AT - 2_000}], 2 * 4_000),
    "and joined": ([{"told_at": AT - 10_000, "joined_at": AT - 9_000}], 2 * 4_000),
    "in a life after this one": ([{"told_at": AT + 1}], 2 * 4_000),
    "another member": ([{"told_at": AT - 10_000, "member_id": "b0"}], 2 * 4_000),
    "twice": ([{"told_at": AT - 20_000}, {"told_at": AT - 10_000}], 2 * 10_000),
}
"""When a member was told that was silent for 4 s when it was removed with two partitions."""


def test_a_member_that_is_told_and_goes_stopped_when_it_was_told(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    chain = by_hand(("G", 0, "a", "/h"), removed_counts=[2], silences_ms=[4_000], highs_ms=[9_000])
    cases = {name: told for name, (told, _) in GONE.items()}
    found = waves_with(spark, stage, context, chain, cases)
    assert {name: row.est_ms for name, row in found.items()} == {
        name: est_ms for name, (_, est_ms) in GONE.items()
    }


def test_a_session_is_as_long_as_brokers_printed_it(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    """consumer-4.3 has 12 s, with a heartbeat every 2 s; Kafka's defaults are 45 and 5 s."""
    gone = by_hand(("G", 0, "a", "/h"), silences_ms=[11_000])
    assert one(stage, context, gone).ends == {"LEFT": 1}
    printed = [
        each for each in recorded_evidence("consumer-4.3") if isinstance(each, BrokerSetting)
    ]
    lines = frame_of(spark, EVIDENCE, printed)
    context = replace(context, evidence=lines, evidence_tonight=lines)
    assert one(stage, context, gone).ends == {"EXPIRED": 1}
    configured = replace(context, brokers=BrokersConfig(session_timeout_ms=45_000))
    assert one(stage, configured, gone).ends == {"LEFT": 1}


def test_rows_have_the_columns_of_the_schema(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    staged = stage(by_hand(("J", 0, "a", "/h")))
    frame = departure_waves(inputs_of(staged, context, tables=read_to(staged, context, AT)))
    schema = table_schema(spark, SPECS["departure_waves"].name).struct
    owners = {"team", "contact"}
    wanted = {f.name: f.dataType.simpleString() for f in schema if f.name not in owners}
    assert {f.name: f.dataType.simpleString() for f in frame.schema} == wanted
