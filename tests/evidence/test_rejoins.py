"""Members that join again: cases of scenarios/rejoins.yaml, and those of recordings against what
the clients saw.

Holds evidence/open_rejoins.py, evidence/join_answers.py.
"""

from __future__ import annotations

import gzip
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.evidence.memory import FORGET_MS, Line
from groupreplay.evidence.open_rejoins import ANSWERED_MS
from groupreplay.evidence.rejoins import HEARTBEAT, JOIN_GROUP, SYNC_GROUP
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG, LogEvent
from tests.support.log_lines import proved, recorded_evidence
from tests.support.recordings import recordings
from tests.support.yaml_text import safe_load

SCENARIOS = Path(__file__).parents[1] / "scenarios" / "rejoins.yaml"
CASES = {case["name"]: case for case in safe_load(SCENARIOS.read_text(encoding="utf-8"))["cases"]}
PROTOCOLS = {
    **dict.fromkeys((HEARTBEAT, JOIN_GROUP, SYNC_GROUP, "LEAVE_GROUP"), "classic"),
    "CONSUMER_GROUP_HEARTBEAT": "consumer",
}


def request(at: int, api: str, member: str, said: dict[str, Any]) -> Line:
    event = LogEvent(
        event=api,
        at_ms=at,
        started_ms=said.get("came", at),
        group_id="g",
        member_id=member or None,
        other_member_id=said.get("answered"),
        instance_id=said.get("instance"),
        protocol=PROTOCOLS.get(api),
        epoch=said.get("epoch"),
        response_epoch=said.get("to"),
        member_ids=(said["leader"],) if "leader" in said else (),
        error_code=said.get("error", 0),
    )
    return Line(event, said.get("broker", 1), REQUEST_LOG, "requests", at, at)


def says(at: int, event: str, member: str | None, said: dict[str, Any] | None = None) -> Line:
    named, more = (member,) if member else (), said or {}
    told = LogEvent(
        event=event,
        at_ms=at,
        group_id="g",
        member_id=member,
        member_ids=named,
        protocol=more.get("protocol"),
        epoch=more.get("epoch"),
        detail=more.get("detail"),
    )
    return Line(told, more.get("broker", 1), SERVER_LOG, "server", at, at)


def lines_of(case: dict[str, Any]) -> list[Line]:
    lines = [request(*each) for each in case["requests"]]
    lines += [says(*each) for each in case.get("says", ())]
    return sorted(lines, key=lambda line: line.event.at_ms)


def rejoins(lines: list[Line], newest: int, cuts: tuple[int, ...] = ()) -> list[Rejoin]:
    found = [each for each in proved("g", lines, newest, cuts) if isinstance(each, Rejoin)]
    return sorted(found, key=lambda each: (each.position, each.member_id))


def told(found: list[Rejoin]) -> list[list[Any]]:
    return [
        [
            each.member_id,
            *(each.generation, each.told_at, each.joined_at, each.answered_at),
            *(each.synced_at, each.new_generation),
        ]
        for each in found
    ]


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    lines = lines_of(CASES[name])
    assert told(rejoins(lines, lines[-1].last_ms)) == CASES[name]["rejoins"]


@pytest.mark.parametrize("name", CASES)
def test_nights_cut_wherever_they_like(name: str) -> None:
    """The state goes to bytes and back at any two places."""
    lines = lines_of(CASES[name])
    for cuts in combinations(range(1, len(lines)), min(2, len(lines) - 1)):
        assert told(rejoins(lines, lines[-1].last_ms, cuts)) == CASES[name]["rejoins"], cuts


def test_a_row_is_final_when_no_line_can_add_to_it() -> None:
    """By the sync, by the departure, or after a day of silence."""
    synced = lines_of(CASES["told-and-joined"])[:-1]
    assert [each.is_final for each in rejoins(synced, 3_000)] == [True]
    assert [each.is_final for each in rejoins(synced[:-1], 3_000)] == [False]
    left = lines_of(CASES["told-and-left"])[:2]
    assert [each.is_final for each in rejoins(left, 12_000)] == [True]
    assert [each.is_final for each in rejoins(left[:1], FORGET_MS)] == [False]
    assert [each.is_final for each in rejoins(left[:1], 2_001 + FORGET_MS)] == [True]


