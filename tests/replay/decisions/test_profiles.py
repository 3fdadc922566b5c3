"""What members said when they joined, and what is kept of a group's past.

Source: ConsumerProtocolSubscription.json, ConsumerGroupMemberMetadataValue.json.
"""

from __future__ import annotations

import pytest

from groupreplay.limits import KEPT_EPOCH_TIMES, MAX_CHAIN_GAP_MS
from groupreplay.records.classic import GroupMember, GroupMetadata
from groupreplay.records.consumer import (
    ConsumerGroupMemberMetadata,
    ConsumerGroupMemberMetadataValue,
)
from groupreplay.replay.decisions.profiles import (
    client_inherited,
    note_epoch,
    note_k2,
    note_members,
    profile_columns,
    profile_of_k2,
    profile_of_k5,
    snapshot_columns,
    subscription_hash,
)
from groupreplay.replay.life import CLASSIC, CONSUMER, Life, Member, Profile
from tests.support.building import record
from tests.support.words import Form


def listed(**given: object) -> GroupMember:
    made = record({"k2": 5, "members": {"a": {"assigned": {"foo": [0]}, **given}}})
    assert isinstance(made, GroupMetadata)
    assert made.value is not None
    return made.value.members[0]


def described(form: Form) -> ConsumerGroupMemberMetadataValue:
    made = record({"k5": "a", **form})
    assert isinstance(made, ConsumerGroupMemberMetadata)
    assert made.value is not None
    return made.value


def test_a_k2_lists_the_protocol_that_was_selected_and_what_the_member_said() -> None:
    member = listed(session=12_000, rack="r", said="AAAA", given="AAAAAA==")
    assert profile_of_k2(member, "range") == Profile(12_000, ("range",), 3, "r", 3, 4, None)


@pytest.mark.parametrize(
    ("owned", "joined_in", "lists"),
    [({"foo": [0]}, 4, True), ({}, 4, False), ({}, -1, None), ({"foo": [0]}, -1, True)],
)
def test_an_empty_list_of_a_member_that_was_in_no_generation_says_nothing(
    owned: dict[str, list[int]], joined_in: int, lists: bool | None
) -> None:
    """Subscriptions of version 1 list what is owned and name no generation."""
    assert profile_of_k2(listed(owned=owned, joined_in=joined_in), "range").lists_owned is lists


def test_a_k5_offers_protocols_only_of_a_member_that_joined_as_a_classic_one() -> None:
    assert profile_of_k5(described({})) == Profile()
    classic = profile_of_k5(described({"classic": True, "session": 12_000}))
    assert (classic.session_timeout_ms, classic.protocols) == (12_000, ("range",))
    assert classic.embedded_version == 3


def test_columns_are_empty_where_no_record_describes_the_member() -> None:
    assert profile_columns(Member("a")) == {}


def test_columns_of_a_subscription_that_does_not_parse_are_unknown() -> None:
    member = Member("a", subscription=("foo",), described_offset=7)
    member.profile = Profile(has_topics=False)
    unread = profile_columns(member)
    assert (unread["topics_subscribed"], unread["subscription_hash"]) == (None, None)
    member.profile = Profile()
    known = profile_columns(member)
    assert (known["topics_subscribed"], known["profile_offset"]) == (1, 7)
    assert known["subscription_hash"] == subscription_hash(frozenset({"foo"}), "")


def test_subscriptions_have_one_hash_where_they_are_equal_alone() -> None:
    one = subscription_hash(frozenset({"foo", "bar"}), "")
    assert one == subscription_hash(frozenset({"bar", "foo"}), "")
    others = [({"foo"}, ""), ({"foo", "bar"}, "f.*"), ({"foobar"}, ""), (set(), "foo\nbar")]
    assert one not in {subscription_hash(frozenset(topics), regex) for topics, regex in others}
    assert -(1 << 63) <= one < 1 << 63


@pytest.mark.parametrize(
    ("instance_id", "protocol", "kept", "told"),
    [
        (None, CLASSIC, True, False),
        ("i", CONSUMER, True, False),
        ("i", CLASSIC, True, True),
        ("i", CLASSIC, None, None),
    ],
)
def test_only_a_classic_static_member_can_have_the_client_of_another_process(
    instance_id: str | None, protocol: str, kept: bool | None, told: bool | None
) -> None:
    member = Member("a", instance_id=instance_id, protocol=protocol, client_inherited=kept)
    assert client_inherited(member) is told


def test_a_generation_that_does_not_show_how_it_rebalanced_changes_nothing() -> None:
    life = Life("g", 0, 0, CLASSIC)
    note_k2(life, 5, True)
    note_k2(life, 9, None)
    assert (life.k2_offset, life.cooperative) == (9, True)


def test_the_last_epochs_are_kept() -> None:
    life = Life("g", 0, 0, CONSUMER)
    for at in range(KEPT_EPOCH_TIMES + 3):
        note_epoch(life, at)
    assert life.epoch_times_at == list(range(3, KEPT_EPOCH_TIMES + 3))


@pytest.mark.parametrize(
    ("empty_ms", "recreated"), [(MAX_CHAIN_GAP_MS, True), (MAX_CHAIN_GAP_MS + 1, False)]
)
def test_a_group_is_made_again_where_members_come_back_within_an_hour(
    empty_ms: int, recreated: bool
) -> None:
    life = Life("g", 0, 0, CONSUMER)
    note_members(life, 500, had_members=False)
    assert life.emptied_at == -1, "it had none before"
    note_members(life, 1_000, had_members=True)
    assert life.emptied_at == 1_000
    life.members["a"] = Member("a")
    note_members(life, 1_000 + empty_ms, had_members=False)
    assert life.emptied_at == -1
    assert life.recreated_at == (1_000 + empty_ms if recreated else -1)


def test_a_snapshot_shows_what_is_known() -> None:
    columns = snapshot_columns(Life("g", 0, 0, CONSUMER, cooperative=True))
    assert {columns[name] for name in ("k2_offset", "unbroken_since_at", "emptied_at")} == {None}
    assert columns["cooperative"] is None, "of a classic group alone"
    assert snapshot_columns(Life("g", 0, 0, CLASSIC, cooperative=True))["cooperative"] is True
