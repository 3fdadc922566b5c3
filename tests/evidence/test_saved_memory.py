"""Evidence of a group to bytes and back. States of released versions are in
`tests/replay/test_kept_states.py`.
"""

from __future__ import annotations

import pytest

from groupreplay.evidence.evidence_facts import Rebalance
from groupreplay.evidence.memory import Evidence
from groupreplay.evidence.saved_memory import from_bytes, to_bytes
from groupreplay.state_codec import StateError


def rebalance(generation: int = 3) -> Rebalance:
    return Rebalance(
        group_id="g",
        broker=1,
        source="server_log",
        input="a",
        position=9,
        generation=generation,
        started_at=1_000,
        group_state=None,
        reason=None,
        cause="NEW_MEMBER",
        cause_member_id=None,
        client_reason=None,
        members_missing=[],
        members_dropped=[],
    )


def evidence() -> Evidence:
    return Evidence("g", instances={"i": "m"}, last_at=9_000, answered_gap_ms=3)


def test_what_is_kept_comes_back() -> None:
    one = evidence()
    assert from_bytes(to_bytes(one)) == one
    assert to_bytes(one) == to_bytes(evidence()), "equal evidence gives equal bytes"


def test_what_differs_has_other_bytes() -> None:
    other = evidence()
    other.owner = 2
    assert to_bytes(other) != to_bytes(evidence())


def test_states_up_to_0_2_0_have_one_rebalance() -> None:
    """It becomes that of its broker; one that is there already is the newer."""
    old, both = evidence(), evidence()
    old.rebalance = both.rebalance = rebalance()
    read = from_bytes(to_bytes(old))
    assert read.rebalance is None
    assert read.rebalances == {1: rebalance()}
    both.rebalances[1] = rebalance(4)
    assert from_bytes(to_bytes(both)).rebalances == {1: rebalance(4)}


@pytest.mark.parametrize("data", [b"", b"\x00", b"not a state"])
def test_bytes_that_are_no_state_are_refused(data: bytes) -> None:
    with pytest.raises(StateError):
        from_bytes(data)
