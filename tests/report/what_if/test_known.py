"""What is known of a wave when it is priced: what it has cost, and how long who came back was gone.

Source: docs/decisions.md, what_if.
"""

from __future__ import annotations

import pytest

from groupreplay.report.what_if.known import Event, Gone, Wave, gap_of
from groupreplay.report.what_if.times import Bracket


def event(kind: str, held: int = 3, gone: Gone | None = None, **more: int) -> Event:
    return Event(kind=kind, at=1_000, held=held, gone=gone, **more)


def test_partitions_of_those_of_whom_nothing_is_known_are_counted() -> None:
    wave = Wave(
        mode="EAGER",
        events=[
            event("G", 1, Gone(end="LEFT")),
            event("G", 2, Gone()),
            event("G", 4),
            event("R", 8, Gone()),
            event("R", 16, Gone(uncommitted_ms=5)),
            event("J", 32),
        ],
    )
    assert (wave.unknown_held, wave.left_held) == (2 + 4 + 8, 1 + 2 + 4 + 8 + 16)


@pytest.mark.parametrize(
    ("ends", "est_ms", "actual_ms"),
    [
        (["LEFT"], 9_000, 9_000),
        (["POLL_TIMEOUT"], 9_000, 5_000),
        (["POLL_TIMEOUT", "POLL_TIMEOUT", "POLL_TIMEOUT"], 9_000, 0),
        (["LEFT", "JOIN_TIMEOUT"], 9_000, None),
        (["LEFT"], None, None),
    ],
    ids=["left", "stood still before", "more than all", "others waited", "not known"],
)
def test_what_a_protocol_can_change_leaves_out_what_stood_still_before(
    ends: list[str], est_ms: int | None, actual_ms: int | None
) -> None:
    events = [event("G", gone=Gone(end=end, unread_ms=4_000)) for end in ends]
    assert Wave(mode="EAGER", events=events, est_ms=est_ms).actual_ms == actual_ms


@pytest.mark.parametrize(
    ("kind", "gone", "gap"),
    [
        ("G", Gone(), None),
        ("G", Gone(back_ms=700), None),
        ("G", Gone(back_ms=700, silent_ms=300), Bracket(700, 1_000, 1_000)),
        ("J", Gone(back_ms=700, away_ms=200, silent_ms=300), Bracket(900, 900, 900)),
        ("R", Gone(away_ms=400), Bracket(400, 400, 400)),
        ("R", Gone(unheard_ms=900, absent_ms=1_200), Bracket(400, 1_200, 1_200)),
        ("R", Gone(unheard_ms=300, uncommitted_ms=2_000), Bracket(0, 300, 2_000)),
        ("R", Gone(uncommitted_ms=2_000), Bracket(0, 2_000, 2_000)),
        ("R", Gone(), None),
        ("A", Gone(away_ms=400), None),
    ],
)
def test_how_long_a_process_was_gone(kind: str, gone: Gone, gap: Bracket | None) -> None:
    """Classic heartbeats are 500 ms apart: it was there until the next one, at least."""
    assert gap_of(event(kind, gone=gone), classic_heartbeat_ms=500) == gap


def test_one_that_was_taken_over_was_not_gone_for_longer_than_its_session() -> None:
    gone = Gone(uncommitted_ms=60_000)
    assert gap_of(event("R", gone=gone, session_ms=45_000)) == Bracket(0, 45_000, 45_000)


def test_a_new_process_was_nowhere_before() -> None:
    assert gap_of(event("J")) is None
