"""Lanes are clients: lives that follow one another share one, lives at once do not."""

from __future__ import annotations

from dataclasses import replace

from groupreplay.page.model import life as model
from groupreplay.page.model.life import GroupLife
from groupreplay.page.timeline.lanes import lanes_of, natural
from tests.support.life_rows import LIFE
from tests.support.page_rows import AS_OF_MS, NIGHT


def _member(
    member_id: str, client: str, joined: int, ended: int | None = None, instance: str | None = None
) -> model.Member:
    return model.Member(
        life=LIFE,
        member_id=member_id,
        instance_id=instance,
        client_id=client,
        client_host="/h",
        member_protocol="consumer",
        joined_at_ms=joined,
        ended_at_ms=ended,
        end_reason="OPEN" if ended is None else "LEFT",
    )


def _life(*members: model.Member) -> GroupLife:
    return GroupLife(
        cluster="c",
        logical_date=NIGHT,
        group_id="g",
        from_at_ms=10,
        as_of_ms=AS_OF_MS,
        version="0",
        members=members,
    )


def test_a_rolled_client_stays_in_its_lane() -> None:
    lanes = lanes_of(
        _life(_member("a", "app", 5, 20), _member("b", "app", 20), _member("c", "x", 7))
    )
    assert [[each.member_id for each in lane.members] for lane in lanes.shown] == [
        ["a", "b"],
        ["c"],
    ]
    assert lanes.row == {"a": 0, "b": 0, "c": 1}
    assert lanes.client("b") == "app"
    assert lanes.client("somebody-who-is-not-there") == "somebody-who-is-"
    assert lanes.client(None) == "unknown"


def test_a_client_that_is_there_twice_has_two_lanes() -> None:
    lanes = lanes_of(_life(_member("a", "app", 5, 30), _member("b", "app", 20)))
    assert [lane.twice for lane in lanes.shown] == [False, True]


def test_an_instance_is_one_lane_whatever_its_client() -> None:
    lanes = lanes_of(
        _life(_member("a", "app", 5, 20, instance="i-1"), _member("b", "new", 30, instance="i-1"))
    )
    assert [lane.name for lane in lanes.shown] == ["i-1"]


def test_who_was_gone_before_has_no_lane() -> None:
    assert lanes_of(_life(_member("a", "app", 1, 9))).shown == ()


def test_where_there_are_too_many_those_to_whom_something_happened_stay() -> None:
    members = [_member(f"m{place}", f"app-{place}", 5) for place in range(12)]
    stuck = model.Stuck(
        life=LIFE, reason="FENCE_LOOP", member_id="m11", since_at_ms=20, stuck_ms=5, is_open=True
    )
    lanes = lanes_of(replace(_life(*members), stuck=(stuck,)), most=3)
    assert "m11" in lanes.row
    assert (len(lanes.shown), lanes.left_out) == (3, 9)


def test_numbers_in_names_sort_as_numbers() -> None:
    names = ["app-10", "app-2", None, "app-2a", "٣-app", "app-" + "9" * 30]
    assert sorted(names[:2], key=natural) == ["app-2", "app-10"]
    assert len(sorted(names, key=natural)) == 6
