"""What requests show of members beside records: whether one went on, and who it is."""

from __future__ import annotations

import pytest

from tests.simulator.answers import Answer
from tests.simulator.expected.failover_lines import goes_on
from tests.simulator.expected.flips import client_by_log


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


def test_who_took_over_from_one_in_no_k2_has_its_own_client_by_the_log() -> None:
    """The coordinator renames the member that waits, and keeps the client of the one before."""
    known = {"client_id": "old", "client_host": "/10.0.0.1", "client_inherited": False}
    client = client_by_log(known, [("new", "/10.0.0.2")])
    for name, admitted in (("client_id", ("old", "new")), ("client_host", ("/10.0.0.2",))):
        assert all(client[name].admits(each) for each in admitted)
        assert not client[name].admits("other")
