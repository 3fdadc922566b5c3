"""Why epochs began, with lines of broker logs, and which line tells it (evidence.md, Ends of
members).

Whose going began an epoch left, or was fenced, as the coordinator's memory says. Why it prepared a
rebalance of a classic group is in its log alone: the line is one that prepared that generation, or
names who went.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Key, OneOf, Untold, Wanted
from tests.simulator.expected import group_epochs, rebalances
from tests.simulator.expected.departure_lines import AnyLine, DepartureLines
from tests.simulator.expected.group_epochs import Epoch, epochs_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.member_ends import Ending, ending_of
from tests.simulator.lives import Life
from tests.simulator.truth import CLASSIC

_LOGGED: Final = Untold("why a coordinator prepared a rebalance is in its log alone")
_SURE: Final = OneOf(("EXACT", "INFERRED"))
BEFORE_MS: Final = 60_000
"""A removal may lie so long before its epoch."""

_OPEN_QUESTIONS: Final = ("LEFT_OR_FENCED", "UNKNOWN")


@dataclass(frozen=True, slots=True)
class _Words:
    """What clients of a group said when they joined or left; None where none was said."""

    client_ids: frozenset[str]
    reasons: frozenset[str | None]

    def admits(self, value: Any) -> bool:
        said = str(value).removeprefix("rebalance of simulated ")
        return value is None or value in self.reasons or said in self.client_ids


class _Lines:
    """Those that may tell why an epoch began."""

    def __init__(self, history: History) -> None:
        self._gone = DepartureLines(history)
        self._prepared: dict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)
        for each in rebalances.rebalances_of(history):
            place = "server_log", each.begun.position
            self._prepared[each.group_id, each.generation + 1].add(place)

    def of_removal(self, epoch: Epoch, ending: Ending) -> Any:
        at = epoch.opened.at
        end = Wanted({"end_reason": ending.reason, "end_detail": ending.detail}, ())
        return self._gone.of(str(epoch.cause.member_id), end, at - BEFORE_MS, at)

    def of_generation(self, life: Life, epoch: Epoch) -> AnyLine:
        """Where no log of a coordinator says why, there is none."""
        found = set(self._prepared[life.group_id, epoch.epoch])
        if epoch.cause.cause == "LEFT_OR_FENCED" and isinstance(epoch.cause.member_id, str):
            at = epoch.opened.at
            found |= self._gone.near(epoch.cause.member_id, at - BEFORE_MS, at)
        return AnyLine(frozenset(found), may_be_none=True)


def _row(life: Life, epoch: Epoch, words: _Words, lines: _Lines) -> dict[str, Any]:
    cause, opened = epoch.cause, epoch.opened
    if opened.protocol == CLASSIC:
        is_open = cause.cause in _OPEN_QUESTIONS
        named = dict.fromkeys(("cause", "cause_member_id", "confidence"), _LOGGED)
        known = {"cause": cause.cause} if not is_open else named
        told = {"cause_detail": _LOGGED, "client_reason": words}
        return {**known, **told, "evidence": lines.of_generation(life, epoch)}
    values = {
        "cause": cause.cause,
        "cause_member_id": cause.member_id,
        "confidence": cause.confidence,
        "cause_detail": None,
        "client_reason": None,
        "evidence": None,
    }
    if cause.cause != "LEFT_OR_FENCED" or not isinstance(cause.member_id, str):
        return values
    ending = ending_of(opened, cause.member_id)
    if ending is None:
        untold = ("cause", "confidence", "cause_detail", "evidence")
        return values | dict.fromkeys(untold, _LOGGED)
    told = {"cause": ending.reason, "cause_detail": ending.detail, "confidence": _SURE}
    evidence = lines.of_removal(epoch, ending)
    return values | told | {"client_reason": words, "evidence": evidence}


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    rows, lines = group_epochs.CHECK.wanted(history), _Lines(history)
    clients: dict[str, set[str]] = defaultdict(set)
    for event in history.truth.injected:
        group_id, _, more = event.detail.partition(" ")
        clients[group_id].update(more.split()[:1])
    for life in history.lives:
        answers = history.truth.answers.of_groups.get(life.group_id, ())
        reasons = frozenset(each.reason for each in answers)
        words = _Words(frozenset(clients[life.group_id]), reasons)
        for epoch in epochs_of(history, life):
            opened = epoch.opened
            key = (life.group_id, epoch.epoch, opened.protocol, opened.first_offset)
            is_seen = life.is_seen_to_begin(opened)
            values = _row(life, epoch, words, lines) if is_seen else {}
            wanted[key] = Wanted(values, rows[key].offsets, rows[key].left_out)
    return wanted


CHECK: Final = Check("epoch_lines", _wanted, group_epochs.CHECK.key_of)
