"""Templates of log lines: fixed text with gaps, and that no line is read that has two readings."""

from __future__ import annotations

import pytest

from groupreplay.wire.text.line_template import Template, match, template

UUID = "6b6ee1d0-1f0b-4bd5-b2a7-1f1b9c0a7a10"
JOINED = template("JOINED", "[Group <G>] Member <M> joined")
LEFT = template("LEFT", "[Group <G>] Member <M> left: <R>")


def test_alternatives_and_gaps_make_one_regex() -> None:
    one = template("X", "{A|B} of <G> [<E>]{.|}")
    assert isinstance(one, Template)
    assert one.needle == " of "
    for text in ("A of g [1].", "B of g [-1]"):
        assert one.greedy.fullmatch(text)
    assert not one.greedy.fullmatch("C of g [1].")


def test_the_needle_is_the_longest_fixed_text() -> None:
    assert (JOINED.needle, LEFT.needle) == ("] Member ", "] Member ")
    assert template("X", "<G> has expired").needle == " has expired"


def test_a_gap_that_a_client_can_fill_is_free_but_for_the_group_s() -> None:
    assert (JOINED.free, LEFT.free) == (False, True)


def test_a_template_gives_what_is_fixed_and_what_fills_its_gaps() -> None:
    one = template("EPOCH", "[Group <G>] epoch <E>", protocol="consumer")
    found = match((JOINED, one), "[Group a b] epoch -1")
    assert found == (one, {"group_id": "a b", "epoch": "-1"})
    assert found is not None
    assert found[0].fixed == (("protocol", "consumer"),)


def test_a_line_of_no_template_is_none() -> None:
    assert match((JOINED, LEFT), f"[Group g] Member c-{UUID} went") is None
    assert match((JOINED,), f"INFO [Group g] Member c-{UUID} joined") is None, "anchored"


def test_a_member_of_an_older_client_may_have_any_client_id_before_its_uuid() -> None:
    found = match((JOINED,), f"[Group g] Member my app-{UUID} joined")
    assert found is not None
    assert found[1] == {"group_id": "g", "member_id": f"my app-{UUID}"}


@pytest.mark.parametrize(
    "group",
    [f"g] Member a-{UUID} left: x [Group h", f"g] Member b-{UUID} joined"],
    ids=["another template", "the same template"],
)
def test_a_line_with_two_readings_is_not_read(group: str) -> None:
    """A group id may hold the text of a line: whose line it is cannot be said."""
    line = f"[Group {group}] Member c-{UUID} left: because"
    assert match((JOINED, LEFT), line) is None


def test_an_id_without_a_space_needs_no_second_look() -> None:
    found = match((JOINED, LEFT), "[Group g] Member dGhlIG1lbWJlciBpZCBoZXJl joined")
    assert found is not None
    assert found[0] is JOINED


def test_a_line_of_a_streams_member_is_none_of_the_others() -> None:
    """Its members have an id of their own in front: `[GroupId g][MemberId m]`."""
    one = template("X", "<not streams>[GroupId <G>] gone")
    assert match((one,), "[GroupId g] gone") is not None
    assert match((one,), "[GroupId g][MemberId m] [GroupId h] gone") is None
