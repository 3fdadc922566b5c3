"""The row of a stretch that begins, with all that is known of its member."""

from __future__ import annotations

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
) -> Stall:
    """since_at, offset: when it begins, in ms, and by which record.

    held: how many partitions the member has in it, where it has others by now.
    """
    return Stall(
        **life.place,
        from_offset=offset,
        reason=reason,
        **member.client,
        since_at=since_at,
        blocked_by=blocked_by,
        partitions_held=len(member.assigned) if held is None else held,
    )
