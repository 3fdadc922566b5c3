"""How a group rebalances: what its members do while partitions change hands."""

from __future__ import annotations

from groupreplay.replay.life import CLASSIC, Life
from groupreplay.replay.streams.classic.generation import is_streams

EAGER = "EAGER"
COOPERATIVE = "COOPERATIVE"
CONSUMER_ALONE = "CONSUMER"
MIXED = "MIXED"
STREAMS_CLASSIC = "STREAMS"
OPAQUE = "OPAQUE"
"""Modes of `Churn.group_modes`."""

COOPERATIVE_STICKY = "cooperative-sticky"


def rebalance_mode(life: Life) -> str:
    """As the newest operation leaves the group. A classic group is eager whose members list nothing
    as owned when they join; where none has shown it yet, one whose assignor is not
    `cooperative-sticky`.
    """
    if not life.follows_partitions:
        return OPAQUE
    if is_streams(life.protocol_name):
        return STREAMS_CLASSIC
    if life.protocol != CLASSIC:
        return MIXED if life.classic_members else CONSUMER_ALONE
    by_name = life.protocol_name == COOPERATIVE_STICKY
    is_cooperative = by_name if life.cooperative is None else life.cooperative
    return COOPERATIVE if is_cooperative else EAGER
