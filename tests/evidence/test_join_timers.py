"""When a consumer group has removed a member of the classic protocol that did not join in time, in
a line that is missing.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG, LogEvent
from tests.support.log_lines import proved

TIMEOUT_MS = 60_000
PROTOCOLS = {"CONSUMER_GROUP_HEARTBEAT": "consumer", "OFFSET_COMMIT": None}


def asked(at: int, api: str, member: str = "a", **said: Any) -> Line:
    fields: dict[str, Any] = {
        "started_ms": at - 2,
        "group_id": "g",
        "member_id": member,
        "protocol": PROTOCOLS.get(api, "classic"),
        "error_code": 0,
    }
    if api == "JOIN_GROUP":
        fields["rebalance_timeout_ms"] = TIMEOUT_MS
    broker, until = said.pop("broker", 1), said.pop("until", at)
    event = LogEvent(event=api, at_ms=at, **{**fields, **said})
    return Line(event, broker, REQUEST_LOG, f"requests-{broker}", at, until)


def logged(at: int, event: str, broker: int = 1, **said: Any) -> Line:
    told = LogEvent(event=event, at_ms=at, group_id="g", **said)
    return Line(told, broker, SERVER_LOG, f"server-{broker}", at, at)


def consumer(at: int, until: int, epoch: int = 5) -> Line:
    return asked(at, "CONSUMER_GROUP_HEARTBEAT", "c", epoch=epoch, until=until)


LET_IN = [asked(9_000, "JOIN_GROUP", response_epoch=3), asked(9_010, "SYNC_GROUP", epoch=3)]
TOLD = asked(20_000, "HEARTBEAT", epoch=3, error_code=27, until=77_000)
BACK = asked(80_300, "JOIN_GROUP", response_epoch=6)
CONSUMERS = consumer(10_000, 79_000)


def joins(*lines: Line) -> list[tuple[int | None, int | None]]:
    """(told at, joined at) of each row, wherever the lines are cut."""
    ordered = sorted(lines, key=lambda line: line.event.at_ms)
    found = [
        [
            (each.told_at, each.joined_at)
            for each in proved("g", ordered, 100_000, (cut,))
            if isinstance(each, Rejoin)
        ]
        for cut in range(len(ordered))
    ]
    rows = [sorted(each, key=lambda row: (row[1] or row[0] or 0, row[0] or 0)) for each in found]
    assert all(each == rows[0] for each in rows)
    return rows[0][1:]


APART = [(20_000, None), (None, 80_298)]
ANSWER = [(20_000, 80_298)]


def test_who_joins_when_its_time_is_up_was_removed() -> None:
    assert joins(*LET_IN, CONSUMERS, TOLD, BACK) == APART


def test_who_is_told_by_its_sync_has_as_long() -> None:
    told = asked(20_000, "SYNC_GROUP", epoch=3, error_code=27)
    assert joins(LET_IN[0], CONSUMERS, told, BACK) == APART


def test_who_joins_in_time_answers() -> None:
    back = asked(79_900, "JOIN_GROUP", response_epoch=6)
    assert joins(*LET_IN, CONSUMERS, TOLD, back) == [(20_000, 79_898)]


def test_nobody_knows_how_long_who_was_let_in_before_the_log_begins_may_take() -> None:
    first = asked(9_000, "HEARTBEAT", epoch=2, error_code=27)
    assert (20_000, 80_298) in joins(first, CONSUMERS, TOLD, BACK)


@pytest.mark.parametrize(
    "heard",
    [
        [consumer(10_000, 30_000)],  # it may be downgraded since
        [consumer(30_000, 79_000)],  # it may have been a classic group that told it
        [CONSUMERS, consumer(79_500, 79_500, epoch=-1)],
        [CONSUMERS, asked(79_500, "LEAVE_GROUP", "c")],
    ],
)
def test_a_classic_group_waits_for_the_slowest(heard: list[Line]) -> None:
    assert joins(*LET_IN, *heard, TOLD, BACK) == ANSWER


@pytest.mark.parametrize(
    "heard",
    [
        asked(50_000, "HEARTBEAT", "b", epoch=5, error_code=16),
        asked(50_000, "HEARTBEAT", "b", epoch=5, error_code=14),
        asked(50_000, "HEARTBEAT", "b", epoch=5, broker=2),
        logged(50_000, "GROUP_LOADED"),
        logged(50_000, "GROUP_UNLOADED", 2),
    ],
)
def test_a_coordinator_that_loads_the_group_begins_anew(heard: Line) -> None:
    assert joins(*LET_IN, CONSUMERS, TOLD, heard, BACK) == ANSWER


def test_the_log_of_the_coordinator_would_have_the_removal() -> None:
    let_in = logged(80_299, "MEMBER_JOINED", member_id="a", protocol="classic")
    assert joins(*LET_IN, CONSUMERS, TOLD, let_in, BACK) == ANSWER


@pytest.mark.parametrize(
    "heard",
    [
        asked(80_100, "OFFSET_COMMIT", epoch=3),
        asked(80_100, "HEARTBEAT", epoch=3),
        asked(80_100, "HEARTBEAT", epoch=3, error_code=27),
    ],
)
def test_who_is_a_member_when_its_time_is_up_has_more_of_it(heard: Line) -> None:
    assert joins(*LET_IN, CONSUMERS, TOLD, heard, BACK) == ANSWER


def test_a_join_that_brings_a_member_no_further_stops_the_time() -> None:
    """It gave partitions up first; told again, it has as long again."""
    tried = asked(70_000, "JOIN_GROUP", response_epoch=3)
    told = asked(71_000, "HEARTBEAT", epoch=3, error_code=27)
    assert joins(*LET_IN, CONSUMERS, TOLD, tried, told, BACK) == ANSWER
    back, consumers = asked(131_100, "JOIN_GROUP", response_epoch=6), consumer(10_000, 130_000)
    assert joins(*LET_IN, consumers, TOLD, tried, told, back) == [(20_000, 69_998), (None, 131_098)]
