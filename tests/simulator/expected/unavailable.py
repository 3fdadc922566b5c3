"""Rows of `stuck_groups` that only logs show: COORDINATOR_UNAVAILABLE, from an outage of 30 s on
(measures.md, stuck)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tests.simulator.compare import Between, Key, Untold, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.outages import Unavailable, unavailable_of
from tests.simulator.tables import Row

REASON: Final = "COORDINATOR_UNAVAILABLE"
THRESHOLD_MS: Final = 30_000
NOT_CERTAIN: Final = "outages that may be told as one, or whose length may reach the threshold"
_OTHER_LIFE: Final = Untold("a life of commits alone, or of a group of another kind")


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for group_id, answers in history.truth.answers.of_groups.items():
        for each in unavailable_of(answers):
            lasted = _lasted(history, each)
            if lasted.last < THRESHOLD_MS:
                continue
            is_certain = len(each.outages) == 1 and lasted.first >= THRESHOLD_MS
            values = _row(each, lasted) | life_of(history, group_id)
            left_out = "" if is_certain else NOT_CERTAIN
            wanted[group_id, each.since_at] = Wanted(values, (), left_out)
    return wanted


def _lasted(history: History, unavailable: Unavailable) -> Between:
    until = unavailable.until
    if until is None:
        as_of_ms = history.truth.as_of_ms
        until = Between(as_of_ms, as_of_ms)
    return Between(until.first - unavailable.since_at, until.last - unavailable.since_at)


def _row(unavailable: Unavailable, lasted: Between) -> dict[str, Any]:
    return {
        "to_offset": None,
        "start_observed": True,
        "is_final": unavailable.is_over,
        "since_at": unavailable.since_at,
        "until_at": unavailable.until,
        "stuck_ms": lasted,
        "is_open": unavailable.until is None,
        "repetitions": None,
        "detail_code": "NOT_THERE",
        "attempts": str(unavailable.attempts),
    }


def life_of(history: History, group_id: str) -> dict[str, Any]:
    """The group's last life; lines do not say which one it was."""
    lives = [each for each in history.lives if each.group_id == group_id]
    offsets = history.truth.commit_offsets.get(group_id, ())
    if not lives or (
        lives[-1].is_removed
        and any(each > lives[-1].operations[-1].last_offset for each in offsets)
    ):
        return {"incarnation": _OTHER_LIFE, "offsets_partition": _OTHER_LIFE}
    return {
        "incarnation": history.incarnation(lives[-1]),
        "offsets_partition": lives[-1].offsets_partition,
    }


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [
        {**row, "attempts": dict(row["detail_params"])["attempts"]}
        for row in rows
        if row["reason"] == REASON
    ]


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["since_at"]


def _excuse(history: History, row: Row) -> str:
    """A row of outages that may be told as one need not begin with the first of them."""
    answers = history.truth.answers.of_groups.get(row["group_id"], ())
    return (
        NOT_CERTAIN
        if any(
            len(each.outages) > 1 and each.since_at <= row["since_at"] <= each.last_at
            for each in unavailable_of(answers)
        )
        else ""
    )


CHECK: Final = Check("unavailable", _wanted, _key_of, _excuse, _gathered)
