"""What a removal shows, and whom an epoch is due to.

Source: docs/measures.md, Hand-overs; GroupMetadataManager.scheduleConsumerGroupRebalanceTimeout.
"""

from __future__ import annotations

import pytest

from groupreplay.replay.causes import FENCE_SLACK_MS, only, removal_outcome
from groupreplay.replay.facts import HandOver
from groupreplay.replay.life import CONSUMER, Life, Member

SINCE = 10_000
TIMEOUT_MS = 60_000


def asked(timeout_ms: int | None) -> Member:
    """A member that was asked for a partition."""
    life = Life("g", 0, 0, CONSUMER)
    row = HandOver(
        **life.place,
        from_offset=7,
        epoch=1,
        **Member("m").client,
        topic="foo",
        topic_id="foo-id",
        partition=0,
        target_at=None,
        requested_at=SINCE,
        notify_ms=None,
        timeout_ms=timeout_ms,
    )
    return Member("m", requests={("foo-id", 0): row}, revoking_since=SINCE)


@pytest.mark.parametrize(
    ("after_ms", "outcome"),
    [
        (TIMEOUT_MS, "FENCED"),
        (TIMEOUT_MS - FENCE_SLACK_MS, "FENCED"),
        (TIMEOUT_MS - FENCE_SLACK_MS - 1, "LEFT_OR_FENCED"),
    ],
)
def test_a_member_is_fenced_whose_timer_had_run_out(after_ms: int, outcome: str) -> None:
    assert removal_outcome(asked(TIMEOUT_MS), SINCE + after_ms) == outcome


def test_without_a_timeout_the_topic_cannot_show_it() -> None:
    assert removal_outcome(asked(None), SINCE + 10 * TIMEOUT_MS) == "LEFT_OR_FENCED"
    assert removal_outcome(Member("m"), SINCE) == "LEFT_OR_FENCED"


def test_an_epoch_is_due_to_one_member_or_to_none() -> None:
    assert (only(["a"]), only([]), only(["a", "b"])) == ("a", None, None)
