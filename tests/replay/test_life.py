"""What of a life goes over to the next one, and of a member to the life that began in a hole."""

from __future__ import annotations

from groupreplay.replay.facts import HeldPartition, MemberState
from groupreplay.replay.kept.absences import KeptAbsences
from groupreplay.replay.life import (
    CLASSIC,
    CONSUMER,
    STREAMS,
    Life,
    Member,
    Profile,
    Span,
    client_key,
)

FOO_0, FOO_1, FOO_2 = (("foo-id", number) for number in range(3))


def life() -> Life:
    return Life(
        "g",
        3,
        10,
        CONSUMER,
        topic_names={"foo-id": "foo"},
        seen_topics=["foo-id"],
        commits={("foo", 0): (1_000, 50), ("foo", 1): (2_000, 60)},
        committed={("foo", 0): 7, ("foo", 1): 8},
        conversions=2,
        upgraded_at=900,
        epoch=9,
        members={"a": Member("a")},
        leader_epoch=4,
        last_offset=70,
        last_hole=55,
        unbroken_since_at=800,
    )


def test_a_life_that_began_in_a_hole_knows_the_commits_behind_it_and_no_member() -> None:
    new = life().successor(55)
    assert (new.incarnation, new.protocol, new.last_hole) == (55, CONSUMER, 55)
    assert new.commits == {("foo", 1): (2_000, 60)}
    assert new.committed == {("foo", 1): 8}
    assert (new.topic_names, new.leader_epoch) == ({"foo-id": "foo"}, 4)
    assert (new.members, new.epoch, new.conversions) == ({}, None, 0)


def test_a_life_after_a_conversion_goes_on_with_the_group_s_history() -> None:
    old = life()
    old.absences = KeptAbsences()
    new = old.heir(80, CLASSIC, birth_seen=True)
    assert (new.incarnation, new.protocol, new.birth_seen) == (80, CLASSIC, True)
    assert (new.conversions, new.upgraded_at, new.unbroken_since_at) == (2, 900, 800)
    assert new.commits is old.commits
    assert (new.members, new.epoch) == ({}, None)


def test_a_downgrade_forgets_what_regular_expressions_were_resolved_to() -> None:
    one = life()
    one.resolved_topics = {"f.*": ("foo",)}
    one.become(CONSUMER)
    assert one.resolved_topics
    one.become(CLASSIC, birth_seen=True)
    assert (one.protocol, one.resolved_topics, one.birth_seen) == (CLASSIC, {}, True)


def test_partitions_are_followed_where_the_records_say_who_has_them() -> None:
    def follows(protocol: str, protocol_type: str) -> bool:
        return Life("g", 0, 0, protocol, protocol_type=protocol_type).follows_partitions

    assert follows(CONSUMER, "")
    assert follows(CLASSIC, "consumer")
    assert not follows(CLASSIC, "connect")
    assert not follows(STREAMS, "")


def span(offset: int) -> Span:
    return Span(1_000, offset, 3, True)


def state_row(offset: int) -> MemberState:
    return MemberState(
        **life().place,
        from_offset=offset,
        **Member("a").client,
        member_epoch=3,
        state="STABLE",
        from_at=1_000,
        partitions_assigned=2,
        partitions_pending=1,
        waiting_on=[],
    )


def member(row: MemberState) -> Member:
    return Member(
        "a",
        epoch=3,
        assigned=frozenset({FOO_0, FOO_1}),
        pending=frozenset({FOO_2}),
        target=frozenset({FOO_0}),
        target_offset=30,
        current_offset=60,
        current_at=6_000,
        spans={FOO_0: span(20), FOO_1: span(60), FOO_2: span(20)},
        state_row=row,
        joined_at=100,
        join_observed=True,
        profile=Profile(session_timeout_ms=45_000),
    )


def test_a_member_behind_a_hole_has_what_its_last_k8_says_since_that_k8() -> None:
    """What it held before the hole ends with the life before; what began behind it goes on."""
    old = member(state_row(20))
    began = old.spans[FOO_1]
    new = old.since(55)
    assert new.spans[FOO_1] is began
    assert sorted(new.spans) == [FOO_0, FOO_1, FOO_2]
    assert new.spans[FOO_0] == Span(6_000, 60, 3, False)
    assert sorted(old.spans) == [FOO_0, FOO_2]
    assert (new.joined_at, new.joined_offset, new.join_observed) == (6_000, 60, False)
    assert (new.target, new.target_offset) == (None, -1), "its target is of before"
    assert new.own_session_ms == 45_000


def test_an_open_row_stays_with_the_life_in_which_it_began() -> None:
    before, behind = member(state_row(20)), member(state_row(60))
    of_new = (before.since(55).state_row, behind.since(55).state_row)
    assert (of_new[0], before.state_row is not None) == (None, True)
    assert (of_new[1] is not None, behind.state_row) == (True, None)


def test_a_target_that_was_set_behind_the_hole_counts() -> None:
    old = member(state_row(20))
    old.target_offset = 58
    new = old.since(55)
    assert (new.target, new.target_offset) == (frozenset({FOO_0}), 58)


def test_a_process_is_known_by_its_client_id_and_its_host() -> None:
    keys = {
        client_key("c", "/h"),
        client_key("c", None),
        client_key("ch", "/"),
        client_key(None, "/h"),
    }
    assert len(keys) == 4
    assert Member("m", client_id="c", client_host="/h").client_key == client_key("c", "/h")


def test_what_a_member_still_gives_back_it_holds() -> None:
    assert member(state_row(20)).held == {FOO_0, FOO_1, FOO_2}
    assert Member("a", assigned=frozenset({FOO_0})).held == {FOO_0}


def test_facts_say_whose_they_are() -> None:
    row = HeldPartition(
        **life().place,
        from_offset=1,
        member_id="a",
        instance_id=None,
        topic="foo",
        topic_id="foo-id",
        partition=0,
        assigned_at=1,
        assigned_epoch=1,
    )
    assert (row.group_id, row.incarnation, row.offsets_partition) == ("g", 10, 3)
