"""Rows of the queries become the models of pages, in an order of their own."""

from __future__ import annotations

import random
from datetime import date
from typing import Any

from groupreplay.page.model.fleet import Fleet
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.read import groups_in_trouble, read_fleet, read_group

NIGHT = date(2026, 11, 21)
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


def test_groups_in_trouble_are_named_once_and_no_more_than_have_a_page() -> None:
    rows: Rows = {
        "groups": [
            line("broken", errors=1),
            line("back", went_back=True),
            line("mixed", phase="MIGRATING"),
            line("stuck", stuck=1, errors=3),
            line("well"),
            line("vain", superseded=4),
        ]
    }
    found = groups_in_trouble(fleet(rows), 9)
    assert found == ["stuck", "mixed", "back", "broken", "vain"]
    assert groups_in_trouble(fleet(rows), 2) == ["stuck", "mixed"]


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
