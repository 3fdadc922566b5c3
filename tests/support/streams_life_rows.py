"""A made-up night of a Kafka Streams application for its page."""

from __future__ import annotations

from dataclasses import replace

from groupreplay.page.model import life as model
from groupreplay.page.model import life_of_tasks
from groupreplay.page.model.life import GroupLife
from tests.support.life_rows import LIFE, made_life
from tests.support.page_rows import AS_OF_MS

_BEGIN_MS = AS_OF_MS - 10 * 60_000


def streams_life() -> GroupLife:
    """Two processes with two threads each: one task goes over cold, one warm, one bounces back."""
    return replace(
        made_life(members=2, epochs=4),
        members=_members(),
        spans=(),
        held=(),
        hand_overs=(),
        stuck=(),
        processes=_processes(),
        tasks=_tasks(),
        task_moves=_moves(),
    )


def _processes() -> tuple[life_of_tasks.Process, ...]:
    return tuple(
        life_of_tasks.Process(
            life=LIFE,
            process_id=f"{place}" * 8,
            threads=2,
            restarts=0,
            hosts=("/10.0.0.1",),
            joined_at_ms=_BEGIN_MS,
            end_reason="OPEN",
        )
        for place in (1, 2)
    )


def _members() -> tuple[model.Member, ...]:
    return tuple(
        model.Member(
            life=LIFE,
            member_id=f"p{place}-{thread}",
            client_id=f"app-StreamThread-{thread}-consumer",
            member_protocol="streams",
            process_id=f"{place}" * 8,
            joined_at_ms=_BEGIN_MS,
            end_reason="OPEN",
        )
        for place in (1, 2)
        for thread in (1, 2)
    )


def _moves() -> tuple[life_of_tasks.TaskMove, ...]:
    move = life_of_tasks.TaskMove(
        life=LIFE,
        task_id="0_1",
        from_process_id="1" * 8,
        to_process_id="2" * 8,
        kind="COLD",
        cause="REBALANCED",
        outcome="TRANSFERRED",
        released_at_ms=_BEGIN_MS + 60_000,
        granted_at_ms=_BEGIN_MS + 61_000,
    )
    return (
        move,
        replace(move, task_id="0_2", kind="WARMED", granted_at_ms=_BEGIN_MS + 75_000),
        replace(
            move,
            task_id="0_3",
            to_process_id=move.from_process_id,
            kind="WARMED",
            outcome="RETURNED",
            granted_at_ms=_BEGIN_MS + 90_000,
        ),
    )


def _tasks() -> tuple[life_of_tasks.TaskSpan, ...]:
    span = life_of_tasks.TaskSpan(
        life=LIFE,
        process_id="2" * 8,
        task_id="0_1",
        role="ACTIVE",
        assigned_at_ms=_BEGIN_MS + 61_000,
        end_reason="OPEN",
    )
    replica = replace(span, process_id="1" * 8)
    return (
        span,
        replace(replica, role="WARMUP"),
        replace(replica, role="STANDBY", task_id="0_2"),
    )
