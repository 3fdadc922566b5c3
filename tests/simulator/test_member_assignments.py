"""End reasons of spans: what a truth shows of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.simulator.compare import OneOf
from tests.simulator.expected import member_assignments
from tests.simulator.written import ID, history_of, line

_SUBSCRIBED: dict[str, Any] = {
    "e": 2,
    "pe": 0,
    "st": "STABLE",
    "cl": "c",
    "rt": 1,
    "sub": ["t"],
    "pr": {},
}


@pytest.mark.parametrize(
    ("regex", "subscribed", "is_sure"),
    [("x.*", ["t"], False), (None, ["t"], True), (None, ["t", "u"], False)],
    ids=["waits", "is told", "says something else"],
)
def test_a_topic_need_not_seem_gone_where_its_member_may_have_given_it_up(
    regex: str | None, subscribed: list[str], is_sure: bool, tmp_path: Path
) -> None:
    """One target takes a partition from a for b, b goes, and the topic too; the next target leaves
    it out while c's expression is not resolved (4.4), which says nothing of the topic. Nor does it
    where a names other topics since: which id is of a topic that it names may be unknown."""
    state = {"type": "consumer", "ge": 2, "te": 2}
    first = {"a": {**_SUBSCRIBED, "a": {ID: [0, 1]}, "ta": {ID: [0, 1]}}}
    joins = {
        "a": {**first["a"], "ta": {ID: [1]}},
        "b": {**_SUBSCRIBED, "e": 3, "a": {}, "ta": {ID: [0]}},
    }
    comes = {
        "a": {**first["a"], "ta": {}, "sub": subscribed},
        "c": {**_SUBSCRIBED, "e": 4, "a": {}, "ta": {}, "sub": [], "re": regex},
    }
    gives = {"a": {**first["a"], "e": 4, "a": {}, "ta": {}}}
    history = history_of(
        tmp_path,
        line(0, "join", recs=["K3 epoch 2"], s={"g": {**state, "ms": first}}),
        line(3, "join", recs=["K6 target epoch 3"], s={"g": {**state, "ms": joins}}),
        line(6, "leave", recs=["K3 epoch 4"], s={"g": {**state, "gone": ["b"]}}),
        line(8, "join", recs=["K6 target epoch 4"], s={"g": {**state, "ms": comes}}),
        line(10, "heartbeat", recs=["K8 a"], s={"g": {**state, "ms": gives}}),
        timeline=[{"t": 1_005, "what": "delete", "detail": f"t {ID}"}],
    )
    rows = member_assignments.CHECK.wanted(history).values()
    wanted = "TOPIC_REMOVED" if is_sure else OneOf(("REVOKED", "TOPIC_REMOVED"))
    assert [row.values["end_reason"] for row in rows] == [wanted, wanted]
