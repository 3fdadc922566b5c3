"""The row of one generation of a classic Streams group. Source: docs/streams.md,
streams_rebalances; AssignorError.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groupreplay.replay.kept.streams_tasks import CopyRun, Generation, MemberTasks, StreamsState
from groupreplay.replay.life import CLASSIC, Life
from groupreplay.replay.streams.classic.rebalance_causes import RebalanceCause
from groupreplay.replay.streams.classic.rebalance_rows import (
    assignor_error,
    commit_gap,
    count_ready,
    count_tasks,
    new_row,
)
from groupreplay.replay.streams_facts import StreamsRebalance

ONE, TWO, THREE = (("0", number) for number in range(3))
AT = 9_000


def thread(member_id: str, *given: tuple[str, int], **more: Any) -> MemberTasks:
    made = MemberTasks(member_id, None, "c", "/h", member_id[0], ("foo",))
    return replace(made, given=frozenset(given), **more)


def generation(*members: MemberTasks, **more: Any) -> Generation:
    made = Generation(5, AT, 50, AT - 400, "a", {each.member_id: each for each in members})
    return replace(made, **more)


def row(
    now: Generation, cause: str = "JOIN", before: Generation | None = None, **state: Any
) -> StreamsRebalance:
    found = RebalanceCause(cause, "b", "EXACT", [])
    life = Life("g", 0, 0, CLASSIC)
    return new_row(life, StreamsState(**state), before, now, found, observed=True)


def test_a_row_says_who_and_how_many() -> None:
    told = row(generation(thread("a", ONE), thread("a2"), thread("b", TWO)))
    assert (told.epoch, told.decided_at, told.join_ended_at, told.sync_ms) == (5, AT, AT - 400, 400)
    assert (told.members, told.processes) == (3, 2)
    assert (told.cause_member_id, told.cause_process_id) == ("b", "b")
    assert (told.leader_member_id, told.leader_process_id) == ("a", "a")
    assert told.error_code is None


def test_the_process_of_one_that_left_is_that_of_the_generation_before() -> None:
    before = generation(thread("a"), thread("b"))
    assert row(generation(thread("a")), "LEFT_OR_FENCED", before).cause_process_id == "b"


def test_join_phases_are_measured_from_what_asked_for_them() -> None:
    before = generation(thread("a", next_ms=8_000), at=5_000)
    probed = row(generation(thread("a")), "PROBING", before)
    assert (probed.scheduled_at, probed.join_ms) == (8_000, 600)
    followed = row(generation(thread("a")), "FOLLOWUP", replace(before, at=7_000))
    assert (followed.scheduled_at, followed.join_ms) == (None, 1_600)
    assert row(generation(thread("a"))).join_ms is None


def test_a_record_that_does_not_say_when_its_join_phase_ended_has_no_times_of_it() -> None:
    told = row(generation(thread("a"), join_ended_at=-1), "FOLLOWUP", generation(thread("a")))
    assert (told.join_ended_at, told.sync_ms, told.join_ms) == (None, None, None)


@pytest.mark.parametrize(
    ("members", "next_kind", "outcome", "who"),
    [
        ([thread("a"), thread("b")], "NONE", "STABLE", None),
        ([thread("a", next_ms=0), thread("b")], "FOLLOWUP", "FOLLOWUP_DUE", "a"),
        ([thread("a", next_ms=0), thread("b", next_ms=0)], "FOLLOWUP", "FOLLOWUP_DUE", None),
        ([thread("a", owned=frozenset({ONE}))], "FOLLOWUP", "FOLLOWUP_DUE", None),
        ([thread("a", version=11, used_version=10)], "VERSION", "FOLLOWUP_DUE", None),
        ([thread("a", next_ms=AT + 600_004), thread("b")], "PROBING", "PROBING_DUE", "a"),
        ([thread("a", next_ms=0, assigned_error=1)], "FOLLOWUP", "ERROR", "a"),
    ],
)
def test_what_comes_next(
    members: list[MemberTasks], next_kind: str, outcome: str, who: str | None
) -> None:
    told = row(generation(*members))
    assert (told.next_kind, told.outcome, told.next_member_id) == (next_kind, outcome, who)


def test_an_interval_of_probes_is_whole_seconds() -> None:
    told = row(generation(thread("a", next_ms=AT + 600_004)))
    assert (told.next_at, told.probing_interval_ms) == (AT + 600_004, 600_000)


@pytest.mark.parametrize(
    ("assignor", "confidence"),
    [("UNKNOWN", None), ("HIGH_AVAILABILITY", "EXACT"), ("FALLBACK", "INFERRED")],
)
def test_only_the_highly_available_assignor_is_known_for_sure(
    assignor: str, confidence: str | None
) -> None:
    assert row(generation(thread("a")), assignor=assignor).assignor_confidence == confidence


def test_versions_are_those_that_members_wrote() -> None:
    told = row(
        generation(thread("a", version=10, usable_version=10), thread("b", version=11), thread("c"))
    )
    assert (told.min_version, told.max_version, told.common_version) == (10, 11, 10)
    unread = row(generation(thread("a")))
    assert (unread.min_version, unread.max_version, unread.common_version) == (None, None, None)


@pytest.mark.parametrize(
    ("code", "name"), [(0, None), (1, "INCOMPLETE_SOURCE_TOPIC_METADATA"), (9, "ERROR_9")]
)
def test_errors_have_kafkas_names(code: int, name: str | None) -> None:
    assert assignor_error(code) == name


def test_tasks_are_counted_where_they_are() -> None:
    now = generation(thread("a", ONE), thread("b"), owed={TWO: "b"}, missing=frozenset({THREE}))
    told = row(now)
    state = StreamsState(assignor="HIGH_AVAILABILITY", stateful={"0": "SUM_SEEN"})
    count_tasks(told, state, now, {ONE: "b", TWO: "b"})
    assert (told.tasks, told.tasks_active, told.tasks_owed, told.tasks_missing) == (3, 1, 1, 1)
    assert (told.tasks_misplaced, told.imbalance_tenths) == (1, 0)
    alone = generation(thread("a", ONE))
    told = row(alone)
    count_tasks(told, state, alone, {ONE: "b"})
    assert (told.tasks_misplaced, told.imbalance_tenths) == (None, None)


def test_imbalance_is_the_greatest_distance_from_a_share_by_threads() -> None:
    now = generation(thread("a", ONE, TWO), thread("a2"), thread("b", THREE))
    told = row(now)
    count_tasks(told, StreamsState(stateful={"0": "SUM_SEEN"}), now, {})
    assert told.imbalance_tenths == 0
    now = generation(thread("a", ONE, TWO, THREE), thread("b"))
    count_tasks(told, StreamsState(stateful={"0": "SUM_SEEN"}), now, {})
    assert told.imbalance_tenths == 1_000


def test_a_copy_is_ready_when_its_task_is_newly_its_own_or_owed_to_it() -> None:
    state = StreamsState(runs={ONE: {"b": CopyRun(1_000)}, TWO: {"a": CopyRun(1_000)}})
    now = generation(thread("a"), thread("b", ONE), owed={TWO: "a"})
    assert count_ready(state, None, now) == 2
    assert count_ready(state, generation(thread("a"), owed={TWO: "a"}), now) == 1


def test_commits_pause_from_the_last_before_the_join_phase_ended() -> None:
    assert commit_gap([1_000, 4_000, 6_000], 5_000, 9_000) == 5_000
    assert commit_gap([6_000], 5_000, 9_000) is None
