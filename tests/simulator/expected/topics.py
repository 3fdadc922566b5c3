"""`topics`: which topic ids have which names, and since when a record says so (measures.md, Names of
topics).

The topics that there are at the end are given. Others are learnt: brokers up to 4.0 write names and
partitions of all that a group subscribes to (K4), those from 4.3 on the id of each topic committed
but in transactions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulator.compare import Between, Key, OneOf, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.tables import Row
from tests.simulator.truth import CONSUMER

SLACK_MS: Final = 6_000
"""A broker's clock may be seconds wrong, and a commit on its way while its topic goes."""

NEED_NOT_BE: Final = "deleted topics whose ids need not be known by name"


HEARD_LATE_MS: Final = 1_000
"""A coordinator hears so late of a topic that came or went, at most."""


@dataclass(slots=True)
class Topic:
    """One topic, from when it was created, by true time. counts: of its partitions, in order."""

    name: str
    created_at: int
    counts: list[int] = field(default_factory=list)
    deleted_at: int | None = None

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None

    def is_there(self, at: int) -> bool:
        return self.created_at <= at and (self.deleted_at is None or at < self.deleted_at)


def topics_of(history: History) -> dict[str, Topic]:
    """By id, as they were made, grew and went."""
    found: dict[str, Topic] = {}
    for event in history.truth.injected:
        words = event.detail.split()
        if event.what == "create":
            found[words[2]] = Topic(words[0], event.at, [int(words[1])])
        elif event.what == "expand":
            there = [each for each in found.values() if each.name == words[0]]
            there[-1].counts.append(int(words[-1]))
        elif event.what == "delete":
            found[words[1]].deleted_at = event.at
    return found


def may_be_there(history: History, name: str, at: int) -> frozenset[bool]:
    """Whether a coordinator knows a topic of this name, at a true time; both where it may not have
    heard yet."""
    named = [each for each in history.made_of_all(topics_of).values() if each.name == name]
    return frozenset(
        any(each.is_there(time) for each in named) for time in (at - HEARD_LATE_MS, at)
    )


class _Shown:
    """What records of a recording show of its topics."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._is_by_k4 = history.truth.version.startswith("4.0.")
        self._is_by_commit = tuple(map(int, history.truth.version.split(".")[:2])) >= (4, 3)
        self._is_untold = history.truth.version.startswith("4.1.")
        self._committed: dict[str, list[tuple[int, bool]]] = {}
        for key, commits in history.truth.commits.items():
            if commits:
                is_certain = key.group_id not in history.truth.transactional
                told = commits[0].at, is_certain
                self._committed.setdefault(key.topic, []).append(told)
        self._given_out = set(self._targets())

    def _targets(self) -> Iterator[str]:
        for operations in self._history.truth.operations.values():
            for operation in operations:
                if operation.protocol == CONSUMER and operation.target_epochs:
                    for member in operation.members.values():
                        yield from (each.topic_id for each in member.target if each.topic_id)

    def must_be(self, topic_id: str, topic: Topic) -> bool:
        """Whether a deleted topic's name is in a record for sure."""
        if self._is_by_k4:
            return topic_id in self._given_out
        is_one = self._history.ids_of_name[topic.name] == 1
        return self._is_by_commit and is_one and bool(self._certain(topic))

    def _certain(self, topic: Topic) -> list[int]:
        """Times of first commits that have the topic's id: it was there, by any broker's clock."""
        times = [at for at, is_certain in self._committed.get(topic.name, ()) if is_certain]
        if topic.deleted_at is None:
            return times
        until = topic.deleted_at - SLACK_MS
        return [at for at in times if at < until]

    def first_seen_at(self, topic: Topic) -> Any:
        """Of a topic that was given, by as-of at the latest."""
        as_of_ms = self._history.truth.as_of_ms
        if self._is_untold and not topic.is_deleted:
            return as_of_ms
        earliest, latest = topic.created_at - SLACK_MS, as_of_ms
        if self._is_by_commit and self._history.ids_of_name[topic.name] == 1:
            committed = self._committed.get(topic.name, [])
            latest = min([*self._certain(topic), as_of_ms])
            if not topic.is_deleted:  # else it may follow from subscriptions before that
                earliest = min([*(at for at, _ in committed), as_of_ms])
        return latest if earliest == latest else Between(earliest, latest)

    def sources(self) -> tuple[str, ...]:
        if self._is_by_k4:
            return ("K4",)
        return ("SUBSCRIPTION",) if self._is_untold else ("K1", "SUBSCRIPTION")

    def partitions(self, topic: Topic, source: str) -> Any:
        if source == "given":
            return topic.counts[-1]
        return OneOf(tuple(topic.counts)) if self._is_by_k4 else None


def _values(shown: _Shown, topic: Topic) -> dict[str, Any]:
    is_given = not topic.is_deleted
    sources = ("given",) if is_given else shown.sources()
    return {
        "topic": topic.name,
        "first_seen_at": shown.first_seen_at(topic),
        "partitions": shown.partitions(topic, sources[0]),
        "source": OneOf(sources),
    }


def _wanted(history: History) -> dict[Key, Wanted]:
    shown = _Shown(history)
    return {
        (topic_id,): Wanted(_values(shown, topic), ())
        for topic_id, topic in history.made_of_all(topics_of).items()
        if not topic.is_deleted or shown.must_be(topic_id, topic)
    }


def _excuse(history: History, row: Row) -> str:
    """A name that was learnt is the true one."""
    topic = history.made_of_all(topics_of).get(row["topic_id"])
    if topic is None or not topic.is_deleted:
        return ""
    values = _values(_Shown(history), topic)
    is_so = all(
        must == row[name] or (hasattr(must, "admits") and must.admits(row[name]))
        for name, must in values.items()
    )
    return NEED_NOT_BE if is_so else ""


CHECK: Final = Check("topics", _wanted, lambda history, row: (row["topic_id"],), _excuse)
