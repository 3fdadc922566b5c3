"""What an upgrade writes of a member that joined again before it, and that it lets go at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.simulator.compare import OneOf
from tests.simulator.expected import members
from tests.simulator.expected.history import History
from tests.simulator.expected.said_again import REBALANCE_IN_PROGRESS
from tests.simulator.written import BORN, ID, answer, classic_generation, history_of, line

UPGRADE = 60
FIRST = {"ss": 1, "v": 3, "sub": ["t"], "own": {}}
"""Words of who joins for the first time: it was in no generation."""


def _replaced(
    folder: Path, proto: str, *asked: dict[str, Any], told: tuple[str, ...] = (), at: int = 30
) -> History:
    """Static member a is in generation 1 of K2 20, and a consumer takes its instance over, which
    upgrades the group. told: other records of that K2. at: when it subscribes to two topics."""
    one = classic_generation(1, "a", proto=proto, said=FIRST, i="i")
    has = {"a": {ID: [0]}, "pr": {}, "ta": {ID: [0]}}
    taken = {"b": {"e": 1, "pe": 0, "st": "STABLE", "cl": "b", "i": "i", "rt": 1, **has}}
    state = {"type": "consumer", "ge": 1, "te": 1, "gone": ["a"], "ms": taken}
    subscribed = {"t": 1_000 + at, "what": "subscribe", "detail": "g a a [t, u]", "m": "a"}
    return history_of(
        folder,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **(one | {"recs": [*told, "K2 generation 1"]})),
        line(UPGRADE, "join", recs=["K2 gone", "K5 a", "K5 a gone"], s={"g": state}),
        timeline=[subscribed],
        answers=asked,
    )


def _sync(**more: Any) -> dict[str, Any]:
    return answer(20, 21, "SYNC_GROUP", "sync", ge=1, **more)


def _heartbeat(code: int) -> dict[str, Any]:
    return answer(30, 30, "HEARTBEAT", "heartbeat", ge=1, code=code)


def _join(came: int = 40, code: int = REBALANCE_IN_PROGRESS) -> dict[str, Any]:
    return answer(came, UPGRADE, "JOIN_GROUP", "join", code=code)


@pytest.mark.parametrize(
    ("proto", "asked", "told", "lists_owned"),
    [
        ("range", [_sync()], (), None),
        ("range", [_sync(), _join()], (), False),
        ("range", [_sync(), _join(came=15)], (), None),
        ("range", [_sync(), _join(code=25)], (), None),
        ("range", [_sync(), _heartbeat(22), _join()], (), None),
        ("cooperative-sticky", [_sync(), _join()], (), True),
        ("cooperative-sticky", [_sync(code=27), _join()], (), OneOf((True, False))),
        ("cooperative-sticky", [_sync(), _join()], ("K3 gone",), OneOf((True, False))),
    ],
    ids=[
        *("never", "eager", "before that K2", "refused", "in none"),
        *("cooperative", "never given", "after a downgrade"),
    ],
)
def test_the_last_words_are_those_of_a_join_that_no_k2_has(
    proto: str, asked: list[dict[str, Any]], told: tuple[str, ...], lists_owned: Any, tmp_path: Path
) -> None:
    history = _replaced(tmp_path, proto, *asked, told=told)
    (wanted,) = (each for key, each in members.CHECK.wanted(history).items() if "a" in key)
    assert wanted.values["lists_owned"] == lists_owned


@pytest.mark.parametrize(
    ("at", "topics"),
    [(15, 2), (30, 2), (50, 1)],
    ids=["before that K2", "before it", "behind it"],
)
def test_it_says_the_topics_that_it_had_subscribed_to_by_then(
    at: int, topics: int, tmp_path: Path
) -> None:
    history = _replaced(tmp_path, "range", _sync(), _join(), at=at)
    (wanted,) = (each for key, each in members.CHECK.wanted(history).items() if "a" in key)
    assert wanted.values["topics_subscribed"] == topics
