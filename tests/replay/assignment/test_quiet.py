"""Members that hold partitions and commit nothing while others do: ASSIGNED_NOT_CONSUMING.

Source: docs/measures.md, Stuck.
"""

from __future__ import annotations

import pytest

from groupreplay.limits import MIN_QUIET_MS
from groupreplay.replay.assignment.quiet import QuietMembers
from groupreplay.replay.change import Change
from groupreplay.replay.facts import Stall
from groupreplay.replay.life import CONSUMER, Life, Member, Span
from groupreplay.replay.names import Names
from groupreplay.replay.output import Output

FOO_0, FOO_1 = ("foo-id", 0), ("foo-id", 1)
SINCE = 10_000
LATER = SINCE + MIN_QUIET_MS


class Group:
    """a holds foo-0 since offset 5, b foo-1."""

    def __init__(self, *, named: bool = True) -> None:
        self.life = Life("g", 0, 0, CONSUMER, last_change_offset=5)
        self.output = Output()
        names = Names({"foo-id": "foo"} if named else {}, self.life)
        self.quiet = QuietMembers(self.life, names, self.output)
        self.a, self.b = self.hold("a", FOO_0), self.hold("b", FOO_1)

    def hold(self, member_id: str, unit: tuple[str, int]) -> Member:
        member = Member(member_id, owns_since_at=SINCE, owns_since_offset=5)
        member.spans[unit] = Span(SINCE, 5, 1, True)
        self.life.members[member_id] = member
        return member

    def stalls(self) -> list[tuple[str | None, int, int | None]]:
        return [
            (each.member_id, each.since_at, each.until_at)
            for each in self.output.take()
            if isinstance(each, Stall) and each.reason == "ASSIGNED_NOT_CONSUMING"
        ]


def test_a_member_is_quiet_from_its_last_commit_while_another_commits() -> None:
    group = Group()
    group.quiet.committed(group.a, SINCE + 500, 6, -1)
    group.quiet.committed(group.b, LATER + 500, 7, -1)
    assert group.quiet.is_quiet(group.a, -1) == (SINCE + 500, 6)
    assert group.quiet.is_quiet(group.b, -1) is None


def test_one_that_never_committed_is_quiet_since_it_got_its_first_partition() -> None:
    group = Group()
    group.quiet.committed(group.b, LATER, 6, -1)
    assert group.quiet.is_quiet(group.a, -1) == (SINCE, 5)


def test_where_nobody_commits_nobody_is_quiet() -> None:
    group = Group()
    assert group.quiet.is_quiet(group.a, -1) is None
    group.quiet.committed(group.a, SINCE + 1, 6, -1)
    assert group.quiet.is_quiet(group.a, -1) is None


@pytest.mark.parametrize(("lasted_ms", "rows"), [(MIN_QUIET_MS, 1), (MIN_QUIET_MS - 1, 0)])
def test_its_first_commit_ends_the_stretch(lasted_ms: int, rows: int) -> None:
    group = Group()
    group.quiet.committed(group.b, SINCE + 1, 6, -1)
    group.quiet.committed(group.a, SINCE + lasted_ms, 7, -1)
    assert group.stalls() == [("a", SINCE, SINCE + lasted_ms)][:rows]


def test_a_silence_without_a_change_of_the_group_in_it_is_not_exact() -> None:
    """Commits between two changes are reduced: those in between were not kept."""
    group = Group()
    group.quiet.committed(group.a, SINCE + 1, 6, -1)
    group.quiet.committed(group.b, SINCE + 2, 7, -1)
    group.quiet.committed(group.b, LATER, 8, -1)
    group.quiet.committed(group.a, LATER + 1_000, 9, -1)
    assert group.stalls() == []
    group.life.last_change_offset = 10
    group.quiet.committed(group.b, LATER + 90_000, 11, -1)
    group.quiet.committed(group.a, LATER + 100_000, 12, -1)
    assert group.stalls() == [("b", LATER, LATER + 90_000), ("a", LATER + 1_000, LATER + 100_000)]


def test_commits_may_be_lost_in_a_hole() -> None:
    group = Group()
    group.quiet.committed(group.b, LATER, 6, -1)
    assert group.quiet.quiet_since(group.a, 5) == (SINCE, 5)
    assert group.quiet.quiet_since(group.a, 6) is None
    assert group.quiet.is_quiet(group.a, 6) is None


def test_commits_of_a_topic_without_a_name_may_be_its_own() -> None:
    group = Group(named=False)
    group.quiet.committed(group.b, LATER, 6, -1)
    assert group.quiet.is_quiet(group.a, -1) is None


def silent_ms(group: Group, at_ms: int, *left_behind: str) -> int | None:
    change = Change(at_ms, 9, 9, 1, -1, left_behind=frozenset(left_behind))
    return group.quiet.silent_ms(change, group.a)


def test_a_commit_that_was_nobodys_may_have_been_its_own() -> None:
    group = Group()
    group.quiet.committed(group.b, LATER, 6, -1)
    group.quiet.may_have_committed(group.a, 7)
    assert group.quiet.is_quiet(group.a, -1) is None
    assert silent_ms(group, LATER) is None


def test_silence_is_counted_from_the_last_commit_alone() -> None:
    group = Group()
    assert silent_ms(group, LATER) is None, "it never did"
    group.quiet.committed(group.a, SINCE, 6, -1)
    assert silent_ms(group, LATER) == MIN_QUIET_MS
    assert silent_ms(group, SINCE - 5) == -5, "a clock went back"
    group.a.spans.clear()
    assert silent_ms(group, LATER) is None, "it holds nothing"
    assert silent_ms(group, LATER, "a") == MIN_QUIET_MS, "it held something until an upgrade"
