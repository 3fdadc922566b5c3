"""For how long nobody read a partition: low_ms <= true <= high_ms of a transition, and est_ms.

Source of the rules: docs/measures.md, What a change of hands costs.
"""

from __future__ import annotations

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.replay.change import ClassicGeneration, Moment
from groupreplay.replay.kept.transition import REPLACED, STOP, Transition

SETTLE_MS = MAX_CHAIN_GAP_MS
"""How long a grant waits for its first commit, and how old the last commit before a release may be
to say anything of it.
"""


def tell_low(transition: Transition, moment: Moment, *, is_kept: bool = False) -> None:
    """low_ms and est_ms, at the grant.

    A K2 shows a release later than it was: then only the sync phase is sure, of an eager group, and
    of what was taken in one generation and given in a later one.

    is_kept: its holder never heard that a generation took it, and has it again by the next one.
    """
    granted_at, generation = moment.at, moment.generation
    transition.sync_ms = generation.sync_phase_ms if generation is not None else None
    if is_kept:
        transition.low_ms = transition.est_ms = 0
        return
    if transition.by_k2 or moment.by_k2:
        is_sure = generation is not None and _holds_for(generation, transition)
        low = transition.sync_ms or 0 if is_sure else 0
    else:
        since = transition.away_at if transition.away_at is not None else transition.released_at
        low = max(0, granted_at - since)
    transition.low_ms = low
    match transition.kind:
        case "ASKED":
            since_at = transition.requested_at
        case "REMOVED" | "REPLACED":
            since_at = _since_held(transition)
        case "AWAY":
            since_at = transition.away_at
        case "GAP" if transition.grant_offset == transition.released_offset:
            since_at = _since_held(transition)  # its holder had stopped before: it did not own it
        case "GAP" | "UNASKED":
            since_at = transition.released_at
        case _:
            since_at = None
    if transition.kind != STOP:
        transition.est_ms = max(low, granted_at - since_at) if since_at is not None else low


def _since_held(transition: Transition) -> int | None:
    """The last commit of its holder, but not before that had it. The time before is that of the
    transition that brought it; if none did, nobody was to read the partition.
    """
    stopped_at, held_since = transition.stopped_at, transition.held_since
    if stopped_at is None or held_since is None:
        return stopped_at
    return max(stopped_at, held_since)


def _holds_for(generation: ClassicGeneration, transition: Transition) -> bool:
    if transition.kind == REPLACED:
        return False
    return generation.is_eager or transition.grant_offset > transition.released_offset


def tell_idle(transition: Transition, first_commit_at: int, last_hole: int) -> None:
    """How long the partition was not committed, where both commits say something of it."""
    last_at, granted_at = transition.last_commit_at, transition.granted_at
    if last_at is None or granted_at is None or last_hole > transition.released_offset:
        return
    if (
        first_commit_at >= last_at
        and first_commit_at - granted_at <= SETTLE_MS
        and transition.released_at - last_at <= SETTLE_MS
    ):
        transition.idle_ms = first_commit_at - last_at


def tell_high(transition: Transition) -> None:
    """The upper bound: known if somebody committed before and after."""
    if not transition.is_costed:
        return
    known = (transition.low_ms, transition.est_ms, transition.idle_ms)
    transition.high_ms = max(each for each in known if each is not None)
    transition.is_high_known = transition.idle_ms is not None
