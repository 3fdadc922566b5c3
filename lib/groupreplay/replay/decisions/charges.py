"""What transitions cost, added up by the membership event that they are charged to.

`churn` says which event that is. Source of the rules: docs/decisions.md, departure_waves.
"""

from __future__ import annotations

import copy

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.replay.decision_facts import Churn
from groupreplay.replay.decisions.transitions import waiting
from groupreplay.replay.kept.transition import GAP, REMOVED, REPLACED, STOP, Transition
from groupreplay.replay.life import Life

WENT = (REMOVED, REPLACED)
"""Kinds of transitions of members that are none any more."""

MAX_STOPS = 16_384
"""Most entries of a chain on who had what stopped, so that a state stays small: in a group of 1,000
members, those of 16 generations.
"""

_EVENTS = 8_192
"""More than a chain has."""


def sums_of(chain: Churn) -> tuple[list[int], ...]:
    return (
        *(chain.moved_counts, chain.returned_counts, chain.asked_ms, chain.removed_counts),
        *(chain.removed_ms, chain.gap_ms, chain.stop_counts, chain.lows_ms, chain.highs_ms),
        *(chain.high_unknowns, chain.idles_ms),
    )


def charge_of(chain: Churn, index: int) -> int:
    """An event in one number: a K2 shows several at one offset."""
    return chain.offsets[index] * _EVENTS + index


def charged_event(chain: Churn | None, transition: Transition) -> int | None:
    """The event that a transition is charged to; None where the chain has it not."""
    if chain is None or transition.charged_to is None:
        return None
    offset, index = divmod(transition.charged_to, _EVENTS)
    return index if chain.offsets[index : index + 1] == [offset] else None


def event_of(chain: Churn | None, transition: Transition) -> tuple[str, str, int] | None:
    """Member id, kind and offset of the event that a transition is charged to; of R those of the
    old member.
    """
    index = charged_event(chain, transition)
    if chain is None or index is None:
        return None
    return chain.member_ids[index], chain.event_kinds[index], chain.offsets[index]


def add_granted(chain: Churn, index: int, transition: Transition) -> None:
    """A transition whose next holder is known."""
    chain.moved_counts[index] += transition.is_move
    chain.returned_counts[index] += transition.is_return
    if not transition.is_costed:
        return
    chain.lows_ms[index] += transition.low_ms or 0
    since_release = max(0, (transition.granted_at or 0) - transition.released_at)
    if transition.kind == STOP:
        chain.stop_counts[index] += 1
        chain.gap_ms[index] += since_release
        _add_stop(chain, index, transition)
    elif transition.kind in WENT:
        chain.removed_counts[index] += 1
        chain.removed_ms[index] += since_release
        _add_kept(chain, index, transition)
    else:
        sums = chain.gap_ms if transition.kind == GAP else chain.asked_ms
        sums[index] += transition.est_ms or 0


def _add_kept(chain: Churn, index: int, transition: Transition) -> None:
    """For how long a member that went had had the partition: it cannot have left it unread for
    longer. Partitions that it got together come together.
    """
    if transition.held_since is None:
        return
    kept_ms = max(0, transition.released_at - transition.held_since)
    if (chain.kept_events[-1:], chain.kept_ms[-1:]) == ([index], [kept_ms]):
        chain.kept_counts[-1] += 1
        return
    chain.kept_events.append(index)
    chain.kept_ms.append(kept_ms)
    chain.kept_counts.append(1)


def _add_stop(chain: Churn, index: int, transition: Transition) -> None:
    """What a member of an eager group had that stopped: a log may say since when, by member. What
    it keeps comes together.
    """
    member_id, read_ms = transition.from_member_id, None
    if transition.held_since is not None:
        read_ms = max(0, transition.released_at - transition.held_since)
    last = (chain.stop_events[-1:], chain.stop_member_ids[-1:], chain.stop_read_ms[-1:])
    if last == ([index], [member_id], [read_ms]):
        chain.stop_partitions[-1] += 1
    elif len(chain.stop_events) < MAX_STOPS:
        chain.stop_events.append(index)
        chain.stop_member_ids.append(member_id)
        chain.stop_partitions.append(1)
        chain.stop_read_ms.append(read_ms)


def add_left_out(chain: Churn, index: int, transition: Transition) -> None:
    """What a member had that went or was taken over, and nobody is to have. It was owed since the
    release for nobody.
    """
    who = transition.from_member_id
    stays = chain.event_kinds[index] not in "GR" or chain.other_ids[index] == who
    if stays or chain.member_ids[index] != who:
        return
    if chain.left_out_events[-1:] == [index]:
        chain.left_out_counts[-1] += 1
    else:
        chain.left_out_events.append(index)
        chain.left_out_counts.append(1)
    first = index
    while first and chain.offsets[first - 1] >= transition.released_offset:
        first -= 1
    for place in range(first, len(chain.offsets)):
        chain.owed_partitions[place] -= 1


def add_closed(chain: Churn, index: int, transition: Transition) -> None:
    """The upper bound, of a first commit within the hour after the chain: none later counts, so
    that the row does not depend on when it is emitted.
    """
    is_known = transition.is_high_known and (
        (transition.first_commit_at or 0) - chain.times_at[-1] <= MAX_CHAIN_GAP_MS
    )
    known = [transition.low_ms or 0, transition.est_ms or 0]
    if is_known:
        known.append(transition.idle_ms or 0)
        chain.idles_ms[index] = max(chain.idles_ms[index], transition.idle_ms or 0)
    chain.highs_ms[index] += max(known)
    chain.high_unknowns[index] += not is_known


def with_waiting(chain: Churn, life: Life) -> Churn:
    """A copy of the chain, with what is known of transitions that wait for their first commit."""
    copied = copy.copy(chain)
    copied.highs_ms, copied.high_unknowns = [*chain.highs_ms], [*chain.high_unknowns]
    copied.idles_ms = [*chain.idles_ms]
    for transition in waiting(life):
        index = charged_event(chain, transition)
        if index is not None:
            add_closed(copied, index, transition)
    return copied
