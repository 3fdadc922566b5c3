"""`evidence` and `from_offset` of rows of `stuck_members` and `stuck_groups` that only logs show: the
line that shows the reason, and where it begins (measures.md, Stuck)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tests.simulator.answers import Answer
from tests.simulator.compare import Key, Wanted
from tests.simulator.expected import phases, rejected, silences, unavailable
from tests.simulator.expected.departure_lines import EXPIRED_WORDS, AnyLine, DepartureLines
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.refusals import came_of, runs_of
from tests.simulator.tables import Row


@dataclass(frozen=True, slots=True)
class Position:
    """Of the line of the row. admits: of an offset and the evidence beside it."""

    def admits(self, value: Any) -> bool:
        offset, evidence = value
        return evidence is not None and offset == evidence["position"]

    def __str__(self) -> str:
        return "where the line begins"


def _lines_of(answers: Sequence[Answer]) -> AnyLine:
    return AnyLine(frozenset(("request_log", each.position) for each in answers))


def _of_silences(history: History) -> Iterator[tuple[Key, Wanted]]:
    """The request that ended it, or the line of the fence."""
    fences = DepartureLines(history)
    answers = history.truth.answers.of_groups
    for key, must in silences.CHECK.wanted(history).items():
        group_id, member_id, _ = key
        until = must.values["until_at"]
        if until.first == until.last:
            line = fences.at(str(member_id), EXPIRED_WORDS, until.last)
        else:
            line = _lines_of(
                [
                    each
                    for each in answers[str(group_id)]
                    if each.about == member_id and each.received_at == until.last
                ]
            )
        yield (silences.CHECK.table, *key), _only(must, line)


def _of_rejected(history: History) -> Iterator[tuple[Key, Wanted]]:
    """The first request of the asker that was refused, before the first one that counts too."""
    wanted = rejected.CHECK.wanted(history)
    for group_id, answers in history.truth.answers.of_groups.items():
        for run in runs_of(group_id, answers, came_of(answers)):
            for at in {each.at for each in run.attempts}:
                key = (group_id, run.subject, run.first.error_name, at)
                if key in wanted:
                    yield (rejected.CHECK.table, *key), _only(wanted[key], _lines_of([run.first]))


def _of_outages(history: History) -> Iterator[tuple[Key, Wanted]]:
    """The first answer of nobody."""
    for key, must in unavailable.CHECK.wanted(history).items():
        group_id, since_at = key
        answers = history.truth.answers.of_groups[str(group_id)]
        first = [each for each in answers if each.error and each.at == since_at]
        yield (unavailable.CHECK.table, *key), _only(must, _lines_of(first))


def _of_phases(history: History) -> Iterator[tuple[Key, Wanted]]:
    """What the coordinator said when the rebalance began."""
    began = {
        (group_id, since): each.started_at
        for group_id, each in phases.all_phases(history)
        for since in (each.started_at, each.joined_at)
    }
    for key, must in phases.STUCK.wanted(history).items():
        group_id, _, since = key
        at = began[str(group_id), since]  # type: ignore[index]
        calls = [
            ("server_log", call.position)
            for call in history.truth.logged.all
            if call.broker_at == at and group_id in call.values
        ]
        yield (phases.STUCK.table, *key), _only(must, AnyLine(frozenset(calls)))


def _only(must: Wanted, line: AnyLine) -> Wanted:
    return replace(must, values={"evidence": line, "from_offset": Position()})


_Found = Callable[[History], Iterator[tuple[Key, Wanted]]]

_OF_REASONS: Final[dict[str, Check]] = {
    **dict.fromkeys(silences.REASONS, silences.CHECK),
    rejected.REASON: rejected.CHECK,
    unavailable.REASON: unavailable.CHECK,
    **dict.fromkeys(phases.THRESHOLDS_MS, phases.STUCK),
}
"""Reason -> the check of its rows, which have keys of their own."""


def _check(table: str, *founds: _Found) -> Check:
    def wanted(history: History) -> dict[Key, Wanted]:
        return dict(pair for found in founds for pair in found(history))

    return Check(table, wanted, _key_of, _excuse, _gathered)


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [
        {**row, "from_offset": (row["from_offset"], row["evidence"])}
        for row in rows
        if row["reason"] in _OF_REASONS
    ]


def _key_of(history: History, row: Row) -> Key:
    if row["reason"] not in _OF_REASONS:
        return ("", row["reason"])
    check = _OF_REASONS[row["reason"]]
    return (check.table, *check.key_of(history, row))


def _excuse(history: History, row: Row) -> str:
    check = _OF_REASONS[row["reason"]]
    return check.excuse(history, row)


MEMBERS: Final = _check("stuck_member_lines", _of_silences, _of_rejected)
GROUPS: Final = _check("stuck_group_lines", _of_outages, _of_phases)
