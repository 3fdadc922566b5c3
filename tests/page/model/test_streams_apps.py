"""Rows of Kafka Streams applications, in an order of their own."""

from __future__ import annotations

import random
from typing import Any

from groupreplay.page.model.streams_apps import Streams, read_streams


def test_without_rows_there_are_no_applications() -> None:
    assert read_streams({}) == Streams()


def idle(group_id: str, task_id: str, idle_ms: int) -> dict[str, Any]:
    return {
        "group_id": group_id,
        "team": None,
        "task_id": task_id,
        "kind": "COLD",
        "outcome": "OPEN",
        "idle_ms": idle_ms,
    }


def loop(group_id: str, since: int) -> dict[str, Any]:
    return {
        "group_id": group_id,
        "team": None,
        "reason": "PROBING_LOOP",
        "since_at_ms": since,
        "repetitions": None,
    }


def test_the_longest_come_first_whatever_the_order_of_rows() -> None:
    rows = {
        "idlest": [idle("b", "0_1", 5), idle("a", "0_2", 9), idle("a", "0_1", 5)],
        "loops": [loop("a", 70), loop("b", 20)],
        "learners_total": [{"learners": 3}, {"learners": 4}],
    }
    found = read_streams(rows)
    assert [(each.group_id, each.task_id) for each in found.idlest] == [
        ("a", "0_2"),
        ("a", "0_1"),
        ("b", "0_1"),
    ]
    assert [each.group_id for each in found.loops] == ["b", "a"]
    assert found.learners_total == 7
    for seed in range(3):
        shuffled = {name: random.Random(seed).sample(its, len(its)) for name, its in rows.items()}
        assert read_streams(shuffled) == found
