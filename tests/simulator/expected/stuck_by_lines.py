"""What rows of `stuck_groups` that only logs show have in common (measures.md, Stuck)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.simulator.compare import Key
from tests.simulator.expected.history import History
from tests.simulator.expected.unavailable import life_of
from tests.simulator.tables import Row


def values_of(
    history: History,
    group_id: str,
    *,
    reason: str,
    since_at: int,
    until_at: int | None,
    is_final: bool,
    detail: tuple[str, Mapping[str, str | None]],
) -> dict[str, Any]:
    """until_at: None while it goes on. detail: its code and what it says."""
    detail_code, params = detail
    return {
        "to_offset": None,
        "start_observed": True,
        "is_final": is_final,
        "reason": reason,
        "since_at": since_at,
        "until_at": until_at,
        "stuck_ms": (history.truth.as_of_ms if until_at is None else until_at) - since_at,
        "is_open": until_at is None,
        "repetitions": None,
        "detail_code": detail_code,
        "detail_params": params,
        **life_of(history, group_id),
    }


def rows_of(rows: Sequence[Row], reason: str) -> list[Row]:
    """Those of one reason."""
    return [
        {**row, "detail_params": dict(row["detail_params"])}
        for row in rows
        if row["reason"] == reason
    ]


def key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["since_at"]
