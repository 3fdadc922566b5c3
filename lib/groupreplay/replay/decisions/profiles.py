"""What members said when they joined, and what is kept of a group's past to decide by.

A K2 entry or a K5 is a member's profile. Source: ConsumerProtocolSubscription.json,
ConsumerGroupMemberMetadataValue.json; GroupMetadataManager.replaceStaticMember for inherited
clients.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

from groupreplay.limits import KEPT_EPOCH_TIMES, MAX_CHAIN_GAP_MS
from groupreplay.records.classic import Assignment, GroupMember, Subscription
from groupreplay.records.consumer import ConsumerGroupMemberMetadataValue
from groupreplay.replay.life import CLASSIC, Life, Member, Profile

_profile = lru_cache(maxsize=1 << 12)(Profile)
"""Members of a group are much alike, and every generation writes all of them again."""


def profile_of_k2(listed: GroupMember, protocol_name: str | None) -> Profile:
    """Profile of a member as a K2 lists it.

    protocol_name: the protocol that the group selected.
    """
    return _profile(
        session_timeout_ms=listed.session_timeout_ms,
        protocols=(protocol_name,) if protocol_name is not None else (),
        assignment_user_data=_user_data(listed.assignment),
        has_topics=listed.subscription is not None,
        **_subscribed(listed.subscription),
    )


def profile_of_k5(value: ConsumerGroupMemberMetadataValue) -> Profile:
    """Profile of a member as a K5 describes it; what only classic members say is None of others."""
    classic, rack_id = value.classic_member_metadata, value.rack_id or None
    if classic is None:
        return _profile(rack_id=rack_id)
    offered = classic.supported_protocols
    first = next((each.subscription for each in offered if each.subscription is not None), None)
    return _profile(
        session_timeout_ms=classic.session_timeout_ms,
        protocols=tuple(each.name for each in offered),
        **_subscribed(first) | {"rack_id": rack_id},
    )


def _subscribed(subscription: Subscription | None) -> dict[str, Any]:
    """generationId is -1 where the version has none, or where the member was in no generation: then
    nothing follows from an empty list of owned partitions.
    """
    if subscription is None:
        return {}
    return {
        "embedded_version": subscription.version,
        "rack_id": subscription.rack_id or None,
        "subscription_user_data": _user_data(subscription),
        "lists_owned": _lists_owned(subscription),
    }


def _lists_owned(subscription: Subscription) -> bool | None:
    if subscription.owned_partitions:
        return True
    return False if subscription.generation_id >= 1 else None


def _user_data(message: Subscription | Assignment | None) -> int | None:
    """Its bytes; None where the message does not parse."""
    return None if message is None else len(message.user_data or b"")


def profile_columns(member: Member) -> dict[str, Any]:
    """The fields of its row in `members`; {} where no record that was seen describes it."""
    profile = member.profile
    if profile is None:
        return {}
    topics = frozenset(member.subscription) if profile.has_topics else None
    return {
        "session_timeout_ms": profile.session_timeout_ms,
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
        "protocols": list(profile.protocols),
        "server_assignor": member.assignor,
        "embedded_version": profile.embedded_version,
        "rack_id": profile.rack_id,
        "topics_subscribed": None if topics is None else len(topics),
        "subscription_hash": None if topics is None else subscription_hash(topics, member.regex),
        "subscribed_regex": member.regex or None,
        "subscription_user_data": profile.subscription_user_data,
        "assignment_user_data": profile.assignment_user_data,
        "lists_owned": profile.lists_owned,
        "profile_offset": member.described_offset,
    }


@lru_cache(maxsize=1 << 10)
def subscription_hash(topics: frozenset[str], regex: str) -> int:
    """Equal for equal subscriptions, in whatever order their topics stand: the first 8 bytes of a
    sha256, as a signed number.
    """
    text = "\n".join(sorted(topics)) + "\0" + regex
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def client_inherited(member: Member) -> bool | None:
    """Whether client id and host of a member are those of an earlier process that had its instance;
    None where that cannot be known.
    """
    is_own = member.instance_id is None or member.protocol != CLASSIC
    return False if is_own else member.client_inherited


# ---------------------------------------------------------------- of a group


def note_unbroken(life: Life, at: int) -> None:
    """At the first record that is seen, and at each first one behind a hole: since then nothing of
    the group is lost. Every record comes by, so the caller asks which it is.
    """
    life.unbroken_since_at = at


def note_k2(life: Life, offset: int, cooperative: bool | None) -> None:
    """A K2 was applied.

    cooperative: whether members go on reading in the generation that it begins, None where it does
        not show that.
    """
    life.k2_offset = offset
    life.cooperative = life.cooperative if cooperative is None else cooperative


def note_epoch(life: Life, at: int) -> None:
    """An epoch began."""
    life.epoch_times_at = [*life.epoch_times_at[1 - KEPT_EPOCH_TIMES :], at]


def note_members(life: Life, at: int, *, had_members: bool) -> None:
    """At operation end: whether the group has no members any more, or has some again."""
    if life.members:
        if life.emptied_at >= 0 and at - life.emptied_at <= MAX_CHAIN_GAP_MS:
            life.recreated_at = at
        life.emptied_at = -1
    elif had_members:
        life.emptied_at = at


def snapshot_columns(life: Life) -> dict[str, Any]:
    """What is kept of a group's past, for its snapshot."""
    return {
        "protocol_type": life.protocol_type or None,
        "protocol_name": life.protocol_name,
        "k2_offset": _known(life.k2_offset),
        "cooperative": life.cooperative if life.protocol == CLASSIC else None,
        "unbroken_since_at": _known(life.unbroken_since_at),
        "partitions_held": len(life.holders),
        "epoch_times_at": list(life.epoch_times_at),
        "emptied_at": _known(life.emptied_at),
        "recreated_at": _known(life.recreated_at),
    }


def _known(value: int) -> int | None:
    return value if value >= 0 else None
