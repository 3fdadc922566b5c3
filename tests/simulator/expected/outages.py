"""When requests about a group were told that no coordinator is there, by the lines of brokers'
request logs (measures.md, COORDINATOR_UNAVAILABLE and `unavailable_ms`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tests.simulator.answers import Answer
from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.tables import Row

SPAN_MS: Final = 10_000
"""Requests of a run are not further apart. Which of them came first after an answer of another
broker nobody can tell: an outage may end so much later, and two such near ones be told as one."""


class Outage(NamedTuple):
    """Answers 14, 15 and 16 that follow one another. until_at: of the answer that ended it, None
    where none did."""

    since_at: int
    last_at: int
    until_at: int | None
    attempts: int


def outages_of(answers: Sequence[Answer]) -> list[Outage]:
    """Of one group, in the order of its answers."""
    found: list[Outage] = []
    turned_away: list[Answer] = []
    for answer in answers:
        if answer.error:
            turned_away.append(answer)
        elif turned_away:
            found.append(_outage(turned_away, answer.at))
            turned_away = []
    return [*found, _outage(turned_away, None)] if turned_away else found


def _outage(turned_away: Sequence[Answer], until_at: int | None) -> Outage:
    return Outage(turned_away[0].at, turned_away[-1].at, until_at, len(turned_away))


def joined(outages: Iterable[Outage]) -> list[Outage]:
    """With those that may be told as one taken together."""
    found: list[Outage] = []
    for each in outages:
        last = found[-1] if found else None
        if last is not None and each.since_at - last.last_at <= 2 * SPAN_MS:
            attempts = last.attempts + each.attempts
            found[-1] = Outage(last.since_at, each.last_at, each.until_at, attempts)
        else:
            found.append(each)
    return found


def ends(until_at: int | None) -> Any:
    """What may be told of an end."""
    return None if until_at is None else Between(until_at, until_at + SPAN_MS)


def _wanted(history: History) -> Mapping[Key, Wanted]:
    return {
        (group_id, outage.since_at): Wanted(
            outage._asdict() | {"until_at": ends(outage.until_at)}, ()
        )
        for group_id, answers in history.truth.answers.of_groups.items()
        for outage in joined(outages_of(answers))
    }


def _gathered(rows: Sequence[Row]) -> Sequence[Row]:
    names = Outage._fields
    found: dict[str, list[Outage]] = defaultdict(list)
    for row in sorted(rows, key=lambda each: each["since_at"]):
        found[row["group_id"]].append(Outage(*(row[name] for name in names)))
    return [
        {"group_id": group_id, **each._asdict()}
        for group_id, outages in found.items()
        for each in joined(outages)
    ]


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["since_at"]


CHECK: Final = Check("outages", _wanted, _key_of, gathered=_gathered)
