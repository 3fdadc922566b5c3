"""Which lines may tell how a member ended: `evidence` of members, of their spans and absences
(evidence.md, How a line becomes evidence)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tests.simulator.answers import Answer
from tests.simulator.compare import OneOf, Untold, Wanted
from tests.simulator.expected.contacts import is_leave
from tests.simulator.expected.history import History
from tests.simulator.logged import Logged

SLACK_MS: Final = 5_000
"""A line further outside of a row never counts."""

_BY_HEARTBEAT, _BY_REQUEST = "left the consumer group", "explicit `LeaveGroup` request"
EXPIRED_WORDS: Final = ("because the member session expired", "has failed, removing it")
_UNSAID: Final = ("Member {} fenced from the group because", "Preparing to rebalance group")
"""Words of fences that say why in a value, or name who is gone in a reason."""

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "LEAVE_HEARTBEAT": (_BY_HEARTBEAT,),
    **dict.fromkeys(("LEAVE_GROUP", "POLL_TIMEOUT", "ADMIN_REMOVAL"), (_BY_REQUEST,)),
    "SESSION_EXPIRED": EXPIRED_WORDS,
    "REBALANCE_TIMEOUT": ("it failed to transition from epoch",),
    "JOIN_TIMEOUT": ("who haven't joined", "Member {} fenced from the group because"),
    "SYNC_TIMEOUT": _UNSAID,
}
"""`end_detail` -> what the coordinator says of it."""


class Told(NamedTuple):
    """A line. says: its words; of a request which of the two it is."""

    at: int
    source: str
    position: int
    says: str


@dataclass(frozen=True, slots=True)
class AnyLine:
    """The place of one of these lines. may_be_none: or no line."""

    lines: frozenset[tuple[str, int]]
    may_be_none: bool = False

    def admits(self, value: Any) -> bool:
        if value is None:
            return self.may_be_none
        return (value["source"], value["position"]) in self.lines

    def __str__(self) -> str:
        return f"one of {sorted(self.lines)}"


class DepartureLines:
    """Of all members of a recording."""

    def __init__(self, history: History) -> None:
        self._lines: dict[str, list[Told]] = defaultdict(list)
        known = {
            each.about: group_id
            for group_id, answers in history.truth.answers.of_groups.items()
            for each in answers
            if each.about
        }
        instances: dict[tuple[str, str], set[str]] = defaultdict(set)
        for group_id, answers in history.truth.answers.of_groups.items():
            for each in answers:
                if each.instance_id is not None and each.about:
                    instances[group_id, each.instance_id].add(each.about)
                if not each.code and (each.api == "LEAVE_GROUP" or is_leave(each)):
                    self._add_answer(each)
        for call in history.truth.logged.all:
            self._add_call(call, known, instances)

    def _add_answer(self, answer: Answer) -> None:
        if answer.epoch == -2:
            return
        says = _BY_REQUEST if answer.api == "LEAVE_GROUP" else _BY_HEARTBEAT
        if answer.about:
            told = Told(answer.at, "request_log", answer.position, says)
            self._lines[answer.about].append(told)

    def _add_call(
        self,
        call: Logged,
        known: Mapping[str, str],
        instances: Mapping[tuple[str, str], Iterable[str]],
    ) -> None:
        """An administrator removes a static member by its instance alone."""
        words = [word for value in call.values for word in value.replace(",", " ").split()]
        named = {word.strip("[]()") for word in words} & known.keys()
        for group_id in call.values[:1]:
            for value in call.values[1:]:
                named |= set(instances.get((group_id, value), ()))
        told = call.says
        for value in call.values:
            told = told.replace("{}", value, 1) if "because {}" in told else told
        for member_id in named:
            line = Told(call.broker_at, "server_log", call.position, f"{call.says} {told}")
            self._lines[member_id].append(line)

    def at(self, member_id: str, words: Iterable[str], at: int) -> AnyLine:
        """Lines of the coordinator about it at that time."""
        return AnyLine(
            frozenset(
                (each.source, each.position)
                for each in self._lines[member_id]
                if each.at == at and any(word in each.says for word in words)
            )
        )

    def near(self, member_id: str, since_at: int, ended_at: int) -> set[tuple[str, int]]:
        """Places of all lines about it at that time."""
        return {
            (each.source, each.position)
            for each in self._lines[member_id]
            if since_at - SLACK_MS <= each.at <= ended_at + SLACK_MS
        }

    def of(self, member_id: str, end: Wanted | None, since_at: int, ended_at: int) -> Any:
        """The lines that may tell an end. since_at: when the row begins."""
        if end is None or end.values.get("end_reason") in ("REPLACED", "GROUP_REMOVED"):
            return None
        if end.left_out:
            return Untold("how it ended")
        detail = end.values["end_detail"]
        details = detail.values if isinstance(detail, OneOf) else (detail,)
        words = [each for name in details for each in _WORDS[name]]
        found = frozenset(
            (each.source, each.position)
            for each in self._lines[member_id]
            if since_at - SLACK_MS <= each.at <= ended_at + SLACK_MS
            and any(word in each.says for word in words)
        )
        return AnyLine(found)
