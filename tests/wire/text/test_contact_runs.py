"""Heartbeats reduced before the shuffle: nothing that a run keeps may differ from what the lines
said, wherever files and nights cut them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.records.log_events import LogEvent
from groupreplay.wire.text.contact_runs import ContactReducer, ContactRun, is_routine
from tests.support.contact_runs import merge

Key = tuple[Any, ...]
Placed = list[tuple[LogEvent, int]]


def event(
    api: str = "HEARTBEAT", at_ms: int = 0, member: str | None = "m", **said: Any
) -> LogEvent:
    fields: dict[str, Any] = {
        "event": api,
        "at_ms": at_ms,
        "group_id": "g",
        "member_id": member,
        "error_code": 0,
        "epoch": 3,
    }
    return LogEvent(**(fields | said))


def rows(events: list[LogEvent], max_open: int = 100) -> list[ContactRun]:
    reducer = ContactReducer(max_open)
    return [
        row for position, one in enumerate(events) for row in reducer.take(one, position)
    ] + reducer.close()


def shape(found: list[ContactRun]) -> list[tuple[Any, ...]]:
    """(API, first and last position, requests, longest gap) in the order of the first."""
    return sorted(
        (
            (row.event.event, row.position, row.last_position, row.requests, row.longest_gap_ms)
            for row in found
        ),
        key=lambda row: row[1],
    )


def test_heartbeats_and_commits_of_a_member_are_runs_beside_each_other() -> None:
    beats = [event(at_ms=at) for at in (0, 3000, 9000)]
    commits = [event("OFFSET_COMMIT", at) for at in (100, 5100)]
    found = rows([beats[0], commits[0], beats[1], commits[1], beats[2]])
    assert shape(found) == [("HEARTBEAT", 0, 4, 3, 6000), ("OFFSET_COMMIT", 1, 3, 2, 5000)]
    assert [(row.first_ms, row.last_ms) for row in found] == [(0, 9000), (100, 5100)]
    assert found[0].event is beats[0]


@pytest.mark.parametrize(
    ("one", "routine"),
    [
        (event(), True),
        (event(error_code=27), True),
        (event(error_code=25), False),
        (event("CONSUMER_GROUP_HEARTBEAT"), True),
        (event("SHARE_GROUP_HEARTBEAT"), True),
        (event("STREAMS_GROUP_HEARTBEAT"), True),
        (event("CONSUMER_GROUP_HEARTBEAT", epoch=0), False),
        (event("CONSUMER_GROUP_HEARTBEAT", epoch=-1), False),
        (event("SHARE_GROUP_HEARTBEAT", epoch=-2), False),
        (event("STREAMS_GROUP_HEARTBEAT", epoch=None), False),
        (event("CONSUMER_GROUP_HEARTBEAT", error_code=27), False),
        (event("OFFSET_COMMIT"), True),
        (event("TXN_OFFSET_COMMIT"), True),
        (event("OFFSET_COMMIT", epoch=-1, member=None), True),
        (event("OFFSET_COMMIT", error_code=113), False),
        (event("JOIN_GROUP"), False),
        (event("SYNC_GROUP"), False),
        (event("LEAVE_GROUP"), False),
        (event("DELETE_GROUPS"), False),
        (event("OFFSET_DELETE"), False),
    ],
)
def test_what_is_routine(one: LogEvent, routine: bool) -> None:
    assert is_routine(one) is routine
    found = rows([one, one])
    assert [row.requests for row in found] == ([2] if routine else [1, 1])
    assert found[0].event is one


def test_what_is_no_routine_ends_the_runs_of_its_member_and_of_no_other() -> None:
    found = rows(
        [
            event(),
            event("OFFSET_COMMIT"),
            event(member="n"),
            event("SYNC_GROUP"),
            event(),
            event("OFFSET_COMMIT"),
            event(member="n"),
        ]
    )
    assert shape(found) == [
        ("HEARTBEAT", 0, 0, 1, 0),
        ("OFFSET_COMMIT", 1, 1, 1, 0),
        ("HEARTBEAT", 2, 6, 2, 0),
        ("SYNC_GROUP", 3, 3, 1, 0),
        ("HEARTBEAT", 4, 4, 1, 0),
        ("OFFSET_COMMIT", 5, 5, 1, 0),
    ]


@pytest.mark.parametrize(
    "said",
    [
        "error_code",
        "epoch",
        "response_epoch",
        "instance_id",
        "other_member_id",
        "client_id",
        "client_host",
        "principal",
        "software_name",
        "software_version",
    ],
)
def test_a_run_ends_where_something_else_is_said(said: str) -> None:
    changed: Any = 27 if said == "error_code" else 9 if said.endswith("epoch") else "other"
    found = rows([event(), event(), replace(event(), **{said: changed}), event()])
    assert [row.requests for row in found] == [2, 1, 1]


def test_committers_without_a_member_are_told_apart_by_client() -> None:
    found = rows([event("OFFSET_COMMIT", member=None, client_id=client) for client in "abab"])
    assert [(row.event.client_id, row.requests) for row in found] == [("a", 2), ("b", 2)]


def test_no_more_members_are_held_than_allowed() -> None:
    reducer = ContactReducer(max_open=2)
    assert [reducer.take(event(member=member), at) for at, member in enumerate("aba")] == [
        [],
        [],
        [],
    ]
    assert [(row.event.member_id, row.requests) for row in reducer.take(event(member="c"), 3)] == [
        ("a", 2),
        ("b", 1),
    ]
    assert [(row.event.member_id, row.position) for row in reducer.close()] == [("c", 3)]
    assert reducer.close() == []


def test_a_clock_that_goes_back_makes_no_gap() -> None:
    (row,) = rows([event(at_ms=at) for at in (100, 200, 50, 90)])
    assert (row.first_ms, row.last_ms, row.longest_gap_ms) == (100, 90, 100)


# ---------------------------------------------------------------- exact, wherever it is cut

EVENTS = st.lists(
    st.builds(
        lambda api, member, code, epoch, wait: (api, member, code, epoch, wait),
        st.sampled_from(["HEARTBEAT", "CONSUMER_GROUP_HEARTBEAT", "OFFSET_COMMIT", "SYNC_GROUP"]),
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from([0, 0, 0, 27, 25]),
        st.sampled_from([3, 3, 3, 4, 0, -1]),
        st.integers(-5, 50),
    ),
    max_size=40,
)


def placed(drawn: list[tuple[str, str | None, int, int, int]]) -> Placed:
    at_ms, made = 1000, []
    for position, (api, member, code, epoch, wait) in enumerate(drawn):
        at_ms += wait
        made.append((event(api, at_ms, member, error_code=code, epoch=epoch), position))
    return made


def nights(events: Placed, cuts: list[int], max_open: int) -> list[ContactRun]:
    """Each night's rows by a reducer of its own, night after night, rows of a night by where they
    begin.
    """
    edges = [0, *sorted(min(cut, len(events)) for cut in cuts), len(events)]
    found = []
    for start, end in pairwise(edges):
        reducer = ContactReducer(max_open)
        night = [
            row for one, position in events[start:end] for row in reducer.take(one, position)
        ] + reducer.close()
        found += sorted(night, key=lambda row: row.position)
    return found


def raw_run(events: Placed) -> ContactRun:
    times = [one.at_ms for one, _ in events]
    gap = max([0, *(later - earlier for earlier, later in pairwise(times))])
    return ContactRun(
        events[0][0], events[0][1], times[0], times[-1], len(events), gap, events[-1][1]
    )


def by_key(row: ContactRun) -> Key:
    return row.event.group_id, row.event.member_id, row.event.event


@given(EVENTS, st.lists(st.integers(0, 40), max_size=4), st.integers(1, 4))
def test_merged_runs_are_the_raw_lines(drawn: list[Any], cuts: list[int], max_open: int) -> None:
    events = placed(drawn)
    raw: dict[Key, Placed] = defaultdict(list)
    for one, position in events:
        raw[(one.group_id, one.member_id, one.event)].append((one, position))
    runs: dict[Key, list[ContactRun]] = defaultdict(list)
    for row in nights(events, cuts, max_open):
        runs[by_key(row)].append(row)
    assert {key: reduce(merge, of_key) for key, of_key in runs.items()} == {
        key: raw_run(of_key) for key, of_key in raw.items()
    }


@given(EVENTS, st.lists(st.integers(0, 40), max_size=4), st.integers(1, 4))
def test_every_row_says_what_its_lines_said(
    drawn: list[Any], cuts: list[int], max_open: int
) -> None:
    """Runs of a member and API do not overlap, all of a run say the same, and no event that is no
    routine lies between.
    """
    events = placed(drawn)
    found = nights(events, cuts, max_open)
    assert sum(row.requests for row in found) == len(events)
    for row in found:
        if not is_routine(row.event):
            assert (row.requests, row.position) == (1, row.last_position)
        of_member = [
            one
            for one, _ in events[row.position : row.last_position + 1]
            if one.member_id == row.event.member_id
        ]
        of_api = [one for one in of_member if one.event == row.event.event]
        assert len(of_api) == row.requests
        assert {(one.error_code, one.epoch) for one in of_api} == {
            (row.event.error_code, row.event.epoch)
        }
        assert all(is_routine(one) for one in of_member) or len(of_member) == 1


RUNS = st.builds(
    ContactRun,
    st.just(event()),
    st.integers(0, 9),
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(1, 9),
    st.integers(0, 99),
    st.integers(0, 9),
)


@given(RUNS, RUNS, RUNS)
def test_the_order_of_merging_does_not_matter(
    one: ContactRun, two: ContactRun, three: ContactRun
) -> None:
    assert merge(merge(one, two), three) == merge(one, merge(two, three))