def test_a_lost_generation_is_over_a_minute_after_the_next_leader_let_its_member_in() -> None:
    lost = lines_of(CASES["next-leader-knows-nothing-of-the-generation"])
    assert [each.is_final for each in rejoins(lost, 51_310)] == [False, True]
    assert [each.is_final for each in rejoins(lost, 48_284 + ANSWERED_MS)] == [True, True]


def test_who_had_its_assignment_by_a_clock_ahead_read_until_it_was_told() -> None:
    lines = lines_of(CASES["former-leader-has-a-clock-ahead-and-the-next-tells-meanwhile"])
    _, told = rejoins(lines, 80_000)
    assert (told.is_unassigned, told.unassigned_since) == (False, None)
    _, told = rejoins(
        [each for each in lines if each.event.epoch != 22 or each.broker == 3], 80_000
    )
    assert (told.is_unassigned, told.unassigned_since) == (True, 78_858)


def test_who_is_told_by_the_answer_to_its_sync_had_no_assignment() -> None:
    """Whatever heartbeats were granted meanwhile. A heartbeat alone does not say so: the line of its
    assignment may be missing.
    """
    lines = lines_of(CASES["heartbeats-and-no-assignment"])
    _, told = rejoins(lines, 20_000)
    assert (told.is_unassigned, told.unassigned_since) == (True, 2_000)
    said = request(8_510, HEARTBEAT, "a", {"epoch": 4, "error": 27})
    _, told = rejoins([*lines[:3], said, *lines[4:]], 20_000)
    assert (told.is_unassigned, told.unassigned_since) == (False, None)


def of_group(recording: str, group_id: str) -> list[Rejoin]:
    return [
        each
        for each in recorded_evidence(recording)
        if isinstance(each, Rejoin) and each.group_id == group_id
    ]


def times(recording: str, group_id: str) -> list[int]:
    """How long members took that were told, ascending."""
    return sorted(
        max(0, each.joined_at - each.told_at)
        for each in of_group(recording, group_id)
        if each.told_at is not None and each.joined_at is not None
    )


def test_the_slow_member_of_a_recording_is_the_slow_one() -> None:
    """Story classic_slow_join: a callback of 9 s, once of a member that is dropped for it."""
    assert times("classic-3.9", "classic-eager") == [0, 1, 1, 1, 3, 13]
    found = of_group("classic-3.9", "classic-slow-join")
    slow = [each for each in found if (each.client_id or "").endswith("slow") and each.told_at]
    assert [(each.joined_at or 0) - (each.told_at or 0) for each in slow] == [
        9000,
        9005,
        9002,
        9001,
    ]
    (dropped,) = [each for each in found if each.joined_at is None]
    assert (dropped.client_id, dropped.generation) == ("classic-slow-join-dropped", 3)
    waits = [
        (each.answered_at or 0) - (each.joined_at or 0)
        for each in found
        if (each.client_id or "").endswith("other") and each.generation == 2
    ]
    assert waits == [9019]


def test_a_classic_member_of_a_mixed_group_is_charged_with_its_callback() -> None:
    """Story upgrade_slow: it takes 6 s to give partitions up, between two joins."""
    assert times("migration-4.3", "upgrade-slow") == [19, 6019]


@pytest.mark.parametrize("recording", sorted(recordings()))
def test_rejoins_of_recordings_go_one_way(recording: str) -> None:
    found = [each for each in recorded_evidence(recording) if isinstance(each, Rejoin)]
    for each in found:
        assert each.told_at is not None or each.joined_at is not None
        assert (each.joined_at is None) == (each.answered_at is None)
        order = [at for at in (each.joined_at, each.answered_at, each.synced_at) if at is not None]
        assert order == sorted(order), each
        if each.told_at is not None and each.joined_at is not None:
            assert each.joined_at - each.told_at >= -2, each  # the line is written a little later
            assert (each.new_generation or 0) >= (each.generation or 0), each


