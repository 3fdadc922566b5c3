"""What events of waves are priced by, of groups by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.simulator.expected.wave_events import partitions_of
from tests.simulator.expected.waves import chains_of
from tests.simulator.written import AGAIN, ID, history_of, line


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
