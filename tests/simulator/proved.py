"""Rows of what lines of broker logs prove, from a recording's logs in pure Python: as the job makes
its tables when it is given the logs too.

Rows have the columns and types of `tables.py`.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from groupreplay.evidence.evidence_facts import (
    Departure,
    EvidenceFact,
    Outage,
    Rebalance,
    Refusal,
    Rejoin,
    ShardEvent,
)
from groupreplay.evidence.refusal_runs import error_name
from tests.simulator.columns import COLUMNS
from tests.simulator.tables import Row, Tables
from tests.support.log_lines import evidence_of, lines_in

SLACK_MS: Final = 5_000
"""A line more than 5 s behind the row's end, or before both its beginning and these 5 s, never counts
(evidence.md)."""

LINE_LATE_MS: Final = 100
"""Two lines of one broker about the same moment are not written further apart."""

OF_INSTANCES: Final = (82, 111)

_POLL_TIMEOUT_REASON: Final = "consumer poll timeout has expired."

_OPEN_QUESTION: Final = "LEFT_OR_FENCED"


@cache
def evidence_in(recording: Path) -> tuple[EvidenceFact, ...]:
    """All that the logs of a recording prove."""
    return tuple(evidence_of(lines_in(recording)))


class ProvedTables:
    """Rows of the logs; those of the topic come from `of_topic`. facts: what lines prove, where
    that is not all that the logs of the recording do."""

    def __init__(
        self, recording: Path, of_topic: Tables, facts: Sequence[EvidenceFact] | None = None
    ) -> None:
        self._of_topic = of_topic
        self._facts: dict[type[EvidenceFact], list[Any]] = defaultdict(list)
        for fact in evidence_in(recording) if facts is None else facts:
            self._facts[type(fact)].append(fact)

    def rows(self, table: str) -> Sequence[Row]:
        if table == "member_ends":
            return self._member_ends()
        if table == "refusals":
            return self._refusals()
        if table == "rejoins":
            return [_rejoined(fact) for fact in self._facts[Rejoin]]
        kinds = {
            "rebalances": Rebalance,
            "phases": Rebalance,
            "coordinator_events": ShardEvent,
            "outages": Outage,
        }
        kind = kinds[table]
        return [_row(fact, COLUMNS[table]) for fact in self._facts[kind]]

    def _member_ends(self) -> list[Row]:
        told: dict[tuple[str, str], list[Departure]] = defaultdict(list)
        for fact in self._facts[Departure]:
            told[fact.group_id, fact.member_id].append(fact)
        rows = []
        for life in self._of_topic.rows("members"):
            row = {name: life.get(name) for name in COLUMNS["member_ends"]}
            row["end_confidence"] = "EXACT"
            if row["end_reason"] == _OPEN_QUESTION:
                is_at_once = life["member_protocol"] != "classic"
                row |= _sharpened(row, told[life["group_id"], life["member_id"]], is_at_once)
            rows.append(row)
        return rows

    def _refusals(self) -> list[Row]:
        """Each told once: where the request log has it, the broker's own lines do not count."""
        by_requests = {
            _asker(each) for each in self._facts[Refusal] if each.source == "request_log"
        }
        return [
            {**_row(each, COLUMNS["refusals"]), "error": error_name(each.error_code)}
            for each in self._facts[Refusal]
            if each.source == "request_log" or _asker(each) not in by_requests
        ]


def _row(fact: EvidenceFact, columns: Sequence[str]) -> Row:
    names = {each.name for each in dataclasses.fields(fact)}
    row = {name: getattr(fact, name) for name in columns if name in names}
    place = {name: getattr(fact, name) for name in ("source", "input", "position")}
    return {**row, "evidence": place} if "evidence" in columns else row


def _rejoined(fact: Rejoin) -> Row:
    """Durations as the report has them: a line is written a moment after what it shows."""
    return {
        **_row(fact, COLUMNS["rejoins"]),
        "rejoin_ms": _passed_ms(fact.told_at, fact.joined_at),
        "wait_ms": _passed_ms(fact.joined_at, fact.answered_at),
    }


def _passed_ms(since_at: int | None, until_at: int | None) -> int | None:
    return None if since_at is None or until_at is None else max(0, until_at - since_at)


def _asker(fact: Refusal) -> tuple[str, str, int, str]:
    """A line of an instance that is fenced, or that another member owns, names no request."""
    api = "" if fact.error_code in OF_INSTANCES else fact.api
    return fact.group_id, api, fact.error_code, fact.subject


def _sharpened(row: Row, told: Sequence[Departure], is_at_once: bool) -> Row:
    """The line nearest to the removal names the end; a broker's before a request's.

    is_at_once: the operation that writes the line writes the tombstones too.
    """
    until = row["ended_at"] + SLACK_MS
    latest = row["ended_at"] - SLACK_MS
    since = latest if is_at_once else min(row["joined_at"], latest)
    near = [
        each
        for each in told
        if since - _ahead_ms(each, since < latest) <= each.ended_at <= until and _is_of(each, row)
    ]
    if not near:
        return {"end_confidence": "NONE"}
    best = min(near, key=lambda each: _distance(each, row["ended_at"]))
    agree = len({each.outcome for each in near}) == 1
    says_so = best.end_detail == "LEAVE_GROUP" and best.client_reason == _POLL_TIMEOUT_REASON
    return {
        "end_reason": best.outcome,
        "end_detail": "POLL_TIMEOUT" if says_so else best.end_detail,
        "end_confidence": "EXACT" if agree else "INFERRED",
    }


def _ahead_ms(departure: Departure, lasts: bool) -> int:
    """By how much a LeaveGroup may seem to come before a row that lasts: another broker's clock."""
    return SLACK_MS if lasts and departure.end_detail == "LEAVE_GROUP" else 0


def _is_of(departure: Departure, row: Row) -> bool:
    """Who was let in after the end goes from a later life."""
    return departure.since_at is None or departure.since_at <= row["ended_at"] + LINE_LATE_MS


def _distance(departure: Departure, ended_at: int) -> tuple[int, bool]:
    return abs(departure.ended_at - ended_at), departure.source != "server_log"
