"""What events of waves are priced by, of groups by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.simulator.expected.wave_events import happened, partitions_of
from tests.simulator.expected.waves import chains_of
from tests.simulator.written import AGAIN, ID, classic_generation, history_of, line


def _holds(topic_id: str) -> dict[str, Any]:
    """A member of the consumer protocol that has one partition of a topic."""
    member = {"e": 2, "pe": 0, "st": "STABLE", "cl": "c", "rt": 1, "sub": ["t"]}
    return member | {"a": {topic_id: [0]}, "pr": {}, "ta": {topic_id: [0]}}


def test_partitions_of_a_deleted_topic_are_held_beside_those_of_its_successor(
    tmp_path: Path,
) -> None:
    """One member still has what the topic was before, another one what it is now."""
    group = {"type": "consumer", "ge": 2, "te": 2}
    history = history_of(
        tmp_path,
        line(0, "join", recs=["K3 epoch 2"], s={"g": {**group, "ms": {"a": _holds(ID)}}}),
        line(2, "join", s={"g": {**group, "ms": {"b": _holds(AGAIN)}}}),
        line(4, "leave", recs=["K3 epoch 3"], s={"g": {**group, "ge": 3, "gone": ["b"]}}),
    )
    (chain,) = chains_of(history)
    assert [partitions_of(history, event, 0) for event in chain.events] == [1, 2, 2]


def test_what_was_let_go_by_name_is_not_seen_in_a_target_by_ids(tmp_path: Path) -> None:
    """b goes in an upgrade, and what it had waits in a's target until a goes too. Where the topic is
    deleted its name need not be known."""
    group = {"type": "consumer", "ge": 2, "te": 2}
    both = {**_holds(ID), "classic": 1, "ta": {ID: [0, 1]}}
    upgrade = {"ms": {"a": both, "c": {**_holds(ID), "a": {}, "ta": {}}}, "gone": ["b"]}
    history = history_of(
        tmp_path,
        line(0, "sync", **classic_generation(1, "a", "b")),
        line(20, "join", s={"g": {**group, **upgrade}}, recs=["K2 gone", "K3 epoch 2"]),
        line(50, "leave", recs=["K3 epoch 3"], s={"g": {**group, "ge": 3, "gone": ["a"]}}),
        timeline=[{"t": 1_060, "what": "delete", "detail": f"t {ID}"}],
    )
    (chain,) = chains_of(history)
    last = chain.events[-1]
    assert partitions_of(history, last, 0) == 2
    assert partitions_of(history, last, 0, knows_names=False) == 1


def test_what_the_next_target_gives_to_nobody_is_not_to_be_read(tmp_path: Path) -> None:
    """A member goes, and nobody who stays subscribes to its topic."""
    group = {"type": "consumer", "ge": 2, "te": 2}
    idle = {**_holds(ID), "a": {}, "ta": {}}
    history = history_of(
        tmp_path,
        line(0, "join", recs=["K3 epoch 2"], s={"g": {**group, "ms": {"a": _holds(ID)}}}),
        line(2, "join", s={"g": {**group, "ms": {"b": idle}}}),
        line(4, "leave", recs=["K3 epoch 3"], s={"g": {**group, "ge": 3, "gone": ["a"]}}),
        line(6, "heartbeat", recs=["K6 target epoch 3"], s={"g": {**group, "ge": 3, "te": 3}}),
    )
    (chain,) = chains_of(history)
    found = [happened(history, event, None) for event in chain.events]
    assert [each.kind for each in found] == ["J", "J", "G"]
    assert [(each.held, each.left_out) for each in found] == [(0, 0), (0, 0), (0, 1)]
    assert [each.partitions for each in found] == [1, 1, 0]
