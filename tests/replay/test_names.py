"""Topic ids and their names, as a group learns them."""

from __future__ import annotations

from groupreplay.replay.life import CONSUMER, Life
from groupreplay.replay.names import Names


def life(**learned: str) -> Life:
    return Life("g", 0, 0, CONSUMER, topic_names=dict(learned))


def test_a_name_is_learned_once() -> None:
    names = Names({}, life())
    assert names.name("id1") is None
    assert names.learn("id1", "foo")
    assert not names.learn("id1", "bar")
    assert names.name("id1") == "foo"


def test_what_is_given_from_outside_wins() -> None:
    names = Names({"id1": "given"}, life(id1="learned"))
    assert names.name("id1") == "given"
    assert names.ids("given") == ["id1"]
    assert names.ids("learned") == []


def test_a_topic_that_was_created_again_has_several_ids_oldest_first() -> None:
    names = Names({"id2": "foo", "id1": "foo"}, life())
    assert names.ids("foo") == [], "the group deals with none of them yet"
    names.see("id1")
    names.see("id2")
    names.see("id1")
    assert names.ids("foo") == ["id1", "id2"]


def test_ids_are_in_the_same_order_when_a_state_was_read_back() -> None:
    kept = life()
    names = Names({"id2": "foo"}, kept)
    names.see("id2")
    names.learn("id1", "foo")
    assert Names({"id2": "foo"}, kept).ids("foo") == names.ids("foo") == ["id2", "id1"]


def test_an_id_without_a_name_is_not_seen_before_it_has_one() -> None:
    names = Names({}, life())
    names.see("id1")
    assert names.ids("foo") == []
    names.learn("id1", "foo")
    assert names.ids("foo") == ["id1"]


def test_a_name_with_several_given_ids_has_none_that_is_sure() -> None:
    names = Names({"id1": "foo", "id2": "foo", "id3": "bar"}, life())
    assert names.given_id("bar") == "id3"
    assert names.given_id("foo") is None
    assert names.given_id("baz") is None
