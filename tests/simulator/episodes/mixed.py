"""MIGRATION_STALLED by the truth alone: members of both protocols in one group (measures.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groupreplay.limits import MIN_STALL_MS
from tests.simulator.compare import Key, Wanted
from tests.simulator.lives import Life
from tests.simulator.truth import CONSUMER, Operation

MIGRATION_STALLED: Final = "MIGRATION_STALLED"


def blockers_of(operation: Operation) -> list[str]:
    """Members of a consumer group that speak the classic protocol."""
    if operation.protocol != CONSUMER:
        return []
    return sorted(name for name, member in operation.members.items() if member.is_classic)


def mixed_stretches(life: Life) -> Iterator[tuple[Key, Wanted]]:
    """From the operation after which the group is MIGRATING to the first after which it is not."""
    since: Operation | None = None
    blocked_by: list[str] = []
    for operation in life.operations:
        blockers = blockers_of(operation)
        if blockers:
            since = since or operation
            blocked_by = blockers
        elif since is not None:
            if operation.at - since.at >= MIN_STALL_MS:
                yield _row(life, since, operation, blocked_by)
            since = None
    if since is not None:
        yield _row(life, since, life.converted_by, blocked_by)


def _row(
    life: Life, since: Operation, closed: Operation | None, blocked_by: list[str]
) -> tuple[Key, Wanted]:
    until = closed.at if closed is not None else None
    values = {"until_at": until, "start_observed": True, "blocked_by": blocked_by}
    return (life.group_id, MIGRATION_STALLED, None, since.at), Wanted(values, (since.first_offset,))
