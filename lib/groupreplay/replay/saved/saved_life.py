"""A life to bytes and back, so that the next night goes on where this one ended."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from groupreplay.records.consumer import STATIC_LEAVE_EPOCH, UNRELEASED_PARTITIONS
from groupreplay.replay.life import CLASSIC, Life, TopicPartition
from groupreplay.replay.saved.life_version_1 import FIRST
from groupreplay.state_codec import Codec, Converter


def _waiting(_: Any, member: Mapping[str, Any]) -> set[TopicPartition]:
    """Member.waiting of version 1 was only what others held of what it is now."""
    if member.get("state") != UNRELEASED_PARTITIONS or member.get("epoch") == STATIC_LEAVE_EPOCH:
        return set()
    return set((member.get("target") or frozenset()) - member.get("assigned", frozenset()))


def _epochs(detail: str | None, _: Mapping[str, Any]) -> list[int]:
    """Stall.epochs of version 1 was a sentence: group epoch 5, target epoch 4."""
    return [int(number) for number in re.findall(r"-?\d+", detail or "")]


RENAMED: Final[dict[str, str]] = {"Departure": "RemovedMember", "Stall.detail": "epochs"}
"""Class, or class and field, as earlier code called it -> as it is called now."""

CONVERTERS: Final[dict[tuple[str, str, int], Converter]] = {
    ("Member", "waiting", 1): _waiting,
    ("Stall", "epochs", 1): _epochs,
}
"""(class, field, version that was written) -> to what the field means now."""

_LATER_NAMES: Final = (
    b'"HandOver":["away_at","by_k2","came_from","requested_at","stopped_at","last_commit_at",'
    b'"is_hidden","is_through_empty","to_member_id","to_identity","granted_at","grant_offset",'
    b'"sync_ms","first_commit_at","low_ms","est_ms","high_ms","idle_ms","is_high_known",'
    b'"charged_to"],"Transition":["kind","from_member_id","from_identity","released_at",'
    b'"released_offset","by_k2","leaving","arriving","stops","days","days_clock","days_told",'
    b'"joined_at","sync_ms","cooperative","skipped","partitions","stopped"],'
    b'"GroupDay":["group_id","incarnation","offsets_partition","from_offset","to_offset",'
    b'"start_observed","is_final","day","from_at","to_at","unobserved_ms","members_ms",'
    b'"members_max","empty_ms","mixed_ms","consumer_ms","classic_ms","epochs_begun","causes",'
    b'"cause_counts","rebalancing_ms","partitions_ms","unowned_ms","away_ms","sync_ms",'
    b'"longer_ms","high_unknown","handovers","handover_upper_ms","handover_counts",'
    b'"handover_p50_ms","handover_p95_ms","handover_max_ms","moved","returned",'
    b'"transitions_hidden","joins","departures","replaced","away","cycles","rate_members",'
    b'"rate_partitions","rate_unowned","rate_away","is_rebalancing","mode","is_watched"],'
)
"""What states of later releases name too. It stands in front: a stream refers to its dictionary by
the distance from its end, so states from before these names are read with it all the same. Never to
change once it was released; what comes later goes in front of it.
"""

_NAMES: Final = _LATER_NAMES + (
    json.dumps(FIRST.names, separators=(",", ":"))
    .replace('"waiting"', '"waiting@2"')
    .replace('"unnamed_topics"', '"unnamed_topics","resolved_topics","deleted_topics"')
    .encode()
)
"""What states name: never to change, for every state is read with it."""

_WORDS: Final = (
    b'"REVOKED","ACKED","UNKNOWN","NONE","CONSUMER","ROLLED_BACK","DOWNGRADE","FENCE_LOOP",'
    b'"EPOCH_STORM","NOT_APPLICABLE","MIGRATING","MIGRATION_STALLED","UPGRADE","CLASSIC",'
    b'"cooperative-sticky","range","INFERRED","LEFT_OR_FENCED","NATIVE","classic","JOIN","EXACT",'
    b'"CONVERGED","STABLE","consumer"'
)
"""What states are likely to have: never to change either."""

_CODEC: Final = Codec(Life, FIRST, _NAMES, _WORDS, RENAMED, CONVERTERS)


def to_bytes(state: Life) -> bytes:
    """The life as bytes; equal lives give equal bytes."""
    state.contested = _contested(state)
    return _CODEC.to_bytes(state)


def from_bytes(data: bytes) -> Life:
    """The life that `to_bytes` wrote, of this version or of one before. Raises StateError."""
    restored = _CODEC.from_bytes(data)
    derive(restored)
    return restored


def _contested(state: Life) -> dict[TopicPartition, str | None]:
    """Where the targets of the members alone do not say whose target a partition came into last:
    logs that break the rule of one target.
    """
    owner = state.target_owner
    targets = (
        (member.member_id, tp) for member in state.members.values() for tp in member.target or ()
    )
    return {tp: owner.get(tp) for member_id, tp in targets if owner.get(tp) != member_id}


def derive(restored: Life) -> None:
    """Makes the fields again that only index the others."""
    for member in restored.members.values():
        restored.classic_members += member.protocol == CLASSIC
        restored.clients[member.client_key] = restored.clients.get(member.client_key, 0) + 1
        host = member.client_host or ""
        restored.hosts[host] = restored.hosts.get(host, 0) + 1
        if member.epoch == STATIC_LEAVE_EPOCH:
            restored.away.add(member.member_id)
        if member.epoch is not None and member.state == 0:
            restored.stable[member.epoch] = restored.stable.get(member.epoch, 0) + 1
        for tp in member.spans:
            restored.holders.setdefault(tp, []).append(member.member_id)
        for tp in member.waiting:
            restored.waiters.setdefault(tp, set()).add(member.member_id)
        for tp in member.target or ():
            restored.target_owner[tp] = member.member_id
    for tp, owner in restored.contested.items():
        if owner is None:
            restored.target_owner.pop(tp, None)
        else:
            restored.target_owner[tp] = owner
    restored.unowned = {
        tp for tp, trail in restored.trails.items() if trail.released or trail.handed
    }
