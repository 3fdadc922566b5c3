"""Which changes of hands a generation brings, by hand-written truths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.expected.transitions import transitions_of
from tests.simulator.written import BORN, classic_generation, history_of, line


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
