"""Rows of the queries become the models of pages, in an order of their own."""

from __future__ import annotations

import random
from typing import Any

from groupreplay.page.model.fleet import Fleet
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.read import groups_in_trouble, read_fleet, read_group
from tests.support.page_rows import AS_OF_MS, NIGHT, made_fleet

Rows = dict[str, list[dict[str, Any]]]


def fleet(rows: Rows) -> Fleet:
    return read_fleet(rows, cluster="c", logical_date=NIGHT, as_of_ms=9, since_at_ms=1, version="0")


def life(rows: Rows) -> GroupLife:
    return read_group(
        rows,
        cluster="c",
        logical_date=NIGHT,
        group_id="g",
        from_at_ms=1,
        as_of_ms=9,
        version="0",
    )


def line(group_id: str, **more: Any) -> dict[str, Any]:
    usual = {"phase": "CLASSIC", "members_consumer": 0, "members_total": 1}
    return {"group_id": group_id, **usual, **more}


def test_a_night_without_rows_has_an_overview() -> None:
    made = fleet({})
    assert (made.groups, made.groups_total, made.half_way_total) == ((), 0, 0)
    assert made.seen.inputs == 0


def test_totals_are_those_of_all_groups() -> None:
    """The list of groups may be cut."""
    phases = [
        {"phase": "CLASSIC", "groups": 5, "went_back": 1},
        {"phase": "MIGRATING", "groups": 2, "went_back": 1},
    ]
    made = fleet({"phases": phases, "groups": [line("a")]})
    assert (made.groups_total, made.half_way_total, made.went_back) == (7, 2, 2)


def test_the_order_of_rows_does_not_show() -> None:
    rows: Rows = {
        "nights": [
            {
                "night": f"2026-11-{day}",
                **dict.fromkeys(
                    ("classic", "mixed", "consumer", "left_out", "members_consumer"), 0
                ),
                "members_total": 1,
            }
            for day in range(10, 20)
        ],
        "broken_rules": [
            {"severity": severity, "rule": rule, "times": 1, "groups": 1}
            for severity in ("INFO", "ERROR", "NEW", "WARN")
            for rule in "ab"
        ],
    }
    made = fleet(rows)
    assert [each.night for each in made.nights] == sorted(each.night for each in made.nights)
    assert [each.severity for each in made.broken_rules][::2] == ["NEW", "ERROR", "WARN", "INFO"]
    for seed in range(3):
        shuffled = {name: random.Random(seed).sample(its, len(its)) for name, its in rows.items()}
        assert fleet(shuffled) == made


def test_who_is_half_way_for_the_longest_comes_first_and_unknown_times_last() -> None:
    half_way = [
        {"group_id": group_id, "mixed_since_at_ms": since, **more}
        for group_id, since, more in (
            ("late", 50, {}),
            ("unknown", None, {}),
            ("early", 10, {"is_stalled": True}),
        )
    ]
    made = fleet({"half_way": half_way})
    assert [each.group_id for each in made.half_way] == ["early", "late", "unknown"]


def test_groups_in_trouble_come_in_order_and_once() -> None:
    fleet: Fleet = made_fleet(300)
    chosen = groups_in_trouble(fleet, 35)
    assert len(chosen) == len(set(chosen)) == 35
    assert chosen[: len(fleet.stuck)] == [each.group_id for each in fleet.stuck][:35]
    assert groups_in_trouble(fleet, 0) == []


def test_each_kind_of_trouble_has_its_rank() -> None:
    """One group of each, named by its rank; one that has none gets no page, however large it is."""
    plain = {"members_consumer": 0, "members_total": 9, "phase": "CLASSIC"}
    mixed = {**plain, "phase": "MIGRATING"}
    half_way = {"members_consumer": 1, "members_total": 2, "mixed_since_at_ms": 1}
    wave = {"wave": "CRASH", "started_at_ms": 1, "ended_at_ms": 2, "departed": 1, "joined": 0}
    cost = {"partitions_ms": 9, "low_ms": 5, "high_ms": 5, "moved": 1, "returned": 0}
    rows = {
        "groups": [
            {**plain, "group_id": "z quiet", "members_total": 9_000, "epochs": 99},
            {**plain, "group_id": "2 stuck, not listed", "stuck": 1},
            {**plain, "group_id": "8 went back", "went_back": True},
            {**plain, "group_id": "9 broke a rule", "errors": 1},
            {**plain, "group_id": "10 superseded", "superseded": 3},
            {**mixed, "group_id": "5 stalled"},
            {**mixed, "group_id": "6 half-way"},
            {**mixed, "group_id": "7 half-way, not listed"},
        ],
        "stuck": [
            {"group_id": "1 stuck", "reason": "FENCE_LOOP", "since_at_ms": 1, "stuck_ms": 9},
            {
                "group_id": "5 stalled",
                "reason": "MIGRATION_STALLED",
                "since_at_ms": 1,
                "stuck_ms": 99,
            },
        ],
        "slow": [
            {
                "group_id": "3 slow",
                "topic": "t",
                "partitions": 1,
                "outcome": "ACKED",
                "revoke_ms": 7,
            }
        ],
        "idlest": [
            {"group_id": "4 idle", "task_id": "0_1", "outcome": "TRANSFERRED", "idle_ms": 7}
        ],
        "half_way": [
            {**half_way, "group_id": "6 half-way", "is_stalled": False},
            {**half_way, "group_id": "5 stalled", "is_stalled": True},
        ],
        "waves": [
            {**wave, "group_id": "11 a wave", "stopped_ms": 5},
            {**wave, "group_id": "z a wave that cost nothing"},
        ],
        "cost_groups": [{**cost, "group_id": "12 paid", "high_unknown": 0}],
    }
    fleet = read_fleet(
        rows, cluster="c", logical_date=NIGHT, as_of_ms=AS_OF_MS, since_at_ms=None, version="0"
    )
    chosen = groups_in_trouble(fleet, 50)
    assert [int(each.split()[0]) for each in chosen] == list(range(1, 13))
    assert groups_in_trouble(fleet, 3) == chosen[:3]


def test_a_life_without_rows_has_a_page() -> None:
    made = life({})
    assert (made.state, made.verdict, made.members, made.cut) == (None, None, (), {})


def test_what_is_left_out_of_a_list_is_counted() -> None:
    refusal = {
        "subject": None,
        "api": "JOIN_GROUP",
        "refusal": "X",
        "first_at_ms": 5,
        "last_at_ms": 5,
        "attempts": 1,
    }
    made = life({"refusals": [{**refusal, "_left_out": 7}, {**refusal, "first_at_ms": 3}]})
    assert made.cut == {"refusals": 7}
    assert [each.first_at_ms for each in made.refusals] == [3, 5]
