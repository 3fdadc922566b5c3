"""The row of a stretch that begins, with all that is known of its member."""

from __future__ import annotations

from groupreplay.replay.fact import Client
from groupreplay.replay.facts import Stall
from groupreplay.replay.life import Life, Member


def new_stall(
    life: Life,
    reason: str,
    member: Member,
    since_at: int,
    offset: int,
    blocked_by: list[str],
    held: int | None = None,
    client: Client | None = None,
) -> Stall:
    """since_at, offset: when it begins, in ms, and by which record.

    held, client: how many partitions the member has in it, and what facts say of it, where it has
        others, and another process may have joined by its id, by now.
    """
    return Stall(
        **life.place,
        from_offset=offset,
        reason=reason,
        **(client or member.client),
        since_at=since_at,
        blocked_by=blocked_by,
        partitions_held=len(member.assigned) if held is None else held,
    )
