"""Ends of members that lines tell falsely by a known limit (evidence.md, What lines cannot show)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from groupreplay.evidence.evidence_facts import Departure, EvidenceFact
from tests.simulator.compare import Wanted
from tests.simulator.expected.history import History
from tests.simulator.proved import SLACK_MS
from tests.simulator.tables import Row

_LEFT: Final = "LEFT"


def is_lost_leave(history: History, facts: Sequence[EvidenceFact], row: Row, must: Wanted) -> bool:
    """Whether a classic member's removal is told by the line of a leave that a former leader lost:
    the partition got another leader between both, and no line of the removal itself is left.
    """
    removed = history.operation_at(row["group_id"], must.offsets[1])
    opened = history.operation_at(row["group_id"], row["from_offset"])
    member = opened.members.get(row["member_id"]) if opened is not None else None
    if removed is None or member is None or not member.is_classic or row["end_reason"] != _LEFT:
        return False
    told = [
        each
        for each in facts
        if isinstance(each, Departure)
        and (each.group_id, each.member_id) == (row["group_id"], row["member_id"])
        and row["joined_at"] <= each.ended_at <= removed.at + SLACK_MS
    ]
    left = max((each.ended_at for each in told), default=removed.at)
    if left >= removed.at - SLACK_MS:
        return False
    differ_ms = history.truth.clocks_differ_ms
    return history.is_elected_between(removed.offsets_partition, left - differ_ms, removed.true_at)
