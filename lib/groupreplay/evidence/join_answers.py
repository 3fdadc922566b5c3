"""Whether a join that a broker grants is the answer to what the member was told, by that broker or
by another one, whose clock differs or whose log is missing.

Source: GroupMetadataManager (4.x), completeClassicGroupJoin, classicGroupJoinToConsumerGroup.
"""

from __future__ import annotations

from typing import Final

from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.evidence.memory import Evidence, Line, came_at
from groupreplay.evidence.open_rejoins import (
    broker_of,
    is_answered,
    is_asked,
    is_passed,
    is_waiting,
    newest_of,
)

_MEMBER_ID_REQUIRED: Final = 79

MADE_MS: Final = 5_000
"""A client joins at once under the id that a broker made for it."""

CONSUMERS_STAY_MS: Final = 600_000
"""A group of which no consumer was heard for so long is a classic one: sessions are shorter."""


def is_of_a_classic_group(evidence: Evidence, line: Line, generation: int) -> bool:
    """Whether a classic group lets members into a generation: its answer names the leader, or by a
    rebalance, or as a broker has loaded it, of which no consumer was heard since.
    """
    if line.event.member_ids:
        return True
    found = evidence.rebalances.get(line.broker)
    if found is not None and found.outcome != "CONVERTED" and found.generation + 1 == generation:
        return True
    is_loaded = evidence.classic_broker == line.broker
    return is_loaded and evidence.consumers_at < evidence.classic_since_at


def was_never_removed(told: Rejoin, generation: int, is_classic: bool) -> bool:
    """Whether a join that is granted shows that no record has the removal of its member, which a
    coordinator logged. A classic group lets nobody in under an id that it removed. A consumer group
    takes an epoch for the removal, and another one for the return.

    Source: GroupMetadataManager.consumerGroupFenceMembers, classicGroupJoinToConsumerGroup.
    """
    if not is_asked(told) or told.generation is None:
        return False
    return is_classic or 0 <= generation - told.generation <= 1


def is_first_by_id(evidence: Evidence, line: Line, member_id: str) -> bool:
    """Whether a broker lets a member in whose id it has made just before (MEMBER_ID_REQUIRED). What
    other brokers seem to have answered it before came later, by clocks that are behind.
    """
    contact = evidence.contacts.get(member_id)
    if contact is None or _MEMBER_ID_REQUIRED not in contact.error_codes:
        return False
    made_at = contact.error_last_at[contact.error_codes.index(_MEMBER_ID_REQUIRED)]
    return contact.first_at < made_at and 0 <= came_at(line.event) - made_at <= MADE_MS


def is_of_another(rejoin: Rejoin, came_at: int) -> bool:
    """Whether a join is not the answer to what the member was told: it was removed, or has joined
    already. A join of an older generation is the answer too: a broker that loads its partition
    again has lost those that it had not written.
    """
    is_over = rejoin.gone_at is not None and rejoin.gone_at < came_at
    return is_over or not is_waiting(rejoin)


def is_of_a_later_rebalance(
    evidence: Evidence, line: Line, rejoin: Rejoin, generation: int
) -> bool:
    """Whether a member was told to join one rebalance of a classic group, and joins a later one, by
    the line of that, or by an answer that names a leader.

    The first rebalance removes each dynamic member that does not join. So this member did join, and
    no line shows it: the log of another broker is missing. Not so where this broker answered a join
    with an error: one that loses its partition lets members into generations that it cannot write.
    Nor where consumers of the other protocol were heard a short while before, as before a
    downgrade: members of a consumer group may be several epochs behind.

    Source: GroupMetadataManager.completeClassicGroupJoin.
    """
    known = evidence.rebalances.get(line.broker)
    rebalance = known if known is not None and known.generation + 1 == generation else None
    if rebalance is not None and rebalance.cause == "DOWNGRADE":
        return False
    if rejoin.told_at is None or (rebalance is None and not line.event.member_ids):
        return False
    if evidence.consumers_at >= max(0, rejoin.told_at - CONSUMERS_STAY_MS):
        return False
    is_open = rejoin.new_generation is None and rejoin.gone_at is None
    is_dynamic = rejoin.instance_id is None and line.event.instance_id is None
    is_later = generation - 1 > newest_of(rejoin) and rejoin.refused_by != line.broker
    return is_open and is_dynamic and is_later


def contradicts(rejoin: Rejoin, broker: int, generation: int, came_at: int) -> bool:
    """Whether a broker answers a join of a member that, by what another broker says of it, would be
    a step back: the join is older than what it was told, or its generation may be. It may be where
    the member has an assignment of that generation there.
    """
    if broker_of(rejoin) == broker:
        return False
    is_assigned = rejoin.synced_at is not None and not rejoin.is_told_again
    if is_passed(rejoin) or (is_assigned and generation == rejoin.new_generation):
        return True
    is_earlier = rejoin.told_at is not None and came_at < rejoin.told_at
    is_open = is_earlier and is_waiting(rejoin)
    return is_open or is_of_another_leader(rejoin, broker, generation)


def is_of_the_generation_before(rejoin: Rejoin, broker: int, generation: int) -> bool:
    """Whether a classic group let a member into the generation in which another broker had told it
    to join: by a clock that is ahead, or since the other broker had lost that generation.
    """
    return broker_of(rejoin) != broker and is_asked(rejoin) and rejoin.generation == generation


def is_of_another_leader(rejoin: Rejoin, broker: int, generation: int) -> bool:
    """Whether a broker's line begins a rejoin beside the one at another broker. That one's clock is
    ahead, or may be: its lines may still show that the member had its assignment.
    """
    if broker_of(rejoin) == broker or rejoin.is_quiet:
        return False
    may_sync = is_answered(rejoin) and rejoin.synced_at is None and rejoin.gone_at is None
    return generation < newest_of(rejoin) or may_sync
