"""When requests about a group were told that no coordinator is there, by the lines of brokers'
request logs (measures.md, COORDINATOR_UNAVAILABLE and `unavailable_ms`).

Of heartbeats and commits that go well the product keeps runs. Where one that began before an outage
goes on behind it, which of its requests came when nobody can tell: the outage may end later than it
did, and be told as one with the next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tests.simulator.answers import Answer
from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.tables import Row

SPAN_MS: Final = 10_000
"""Requests of a run are not further apart."""
_ROUTINE: Final = frozenset({"heartbeat", "commit", "txn commit"})
"""Kinds of requests that make runs, each its own."""


class Outage(NamedTuple):
    """Answers 14, 15 and 16 that follow one another. until_at: of the answer that ended it, None
    where none did."""

    since_at: int
    last_at: int
    until_at: int | None
    attempts: int


class Unavailable(NamedTuple):
    """Outages of which no answer that must be seen lies between two: they may be told as one.

    until_by: the latest that may be told of the end of the last one, None where nothing ended it.
    is_over: an answer that must be seen came after it.
    """

    outages: tuple[Outage, ...]
    until_by: int | None
    is_over: bool

    @property
    def since_at(self) -> int:
        return self.outages[0].since_at

    @property
    def last_at(self) -> int:
        return self.outages[-1].last_at

    @property
    def until(self) -> Between | None:
        """What may be told of the end."""
        until_at = self.outages[-1].until_at
        if until_at is None or self.until_by is None:
            return None
        return Between(until_at, self.until_by)

    @property
    def attempts(self) -> int:
        return sum(each.attempts for each in self.outages)


@dataclass(slots=True)
class _Runs:
    """(broker, member) -> kind of request -> when the last one of a run was answered."""

    last_at: dict[tuple[int, str | None], dict[str, int]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def may_hide(self, answer: Answer) -> bool:
        """Takes an answer note; whether it may be within a run that goes on."""
        # An administrator names the instance of whom it removes, and no member.
        is_named = answer.kind != "leave" or answer.member_id is not None
        runs = self.last_at[answer.broker, answer.asked_by if is_named else None]
        if answer.error or answer.kind not in _ROUTINE:
            runs.clear()
            return False
        before = runs.get(answer.kind)
        runs[answer.kind] = answer.at
        return before is not None and answer.at - before < SPAN_MS


def unavailable_of(answers: Iterable[Answer]) -> list[Unavailable]:
    """Of one group, in the order of its answers."""
    found: list[Unavailable] = []
    outages: list[Outage] = []
    runs = _Runs()
    for answer in answers:
        is_hidden = runs.may_hide(answer)
        last = outages[-1] if outages else None
        if answer.error:
            is_more = last is not None and last.until_at is None
            before = outages.pop() if is_more else Outage(answer.at, answer.at, None, 0)
            outages.append(before._replace(last_at=answer.at, attempts=before.attempts + 1))
        elif last is not None:
            if last.until_at is None:
                outages[-1] = last = last._replace(until_at=answer.at)
            if not is_hidden:
                by = _told_by(last, answer.at)
                found.append(Unavailable(tuple(outages), by, is_over=True))
                outages = []
    if outages:
        found.append(Unavailable(tuple(outages), _told_by(outages[-1], None), is_over=False))
    return found


def _told_by(outage: Outage, seen_at: int | None) -> int | None:
    """The latest that may be told of its end. seen_at: of the answer that must be seen."""
    if outage.until_at is None:
        return None
    latest = outage.last_at + SPAN_MS
    return max(outage.until_at, latest if seen_at is None else min(seen_at, latest))


def _wanted(history: History) -> Mapping[Key, Wanted]:
    return {
        (group_id, each.since_at): Wanted(
            {
                "since_at": each.since_at,
                "last_at": each.last_at,
                "until_at": each.until,
                "attempts": each.attempts,
            },
            (),
        )
        for group_id, answers in history.truth.answers.of_groups.items()
        for each in unavailable_of(answers)
    }


def _gathered(history: History, rows: Sequence[Row]) -> Sequence[Row]:
    """Rows of outages that may be told as one taken together."""
    found: dict[tuple[str, int], Row] = {}
    known = {
        group_id: unavailable_of(answers)
        for group_id, answers in history.truth.answers.of_groups.items()
    }
    for row in sorted(rows, key=lambda each: each["since_at"]):
        group_id, since_at = row["group_id"], row["since_at"]
        of_group = known.get(group_id, ())
        begun = [each.since_at for each in of_group if each.since_at <= since_at <= each.last_at]
        place = group_id, begun[0] if begun else since_at
        if (first := found.get(place)) is None:
            found[place] = row
        else:
            attempts = first["attempts"] + row["attempts"]
            found[place] = {**row, "since_at": first["since_at"], "attempts": attempts}
    return list(found.values())


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["since_at"]


CHECK: Final = Check("outages", _wanted, _key_of, gathered=_gathered)
