"""What restarts of static members of classic groups cost, by recordings and by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from groupreplay.evidence.evidence_facts import SESSION_EXPIRED, Contact, Departure
from groupreplay.replay.decision_facts import Churn
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.departure_waves import departure_waves
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT
from tests.report.waves import all_lines, by_hand, waves
from tests.support.fact_frames import frame_of
from tests.support.table_inputs import inputs_of, read_to

RESTARTS = {
    ("migration-4.3", "static-upgrade", 36): (2_698, 2_458, 1_974),
    ("migration-4.3", "static-upgrade", 66): (3_560, 2_402, 1_912),
    ("migration-4.3", "static-upgrade", 92): (2_384, 2_382, 2_144),
    ("classic-3.9", "classic-static", 36): (8_028, 6_250, 6_114),
    ("classic-3.9", "classic-static", 69): (7_050, 6_244, 6_074),
    ("classic-3.9", "classic-static", 104): (6_182, 6_182, 6_014),
    ("scala-3.9", "classic-static-s", 39): (5_898, 5_898, 5_902),
    ("scala-3.9", "classic-static-s", 74): (7_686, 6_496, 5_880),
    ("scala-3.9", "classic-static-s", 109): (6_092, 6_092, 5_894),
    ("other-groups-4.2", "classic-static", 34): (7_182, 6_632, 5_902),
    ("other-groups-4.2", "classic-static", 67): (6_034, 6_034, 5_854),
    ("other-groups-4.2", "classic-static", 102): (6_254, 6_254, 6_076),
}
"""With a gap of 3 s: est_ms by the topic alone and with a request log, and what the clients saw:
from the old process's callback to the new one's, of two partitions."""


def test_a_restart_is_estimated_from_the_last_sign_of_life(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    lines = frame_of(spark, EVIDENCE, all_lines())
    alone = waves(stage, context, 3_000)
    known = waves(stage, replace(context, evidence=lines, evidence_tonight=lines), 3_000)
    found = {key: (alone[key].est_ms, known[key].est_ms) for key in RESTARTS}
    assert found == {key: (topic, log) for key, (topic, log, _) in RESTARTS.items()}
    assert {known[key]["class"] for key in RESTARTS} == {"BOUNCE"}
    assert all(not known[key].ends and not known[key].est_is_partial for key in RESTARTS)
    for key, (topic_ms, log_ms, true_ms) in RESTARTS.items():
        assert known[key].low_ms <= true_ms <= known[key].high_ms, key
        # Clients are given partitions up to 150 ms after the K2; they beat once a second.
        assert -150 <= log_ms - true_ms <= 2 * 1_000, key
        assert log_ms <= topic_ms, key


TAKEN_OVER: dict[str, tuple[dict[str, Any] | None, int | None, tuple[int | None, bool]]] = {
    "by its commit": (None, 4_000, (8_000, False)),
    "by its heartbeat": ({"last_heartbeat_at": AT - 1_500}, 4_000, (3_000, False)),
    "by a commit that came later": ({"last_heartbeat_at": AT - 4_500}, 4_000, (8_000, False)),
    "by when its join came": (
        {"last_heartbeat_at": AT - 1_500, "last_alive_at": AT - 3_500},
        4_000,
        (7_000, False),
    ),
    "by a commit while its join waited": (
        {"last_heartbeat_at": AT - 1_500, "last_alive_at": AT - 4_500},
        4_000,
        (8_000, False),
    ),
    "it was alive": ({"last_heartbeat_at": AT + 300}, 4_000, (0, False)),
    "it never committed": ({"last_heartbeat_at": AT - 1_500}, None, (3_000, False)),
    "another member": ({"last_heartbeat_at": AT - 1_500, "member_id": "b0"}, 4_000, (8_000, False)),
    "nothing shows it": (None, None, (0, True)),
}
"""Of a static member with two partitions whose instance came back under another id: its contact,
its silence -> est_ms and est_is_partial."""


def test_a_member_that_is_taken_over_read_until_its_last_sign_of_life(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    lines, chains = [evidence(Contact, group_id="none", member_id="x")], []
    for name, (contact, silence, _) in TAKEN_OVER.items():
        if contact is not None:
            names = {"group_id": name, "member_id": "a0", "first_at": AT - 60_000}
            lines.append(evidence(Contact, **(names | contact)))
        chain = by_hand(("R", 0, "a", "/h"), removed_counts=[2], silences_ms=[silence])
        chains.append(replace(chain, group_id=name, highs_ms=[9_000]))
    told = frame_of(spark, EVIDENCE, lines)
    context = replace(context, evidence=told, evidence_tonight=told)
    staged = stage(*chains)
    frame = departure_waves(inputs_of(staged, context, tables=read_to(staged, context, AT)))
    rows = frame.collect()
    assert {row.group_id: (row.est_ms, row.est_is_partial) for row in rows} == {
        name: expected for name, (*_, expected) in TAKEN_OVER.items()
    }
    assert all((row["class"], row.ends, row.departed) == ("BOUNCE", {}, 0) for row in rows)


DIED_WAITING: dict[str, tuple[str, int, int | None, int]] = {
    "it had never committed": ("COOPERATIVE", 90_000, None, 2 * 50_000),
    "it committed before": ("COOPERATIVE", 90_000, 60_000, 2 * 50_000),
    "it committed while its join waited": ("COOPERATIVE", 90_000, 45_000, 2 * 45_000),
    "as a member of Kafka Streams": ("STREAMS", 90_000, 45_000, 2 * 45_000),
    "it was new": ("COOPERATIVE", 50_000, None, 2 * 10_000),
    "the wait counts for its generation": ("EAGER", 90_000, 45_000, 2 * 10_000),
}
"""Of a member with two partitions whose session ran out 10 s after its join was answered, which had
waited for 40 s: mode of its group, time since its first request and its last commit -> est_ms."""


GOT: dict[str, tuple[list[int], list[int], int]] = {
    "all before the wait": ([90_000], [2], 2 * 50_000),
    "one when it was over": ([10_000, 90_000], [1, 1], 10_000 + 50_000),
    "both when it was over": ([10_000], [2], 2 * 10_000),
    "nothing shows when": ([], [], 2 * 50_000),
}
"""For how long a member of a cooperative group had had its partitions, and how many, that died 50 s
ago while its join waited for 40 s -> est_ms."""


def test_what_a_member_had_not_got_yet_it_did_not_leave_unread(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    died = {}
    for name, (kept_ms, counts, _) in GOT.items():
        kept = {"kept_events": [0] * len(counts), "kept_ms": kept_ms, "kept_counts": counts}
        died[name] = died_waiting(name, 90_000, None, "COOPERATIVE", **kept)
    wanted = {name: est_ms for name, (_, _, est_ms) in GOT.items()}
    assert estimates(spark, stage, context, died) == wanted


def test_a_member_that_died_while_its_join_waited_read_no_more(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    died = {
        name: died_waiting(name, since, silence, mode)
        for name, (mode, since, silence, _) in DIED_WAITING.items()
    }
    wanted = {name: est_ms for name, (*_, est_ms) in DIED_WAITING.items()}
    assert estimates(spark, stage, context, died) == wanted


Died = tuple[Churn, list[Any]]
"""A wave, and what lines say of its member."""


def died_waiting(group_id: str, since: int, silence: int | None, mode: str, **lists: Any) -> Died:
    member: dict[str, Any] = {"group_id": group_id, "member_id": "a0"}
    heard = {"last_heartbeat_at": AT - 10_000, "last_alive_at": AT - 50_000}
    gone = {"ended_at": AT, "outcome": "FENCED", "end_detail": SESSION_EXPIRED}
    lines = [
        evidence(Contact, first_at=AT - since, **member, **heard),
        evidence(Departure, **member, **gone),
    ]
    chain = by_hand(
        ("G", 0, "a", "/h"),
        removed_counts=[2],
        silences_ms=[silence],
        group_modes=[mode],
        member_protocols=["classic"],
        **lists,
    )
    return replace(chain, group_id=group_id), lines


def estimates(
    spark: SparkSession, stage: Stage, context: ReportContext, died: dict[str, Died]
) -> dict[str, int | None]:
    """Group -> est_ms of its wave."""
    told = frame_of(spark, EVIDENCE, [line for _, lines in died.values() for line in lines])
    context = replace(context, evidence=told, evidence_tonight=told)
    staged = stage(*(chain for chain, _ in died.values()))
    frame = departure_waves(inputs_of(staged, context, tables=read_to(staged, context, AT)))
    rows = frame.collect()
    assert [row.ends for row in rows] == [{SESSION_EXPIRED: 1}] * len(died)
    return {row.group_id: row.est_ms for row in rows}
