"""Kafka Streams applications at the end of a night, as summary and overview show them.
Each class but `Streams` is a row of one query (`report/summary/streams_frames.py`); names and units
as in `fleet`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from groupreplay.page.model.rows import read_rows

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class StreamsApps:
    """The applications of one protocol that have members.

    members: stream threads.
    tasks_misplaced: stateful tasks that are not where they should be, as far as that is known.
    apps_misplaced: applications with such tasks.
    """

    protocol: str
    apps: int
    processes: int
    members: int
    tasks: int
    tasks_misplaced: int
    apps_misplaced: int


@dataclass(frozen=True, slots=True)
class MisplacedApp:
    """An application with tasks that are not where they should be.

    next_kind, next_at_ms: the rebalance that is due, and when; None where nobody says it.
    """

    group_id: str
    team: str | None
    tasks: int
    tasks_misplaced: int
    next_kind: str | None
    next_at_ms: int | None


@dataclass(frozen=True, slots=True)
class Learner:
    """A member that keeps a replica of a task in order to run it.

    probes: probing rebalances that found it not ready; None where that is not known.
    """

    group_id: str
    team: str | None
    task_id: str
    client_id: str | None
    client_host: str | None
    since_at_ms: int
    probes: int | None


@dataclass(frozen=True, slots=True)
class MovedTasks:
    """How many tasks left a process in one way, and ended so.

    kind: how the next owner came to the state, None until there is one.
    """

    kind: str | None
    outcome: str
    tasks: int


@dataclass(frozen=True, slots=True)
class IdleTask:
    """A hand-over, and how long nobody committed for the task."""

    group_id: str
    team: str | None
    task_id: str
    kind: str | None
    outcome: str
    idle_ms: int


@dataclass(frozen=True, slots=True)
class StreamsLoop:
    """An application that rebalances again and again and gets nowhere."""

    group_id: str
    team: str | None
    reason: str
    since_at_ms: int
    repetitions: int | None


@dataclass(frozen=True, slots=True)
class Streams:
    """Kafka Streams applications.

    apps: applications of each protocol, ordered by its name.
    misplaced: applications, the most misplaced tasks first.
    learners: learners that learn the longest, the longest first.
    learners_total: how many learners there are.
    moves: tasks that left a process, by kind and outcome.
    idlest: hand-overs, the longest idle first.
    loops: open loops, the longest first.
    """

    apps: tuple[StreamsApps, ...] = ()
    misplaced: tuple[MisplacedApp, ...] = ()
    learners: tuple[Learner, ...] = ()
    learners_total: int = 0
    moves: tuple[MovedTasks, ...] = ()
    idlest: tuple[IdleTask, ...] = ()
    loops: tuple[StreamsLoop, ...] = ()


def read_streams(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Streams:
    """rows: query -> its rows, in any order."""

    def parts(cls: type[Part], query: str, order: Callable[[Part], Any]) -> tuple[Part, ...]:
        found = read_rows(cls, rows.get(query, ()))
        return tuple(sorted(found, key=lambda each: (order(each), str(each))))

    return Streams(
        apps=parts(StreamsApps, "streams_apps", lambda each: each.protocol),
        misplaced=parts(
            MisplacedApp, "misplaced", lambda each: (-each.tasks_misplaced, each.group_id)
        ),
        learners=parts(
            Learner, "learners", lambda each: (each.since_at_ms, each.group_id, each.task_id)
        ),
        learners_total=sum(row["learners"] for row in rows.get("learners_total", ())),
        moves=parts(MovedTasks, "task_moves", lambda each: (each.kind or "", each.outcome)),
        idlest=parts(IdleTask, "idlest", lambda each: (-each.idle_ms, each.group_id, each.task_id)),
        loops=parts(
            StreamsLoop, "loops", lambda each: (each.since_at_ms, each.group_id, each.reason)
        ),
    )
