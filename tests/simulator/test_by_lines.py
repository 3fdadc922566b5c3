"""What requests show of members beside records: whether one went on."""

from __future__ import annotations

import pytest

from tests.simulator.answers import Answer
from tests.simulator.expected.failover_lines import goes_on


@pytest.mark.parametrize(
    ("member_id", "code", "came_at", "is_there"),
    [("a", 0, 40, True), ("b", 0, 40, False), ("a", 25, 40, False), ("a", 0, 20, False)],
    ids=["answered", "another member", "refused", "asked before"],
)
def test_who_is_answered_behind_its_session_was_not_removed_by_that(
    member_id: str, code: int, came_at: int, is_there: bool
) -> None:
    """A session runs out while its member waits in a rebalance: the coordinator keeps it."""
    sync = Answer(50, 1, came_at, code, "sync", member_id, "SYNC_GROUP", true_at=50)
    assert goes_on([sync], "a", since=30, until=90) is is_there
