"""What a generation of a classic group was: who led it, how long its leader assigned, and whether
members read on meanwhile (measures.md, epochs)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.simulator.lives import is_conversion
from tests.simulator.truth import CLASSIC, Operation


@dataclass(frozen=True, slots=True)
class Generation:
    """Columns of an epoch that a classic generation alone has. stopped: partitions."""

    joined_at: int | None = None
    sync_ms: int | None = None
    cooperative: bool | None = None
    stopped: int | None = None
    leader: str | None = None


NO_GENERATION: Final = Generation()


def generation_of(before: Operation | None, operation: Operation) -> Generation:
    """Of the operation that began it, and the one before in its life. A downgrade has no join
    phase, and a generation without members none that ended."""
    if operation.protocol != CLASSIC or is_conversion(before, operation):
        return NO_GENERATION
    joined_at = operation.joined_at if operation.members else None
    cooperative = _is_cooperative(before, operation)
    return Generation(
        joined_at=joined_at,
        sync_ms=None if joined_at is None else operation.at - joined_at,
        cooperative=cooperative,
        stopped=_stopped(before, operation, cooperative),
        leader=operation.leader,
    )


def _is_cooperative(before: Operation | None, operation: Operation) -> bool | None:
    """By what members that had partitions listed as owned when they joined."""
    held = [
        member.said
        for member_id, member in operation.members.items()
        if before is not None
        and member_id in before.members
        and before.members[member_id].assigned
        and member.said is not None
    ]
    if any(each.owned for each in held):
        return True
    return False if held and all(each.generation is not None for each in held) else None


def _stopped(
    before: Operation | None, operation: Operation, cooperative: bool | None
) -> int | None:
    if cooperative or (cooperative is None and operation.protocol_name == "cooperative-sticky"):
        return None
    were = {} if before is None else before.members
    had = {
        partition
        for member_id in operation.members
        if member_id in were
        for partition in were[member_id].assigned
    }
    return len(had & {each for member in operation.members.values() for each in member.assigned})
