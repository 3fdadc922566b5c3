"""What the page of a group of Kafka Streams knows besides: processes, epochs and tasks."""

from __future__ import annotations

from dataclasses import dataclass

from groupreplay.page.model.rows import LifeKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process of Kafka Streams."""

    life: LifeKey
    process_id: str
    threads: int
    restarts: int
    hosts: tuple[str, ...] = ()
    joined_at_ms: int
    left_at_ms: int | None = None
    end_reason: str
    start_observed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsEpoch:
    """A rebalance of a Kafka Streams application.

    began_at_ms: its first moment that is known.
    """

    life: LifeKey
    epoch: int
    cause: str
    began_at_ms: int
    tasks: int
    tasks_granted: int | None = None
    tasks_revoked: int | None = None
    tasks_misplaced: int | None = None
    warmup_copies: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpan:
    """A task at one process, in one role."""

    life: LifeKey
    process_id: str | None = None
    task_id: str
    role: str
    assigned_at_ms: int
    released_at_ms: int | None = None
    end_reason: str
    restored_records: int | None = None
    start_observed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMove:
    """A hand-over of a task between processes."""

    life: LifeKey
    task_id: str
    from_process_id: str | None = None
    to_process_id: str | None = None
    kind: str | None = None
    cause: str
    outcome: str
    released_at_ms: int | None = None
    granted_at_ms: int | None = None
    learning_ms: int | None = None
    unowned_ms: int | None = None
    idle_ms: int | None = None
    gap_records: int | None = None