@pytest.mark.parametrize("recording", ["classic-3.9", "scala-3.9"])
def test_a_slow_join_has_its_callback_in_it(recording: str) -> None:
    """What clients saw: of each join that took long, a revocation callback of that member lay in
    it, and filled it.
    """
    seen = _callbacks(recording)
    slow = [
        (each.client_id or "", each.told_at, each.joined_at)
        for each in recorded_evidence(recording)
        if isinstance(each, Rejoin)
        and each.told_at is not None
        and each.joined_at is not None
        and each.joined_at - each.told_at > 1_000
    ]
    assert len(slow) >= 3
    for client, told_at, joined_at in slow:
        assert any(
            told_at - 100 <= begin <= end <= joined_at + 100
            and (joined_at - told_at) - (end - begin) < 500
            for begin, end in seen.get(client, [])
        ), (client, told_at, joined_at)


def _callbacks(recording: str) -> dict[str, list[tuple[int, int]]]:
    """Client id -> begin and end of each of its revocation callbacks."""
    path = recordings()[recording] / "truth" / "members.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    found: dict[str, list[tuple[int, int]]] = {}
    begun: dict[str, int] = {}
    for event in events:
        if event["event"] == "revoke_begin":
            begun[event["member"]] = event["at"]
        elif event["event"] == "revoke_end" and event["member"] in begun:
            found.setdefault(event["member"], []).append((begun.pop(event["member"]), event["at"]))
    return found


@pytest.mark.parametrize(
    ("name", "new"),
    [("told-and-joined", []), ("joined-without-being-told", ["a"]), ("told-and-left", ["a", "b"])],
)
def test_who_is_new_had_no_request_granted_before(name: str, new: list[str]) -> None:
    lines = lines_of(CASES[name])
    found = rejoins(lines, lines[-1].last_ms)
    assert [each.member_id for each in found if each.is_new] == new


@pytest.mark.parametrize(
    ("name", "unassigned"),
    [
        ("told-and-joined", []),
        ("another-rebalance-before-the-sync", [("a", 4, 2000)]),
        (
            "leaders-that-never-sent-an-assignment",
            [("a", 4, 2000), ("b", 4, 900), ("a", 5, 2000)],
        ),
        ("generations-that-were-never-synced", []),
    ],
)
def test_who_is_told_by_its_sync_has_no_assignment(
    name: str, unassigned: list[tuple[str, int, int]]
) -> None:
    """`decisions.md`, departure_waves: it read nothing since it was told to join the generation
    whose assignment it never had."""
    lines = lines_of(CASES[name])
    found = rejoins(lines, lines[-1].last_ms)
    assert unassigned == [
        (each.member_id, each.generation, each.unassigned_since)
        for each in found
        if each.is_unassigned
    ]


def _any_request() -> st.SearchStrategy[tuple[int, str, dict[str, Any]]]:
    """How long after the one before, which request, and what it says."""
    said = {
        "broker": st.integers(1, 3),
        "epoch": st.integers(1, 6),
        "to": st.integers(1, 6),
        "error": st.sampled_from((0, 0, 27)),
    }
    api = st.sampled_from((HEARTBEAT, JOIN_GROUP, SYNC_GROUP, "LEAVE_GROUP"))
    waited = st.integers(0, 3_000)
    after = st.sampled_from((1, 10, 3_000, 70_000))
    return st.builds(
        lambda ms, name, fields, wait: (ms, name, {**fields, "wait": wait}),
        after,
        api,
        st.fixed_dictionaries(said),
        waited,
    )


@given(requests=st.lists(_any_request(), max_size=14), cut=st.integers(0, 14))
def test_answers_of_three_brokers_in_any_order_have_one_row_each(
    requests: list[tuple[int, str, dict[str, Any]]], cut: int
) -> None:
    lines, at = [], 100_000
    for after, api, said in requests:
        at += after
        lines.append(request(at, api, "a", {**said, "came": at - said["wait"]}))
    found = rejoins(lines, at + FORGET_MS)
    answered = [each.answered_at for each in found if each.answered_at is not None]
    asked = [each.told_at for each in found if each.told_at is not None]
    assert len(set(answered)) == len(answered)
    assert len(set(asked)) == len(asked)
    assert all(each.told_at is not None or each.answered_at is not None for each in found)
    assert told(rejoins(lines, at + FORGET_MS, (min(cut, len(lines)),))) == told(found)
