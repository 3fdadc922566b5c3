"""`refusals`: who was refused what, and how often, by what requests were answered (evidence.md,
refusals). Lines of brokers tell the same attempts again, but for those that nobody was answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulator.answers import Answer
from tests.simulator.compare import Key, LineAt, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalances import newest_line_at
from tests.simulator.tables import Row

HOUR_MS: Final = 3_600_000

_NO_REFUSALS: Final = frozenset({0, 14, 15, 16, 27, 79})
"""No coordinator there, a rebalance in progress, an id for a new member."""

TWO_CLOCKS: Final = "who was let in by another broker, with another clock"

_UPGRADE: Final = "Cannot upgrade classic group"


@dataclass(slots=True)
class Run:
    """Refusals of one kind of one asker. is_over: it was let in, or asked again after an hour.
    is_blurred: by another broker than the one that refused, whose clock need not agree: whether that
    was before or after hangs on it; or it follows such a run."""

    group_id: str
    subject: str
    attempts: list[Answer] = field(default_factory=list)
    is_over: bool = False
    is_blurred: bool = False

    @property
    def first(self) -> Answer:
        return self.attempts[0]

    @property
    def last(self) -> Answer:
        return self.attempts[-1]

    @property
    def key(self) -> Key:
        first = self.first
        return self.group_id, first.api, first.code, self.subject, first.at

    def latest(self, name: str) -> Any:
        """What the last attempt said that said something."""
        told = (getattr(each, name) for each in reversed(self.attempts))
        return next((each for each in told if each is not None), None)


def runs_of(group_id: str, answers: Iterable[Answer], came_at: Mapping[str, int]) -> Iterator[Run]:
    """In the order in which they end. came_at: member -> when it first asked under its id."""
    is_open: dict[tuple[str, int, str], Run] = {}
    blurred: set[tuple[str, int, str]] = set()
    for answer in answers:
        if answer.code == 0:
            for place, run in list(is_open.items()):
                if run.first.api == answer.api and _is_let_in(run, answer, came_at):
                    is_open.pop(place).is_over = True
                    if run.last.broker != answer.broker:
                        run.is_blurred = True
                        blurred.add(place)
                    yield run
        elif answer.code not in _NO_REFUSALS:
            place = answer.api, answer.code, _subject(answer)
            run_now = is_open.get(place)
            if run_now is not None and answer.at - run_now.last.at > HOUR_MS:
                is_open.pop(place).is_over = True
                yield run_now
            of_place = is_open.setdefault(place, Run(group_id, place[2]))
            of_place.is_blurred |= place in blurred
            of_place.attempts.append(answer)
    yield from is_open.values()


def _subject(answer: Answer) -> str:
    """Who asks; nobody in particular where the group refuses whoever does."""
    if _is_upgrade(answer):
        return ""
    return answer.instance_id or answer.member_id or answer.client_id or ""


def _is_upgrade(answer: Answer) -> bool:
    return (answer.message or "").startswith(_UPGRADE)


def _is_let_in(run: Run, granted: Answer, came_at: Mapping[str, int]) -> bool:
    """Whether it is the asker, and not another one that has its instance id or client id: who that
    is says its member id, or that it came since, as the same client from the same host."""
    if not run.subject:
        return True
    if run.subject not in granted.members | {granted.instance_id, granted.client_id}:
        return False
    if run.latest("member_id") in granted.members:
        return True
    clients = {(each.client_id, each.client_host) for each in (run.last, granted)}
    return len(clients) == 1 and all(came_at[each] > run.last.at for each in granted.members)


def came_of(answers: Iterable[Answer]) -> dict[str, int]:
    """When each member was first in the group by its requests: member -> when that one came."""
    came: dict[str, int] = {}
    for answer in answers:
        if answer.code == 0:
            for member_id in answer.members:
                came.setdefault(member_id, answer.logged_received_at)
    return came


def _wanted(history: History) -> dict[Key, Wanted]:
    newest = newest_line_at(history)
    return {
        run.key: Wanted(_values(run, newest), (), TWO_CLOCKS if run.is_blurred else "")
        for group_id, answers in history.truth.answers.of_groups.items()
        for run in runs_of(group_id, answers, came_of(answers))
    }


def _values(run: Run, newest: int) -> dict[str, Any]:
    first, last = run.first, run.last
    return {
        "member_id": run.latest("member_id"),
        "instance_id": first.instance_id,
        "client_id": last.client_id,
        "client_host": last.client_host,
        "subject": run.subject,
        "api": first.api,
        "error_code": first.code,
        "error": first.error_name,
        "refusal": "UPGRADE_REFUSED" if _is_upgrade(first) else first.error_name,
        "message": first.message,
        "first_at": first.at,
        "last_at": last.at,
        "attempts": len(run.attempts),
        "evidence": LineAt("request_log", first.position),
        "is_final": run.is_over or newest - last.at > HOUR_MS,
        "session_timeout_ms": run.latest("session_timeout_ms"),
    }


def _key_of(history: History, row: Row) -> Key:
    return tuple(row[name] for name in ("group_id", "api", "error_code", "subject", "first_at"))


CHECK: Final = Check("refusals", _wanted, _key_of)
