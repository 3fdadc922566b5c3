"""Stalls and chains -> stuck episodes: thresholds, open and closed, repetitions in a sliding
window.

Holds report/stuck/thresholds.py.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from groupreplay.config.model import GroupThresholds, Thresholds
from groupreplay.limits import MAX_CHAIN_GAP_MS, MIN_STALL_MS
from groupreplay.replay.facts import Chain, GroupSnapshot, Stall
from groupreplay.report.context import ReportContext
from groupreplay.report.stuck.episodes import (
    CHAIN_THRESHOLDS,
    COUNT_THRESHOLDS,
    STALL_THRESHOLDS,
)
from groupreplay.report.stuck.evidence_stalls import NEEDS
from groupreplay.report.tables.migration_progress import migration_progress
from groupreplay.report.tables.stuck_groups import stuck_groups
from groupreplay.report.tables.stuck_members import stuck_members
from tests.report.conftest import AS_OF_MS, Stage
from tests.report.facts_by_hand import AT, fact
from tests.support.table_inputs import inputs_of

MINUTE = 60_000


AT_ONCE = {
    "upgrade_refused_ms",
    "assignor_failed_ms",
    "assignment_error_ms",
    "shutdown_requested_ms",
    "duplicate_process_id_ms",
}
"""Thresholds of what was wrong from its first moment on."""


@pytest.mark.interpreted
def test_every_reason_of_the_facts_has_a_threshold() -> None:
    streams = (Path(__file__).parents[3] / "docs" / "streams.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b[A-Z]+_[A-Z_]+\b", f"{Stall.__doc__} {Chain.__doc__}")) - {
        "MIN_STALL_MS",
        "MAX_CHAIN_GAP_MS",
        "STUCK_DETAILS",
    }
    stuck = streams[streams.index("\n## Stuck\n") :]
    named |= set(re.findall(r"^\| `([A-Z_]+)` \|", stuck, re.MULTILINE))
    known = STALL_THRESHOLDS.keys() | CHAIN_THRESHOLDS.keys() | COUNT_THRESHOLDS.keys()
    assert named | NEEDS.keys() == known
    assert not named & NEEDS.keys()
    for field in [
        *STALL_THRESHOLDS.values(),
        *COUNT_THRESHOLDS.values(),
        *(name for pair in CHAIN_THRESHOLDS.values() for name in pair),
    ]:
        assert getattr(Thresholds(), field) > 0 or field in AT_ONCE


def test_thresholds_cannot_ask_for_what_the_machines_leave_out() -> None:
    bounds = {field.name: field.metadata for field in fields(Thresholds)}
    stretches = set(STALL_THRESHOLDS.values()) - AT_ONCE
    assert [name for name in stretches if bounds[name]["min"] < MIN_STALL_MS] == []
    windows = {window for _, window in CHAIN_THRESHOLDS.values()}
    assert [name for name in windows if bounds[name]["max"] > MAX_CHAIN_GAP_MS] == []


def test_stalls_are_stuck_from_their_threshold_on(stage: Stage, context: ReportContext) -> None:
    facts = [
        fact(Stall, member_id="below", until_at=AT + 9_999, is_final=True),
        fact(
            Stall,
            member_id="at",
            until_at=AT + 10_000,
            to_offset=20,
            is_final=True,
            blocked_by=["b", "a"],
            partitions_held=4,
            deadline_at=AT + 5,
        ),
        fact(
            Stall,
            member_id="silent below",
            reason="NOT_RECONCILING",
            until_at=AT + 14_999,
            is_final=True,
        ),
        fact(
            Stall,
            member_id="silent at",
            reason="NOT_RECONCILING",
            until_at=AT + 15_000,
            is_final=True,
        ),
        fact(Stall, member_id="open", since_at=AS_OF_MS - 10_000),
        fact(Stall, member_id="open below", since_at=AS_OF_MS - 9_999),
        fact(Stall, member_id="start not seen", start_observed=False),
        fact(
            Stall,
            member_id=None,
            reason="ASSIGNING_STALLED",
            until_at=AT + 16_000,
            epochs=[5, 4],
        ),
    ]
    rows = {
        row.member_id: row for row in stuck_members(inputs_of(stage(*facts), context)).collect()
    }
    assert {
        name: (row.stuck_ms, row.is_open, row.is_final, row.to_offset) for name, row in rows.items()
    } == {
        "at": (10_000, False, True, 20),
        "silent at": (15_000, False, True, None),
        "open": (10_000, True, False, None),
    }
    assert (rows["at"].blocked_by, rows["at"].partitions_held, rows["at"].repetitions) == (
        ["b", "a"],
        4,
        None,
    )
    assert rows["open"].until_at is None
    groups = stuck_groups(inputs_of(stage(*facts), context)).collect()
    assert [(row.reason, row.stuck_ms, row.is_open, row.detail) for row in groups] == [
        ("ASSIGNING_STALLED", 16_000, False, "group epoch 5, target epoch 4")
    ]
    assert [(row.detail_code, row.detail_params) for row in groups] == [
        ("EPOCHS_APART", {"epoch": "5", "target_epoch": "4"})
    ]
    assert {row.detail_code for row in rows.values()} == {None}


COUNTED: dict[str, tuple[str, int, int | None, bool]] = {
    # reason, minutes, repetitions, whether it is stuck
    "long and often": ("LEARNER_NEVER_READY", 30, 3, True),
    "long, not often": ("LEARNER_NEVER_READY", 90, 2, False),
    "often, not long": ("LEARNER_NEVER_READY", 29, 9, False),
    "not counted": ("LEARNER_NEVER_READY", 90, None, False),
    "as often as it must, at once": ("PROBING_LOOP", 0, 6, True),
    "not as often": ("PROBING_LOOP", 90, 5, False),
    "of no known reason": ("SLOW_ROLL", 90, 9, False),
    "of no count": ("TASK_UNASSIGNED", 1, None, True),
    "and at once": ("ASSIGNMENT_ERROR", 0, None, True),
}


def test_what_is_counted_is_stuck_when_it_happened_often_enough(
    stage: Stage, context: ReportContext
) -> None:
    stalls = [
        fact(
            Stall,
            group_id=name,
            reason=reason,
            member_id=None,
            until_at=AT + minutes * MINUTE,
            repetitions=times,
            is_final=True,
        )
        for name, (reason, minutes, times, _) in COUNTED.items()
    ]
    rows = stuck_groups(inputs_of(stage(*stalls), context)).collect()
    assert {row.group_id: (row.reason, row.repetitions) for row in rows} == {
        name: (reason, times) for name, (reason, _, times, is_stuck) in COUNTED.items() if is_stuck
    }


def test_what_facts_say_more_is_a_sentence(stage: Stage, context: ReportContext) -> None:
    learner = fact(
        Stall,
        reason="LEARNER_NEVER_READY",
        member_id="m",
        blocked_by=["owner"],
        repetitions=4,
        since_at=AS_OF_MS - 60 * MINUTE,
        detail_code="LEARNER_STANDS",
        detail_names=["task", "last_sum", "probes"],
        detail_values=["0_3", "1400", "4"],
    )
    times = [AT, AT + 60 * MINUTE]
    bounced = fact(
        Chain,
        reason="HANDOVER_BOUNCED",
        member_id=None,
        times_at=times,
        ends_at=times,
        is_final=True,
        detail_code="BOUNCED",
        detail_names=["task", "gap"],
        detail_values=["0_1", "2"],
    )
    silent = fact(
        Stall, reason="SHUTDOWN_REQUESTED", member_id=None, detail_code="ASKED", since_at=AT
    )
    facts = stage(learner, bounced, silent)
    (row,) = stuck_members(inputs_of(facts, context)).collect()
    assert (row.detail, row.is_open, row.repetitions, row.blocked_by) == (
        "0_3 is flat: 1400 offsets over 4 probes",
        True,
        4,
        ["owner"],
    )
    assert row.detail_params == {"task": "0_3", "last_sum": "1400", "probes": "4"}
    groups = {each.reason: each for each in stuck_groups(inputs_of(facts, context)).collect()}
    assert groups["HANDOVER_BOUNCED"].detail == "0_1 went back, 2 records short"
    assert groups["HANDOVER_BOUNCED"].repetitions == 2
    asked = groups["SHUTDOWN_REQUESTED"]
    assert (asked.detail, asked.detail_code, asked.detail_params) == ("", "ASKED", {})


CHAINS: dict[str, tuple[list[int], list[tuple[int, int, int]]]] = {
    # minutes at which a member was removed -> (first, last, repetitions); three within ten minutes
    "two are none": ([0, 1], []),
    "three": ([0, 5, 10], [(0, 10, 3)]),
    "three, too far apart": ([0, 5, 11], []),
    "sliding on": ([0, 4, 8, 12, 16], [(0, 16, 5)]),
    "a loose one before and after": ([0, 30, 31, 32, 60], [(30, 32, 3)]),
    "two episodes": ([0, 1, 2, 20, 21, 22], [(0, 2, 3), (20, 22, 3)]),
    "close, but no window holds three": ([0, 6, 12, 18], []),
    "two that touch": ([0, 1, 10, 14, 19, 20], [(0, 20, 6)]),
    "two with more than a window between": ([0, 1, 2, 13, 14, 15], [(0, 2, 3), (13, 15, 3)]),
    "none": ([], []),
}


def test_chains_become_episodes(stage: Stage, context: ReportContext) -> None:
    facts = []
    for name, (minutes, _) in CHAINS.items():
        times = [AT + minute * MINUTE for minute in minutes]
        facts.append(
            fact(
                Chain,
                member_id=name,
                times_at=times,
                ends_at=[time + 1 for time in times],
                to_offset=99,
                is_final=True,
            )
        )
    found: dict[str, list[tuple[int, int, int]]] = {name: [] for name in CHAINS}
    rows = stuck_members(inputs_of(stage(*facts), context)).selectExpr(
        "*", f"unix_millis(since_at) - {AT} AS first", f"unix_millis(until_at) - {AT} - 1 AS last"
    )
    for row in rows.orderBy("first").collect():
        found[row.member_id].append(
            (row["first"] // MINUTE, row["last"] // MINUTE, row.repetitions)
        )
        assert (row.is_open, row.stuck_ms) == (False, row["last"] - row["first"] + 1)
    assert found == {name: episodes for name, (_, episodes) in CHAINS.items()}


def test_a_chain_is_open_while_its_last_repetition_is_within_the_window(
    stage: Stage, context: ReportContext
) -> None:
    window = context.thresholds.fence_loop_window_ms

    def chain(name: str, last_end: int, *, is_final: bool = False, more: int = 0) -> object:
        ends = [last_end - 2000, last_end - 1000, last_end, *[last_end + window * 2] * more]
        return fact(
            Chain,
            member_id=name,
            times_at=[end - 500 for end in ends],
            ends_at=ends,
            is_final=is_final,
        )

    facts = [
        chain("recent", AS_OF_MS - window),
        chain("old", AS_OF_MS - window - 1),
        chain("over", AS_OF_MS - 5, is_final=True),
        chain("went on alone", AS_OF_MS - 2 * window - 5, more=1),
    ]
    rows = {
        row.member_id: row for row in stuck_members(inputs_of(stage(*facts), context)).collect()
    }
    assert {
        name: (row.is_open, row.until_at is None, row.stuck_ms) for name, row in rows.items()
    } == {
        "recent": (True, True, window + 2500),
        "old": (False, False, 2500),
        "over": (False, False, 2500),
        "went on alone": (False, False, 2500),
    }


def test_epoch_storms_belong_to_the_group(stage: Stage, context: ReportContext) -> None:
    times = [AT + second * 1000 for second in range(12)]
    storm = fact(
        Chain, reason="EPOCH_STORM", member_id=None, times_at=times, ends_at=times, is_final=True
    )
    assert stuck_members(inputs_of(stage(storm), context)).count() == 0
    assert [
        (row.reason, row.repetitions, row.stuck_ms)
        for row in stuck_groups(inputs_of(stage(storm), context)).collect()
    ] == [("EPOCH_STORM", 12, 11_000)]


def test_thresholds_of_a_group_are_those_of_the_first_pattern_that_has_them(
    stage: Stage, context: ReportContext
) -> None:
    differing = (
        GroupThresholds(pattern="batch-*", limits={"slow_revocation_ms": 60_000}),
        GroupThresholds(
            pattern="*-one",
            limits={
                "slow_revocation_ms": 20_000,
                "static_limbo_ms": 90_000,
                "migration_stalled_ms": 1_000,
            },
        ),
        GroupThresholds(
            pattern="loops", limits={"fence_loop_count": 2, "fence_loop_window_ms": 1_000}
        ),
    )
    context = replace(context, thresholds_by_group=differing)
    groups = ("batch-one", "other-one", "other")
    stalls = [
        fact(
            Stall,
            group_id=group,
            reason=reason,
            member_id=f"{seconds} s",
            since_at=AT,
            until_at=AT + seconds * 1000,
        )
        for group in groups
        for reason, seconds in [
            ("SLOW_REVOCATION", 19),
            ("SLOW_REVOCATION", 20),
            ("SLOW_REVOCATION", 60),
            ("STATIC_LIMBO", 60),
        ]
    ]
    chains = [
        fact(
            Chain, group_id=group, times_at=[AT, AT + 1000], ends_at=[AT, AT + 1000], is_final=True
        )
        for group in ("loops", "other")
    ]
    found: dict[tuple[str, str], set[str]] = {}
    for row in stuck_members(inputs_of(stage(*stalls, *chains), context)).collect():
        found.setdefault((row.group_id, row.reason), set()).add(row.member_id)
    assert found == {
        ("batch-one", "SLOW_REVOCATION"): {"60 s"},
        ("other-one", "SLOW_REVOCATION"): {"20 s", "60 s"},
        ("other", "SLOW_REVOCATION"): {"19 s", "20 s", "60 s"},
        ("other", "STATIC_LIMBO"): {"60 s"},
        ("loops", "FENCE_LOOP"): {"m"},
    }
    mixed = [
        fact(GroupSnapshot, group_id=group, mixed_since_at=context.as_of_ms - 1_000)
        for group in groups
    ]
    assert {
        row.group_id
        for row in migration_progress(inputs_of(stage(*mixed), context))
        .where("is_stalled")
        .collect()
    } == {"batch-one", "other-one"}
