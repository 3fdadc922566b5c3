"""How spans of `member_assignments` ended, with lines of broker logs: as their members did
(evidence.md, Ends of members)."""

from __future__ import annotations

from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.member_assignments import excuse, key_of, spans_of
from tests.simulator.expected.member_ends import ends_of
from tests.simulator.expected.untold import END_IS_HIDDEN


def _wanted(history: History) -> dict[Key, Wanted]:
    ends = ends_of(history)
    wanted: dict[Key, Wanted] = {}
    for life, span, key, row in spans_of(history):
        values: dict[str, Any] = {"end_detail": None}
        left_out = row.left_out
        if span.closed is not None:
            closed = life.operations[span.closed]
            ended = ends.get((life.group_id, span.member_id, closed.first_offset))
            values = {
                "end_reason": row.values["end_reason"],
                "end_detail": None,
                "end_confidence": "EXACT",
            }
            if ended is not None and row.values["end_reason"] == "LEFT_OR_FENCED":
                values = {name: ended.values.get(name, END_IS_HIDDEN) for name in values}
                left_out = left_out or ended.left_out
        wanted[key] = Wanted(values, row.offsets, left_out)
    return wanted


CHECK: Final = Check("assignment_ends", _wanted, key_of, excuse)
