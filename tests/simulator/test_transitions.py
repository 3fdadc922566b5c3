"""Which changes of hands a generation brings, by hand-written truths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.simulator.expected.estimated import Estimated
from tests.simulator.expected.transitions import is_kept, join_phases_of, transitions_of
from tests.simulator.expected.unread import unread_of
from tests.simulator.written import BORN, answer, classic_generation, history_of, line


@pytest.mark.parametrize(
    ("owned", "stopped"), [({}, 1), ({"t": [0]}, 0)], ids=["never given", "given"]
)
def test_who_never_got_what_it_was_given_stops_as_eager_members_do(
    owned: dict[str, list[int]], stopped: int, tmp_path: Path
) -> None:
    """Another member joins while generation 1 of a cooperative group is written. Its only member is
    refused its assignment, and lists nothing when it joins generation 2, which leaves it what it
    had."""
    said = {"ss": 1, "v": 3, "sub": ["t"], "own": owned, "gen": 1}
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a", proto="cooperative-sticky")),
        line(40, "sync", **classic_generation(2, "a", "b", proto="cooperative-sticky", said=said)),
    )
    (life,) = history.lives
    assert len(transitions_of(history, life)) == stopped


@pytest.mark.parametrize(
    ("said", "is_static", "took_it"),
    [
        ({"own": {"t": [0]}, "gen": 2}, False, 0),
        ({"own": {"t": [0]}}, False, 0),
        ({"own": {"t": [0]}, "gen": 1}, True, 20),
        ({"own": {}, "gen": 2}, False, 20),
    ],
    ids=["never told", "by an old client", "static, did not join", "given up"],
)
def test_who_never_heard_that_a_generation_took_a_partition_read_on(
    said: dict[str, Any], is_static: bool, took_it: int, tmp_path: Path
) -> None:
    """Generation 2 took it, and the one after gives it back, whose member lists it as owned."""
    told, sticky = {"ss": 1, "v": 3, "sub": ["t"]}, {"proto": "cooperative-sticky"}
    static = {"i": "i"} if is_static else {}
    second = classic_generation(2, "a", **sticky, **static, said={**told, "own": {"t": [0]}})
    second["s"]["g"]["ms"]["a"]["an"] = {}
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a", **sticky, **static)),
        line(40, "sync", **second),
        line(60, "sync", **classic_generation(3, "a", **sticky, **static, said={**told, **said})),
    )
    (life,) = history.lives
    (unread,) = unread_of(history, life)
    assert is_kept(life, unread) == (took_it == 0)
    assert Estimated(history, life, {}).of([unread])[0].most == took_it


@pytest.mark.parametrize(
    ("owned", "idle_ms"), [({"t": [0]}, 80 - 30), ({}, None)], ids=["goes on", "stops again"]
)
def test_a_stop_ends_with_the_first_commit_before_its_member_stops_again(
    owned: dict[str, list[int]], idle_ms: int | None, tmp_path: Path
) -> None:
    """In generation 3 its member goes on with what it had where it lists that as owned."""
    said = {"ss": 1, "v": 3, "sub": ["t"], "gen": 1, "own": {}}
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a")),
        line(30, "commit", c=["K1 g t-0 5"]),
        line(40, "sync", **classic_generation(2, "a", "b", said=said)),
        line(60, "sync", **classic_generation(3, "a", "b", said={**said, "own": owned})),
        line(80, "commit", c=["K1 g t-0 6"]),
    )
    (life,) = history.lives
    found = [each for each in transitions_of(history, life) if each.unread.place == 2]
    assert [each.idle_ms for each in found] == [idle_ms]


def test_a_former_leader_still_answers_joins_of_a_generation_that_it_never_tells(
    tmp_path: Path,
) -> None:
    """Its clock is behind: it seems to have answered them first."""
    elected = {"t": 1_022, "what": "elect", "detail": "3 1", "p": 3, "br": 1}
    joins = [
        answer(at, at, "JOIN_GROUP", "join", ae=2, br=broker) | {"t": 1_000 + true_at}
        for at, true_at, broker in ((5, 25, 2), (30, 30, 1))
    ]
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a")),
        line(40, "sync", **classic_generation(2, "a")),
        timeline=[elected],
        answers=joins,
    )
    assert join_phases_of(history, history.lives[0]) == {40: 1_030}
