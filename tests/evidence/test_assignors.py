"""Assignors that fail: lines of a coordinator that could compute no target, and what the machine
makes of them, wherever nights cut them.
"""

from __future__ import annotations

import itertools

import pytest

from groupreplay.evidence.evidence_facts import AssignorFailure, EvidenceFact, Rebalance
from groupreplay.evidence.memory import Line
from groupreplay.evidence.refusal_runs import RUN_GAP_MS
from groupreplay.records.log_events import LogEvent
from groupreplay.wire.text.broker_clock import BrokerClock
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN, LineLayout
from groupreplay.wire.text.server_log import ServerLogParser
from tests.support.log_lines import proved

AT = 1_795_300_000_000
UNASSIGNED = "Partitions were left unassigned."


def line(at_ms: int, event: str, epoch: int, detail: str | None = None) -> Line:
    return Line(
        LogEvent(event=event, at_ms=at_ms, group_id="g", epoch=epoch, detail=detail),
        1,
        "server_log",
        "server.log",
        at_ms - AT,
        at_ms,
    )


def failed(after_ms: int, epoch: int = 2, detail: str = UNASSIGNED) -> Line:
    return line(AT + after_ms, "TARGET_FAILED", epoch, detail)


def computed(after_ms: int, epoch: int = 2) -> Line:
    return line(AT + after_ms, "TARGET_COMPUTED", epoch, "uniform")


def failures(
    lines: list[Line], newest_ms: int, cuts: tuple[int, ...] = ()
) -> list[tuple[int, int, int | None, int, int | None, str | None, bool]]:
    """first_at, last_at and until_at after AT, attempts, epoch, reason, is_final."""
    found: list[EvidenceFact] = proved("g", lines, AT + newest_ms, cuts)
    return [
        (
            *(
                each.first_at - AT,
                each.last_at - AT,
                None if each.until_at is None else each.until_at - AT,
            ),
            *(each.attempts, each.epoch, each.reason, each.is_final),
        )
        for each in found
        if isinstance(each, AssignorFailure)
    ]


def test_a_run_goes_on_until_a_target_is_computed() -> None:
    """A request that fails writes no epoch, so the next one names the same; members that leave bump
    it meanwhile.
    """
    lines = [
        computed(0, 1),
        failed(10),
        failed(5_010),
        failed(9_000, 3),
        computed(12_000, 3),
        computed(13_000, 4),
    ]
    expected = [(10, 9_000, 12_000, 3, 3, UNASSIGNED, True)]
    assert failures(lines, 13_000) == expected
    for cuts in itertools.combinations(range(1, len(lines)), 2):
        assert failures(lines, 13_000, cuts) == expected, cuts


def test_another_reason_is_another_run() -> None:
    lines = [failed(0), failed(1_000, detail="No rack."), failed(2_000, detail="No rack.")]
    assert failures(lines, 2_000) == [
        (0, 0, None, 1, 2, UNASSIGNED, True),
        (1_000, 2_000, None, 2, 2, "No rack.", False),
    ]


@pytest.mark.parametrize(("silent_ms", "runs"), [(RUN_GAP_MS, 1), (RUN_GAP_MS + 1, 2)])
def test_an_hour_without_a_failure_ends_a_run(silent_ms: int, runs: int) -> None:
    assert len(failures([failed(0), failed(silent_ms)], silent_ms)) == runs
    ((*_, is_final),) = failures([failed(0)], silent_ms)
    assert is_final is (runs == 2)


LEADER = "a-1b28f280-9956-467e-acb9-74dc03dfd852"
THREW = "rebalance failed due to IllegalStateException"
BEGINS = "Preparing to rebalance group g in state PreparingRebalance with old generation"
OF_A_LEADER = (
    (
        f"{BEGINS} 1 (reason: Leader {LEADER} re-joining group during Stable; client reason: cached"
        " metadata has changed)."
    ),
    "Stabilized group g generation 2 with 1 members.",
    (
        f"{BEGINS} 2 (reason: Updating metadata for member {LEADER} during CompletingRebalance;"
        f" client reason: {THREW})."
    ),
    "Stabilized group g generation 3 with 1 members.",
    (
        f"[Group g] Member {LEADER} has left group through explicit `LeaveGroup` request; client"
        " reason: the consumer is being closed"
    ),
    f"{BEGINS} 3 (reason: explicit `LeaveGroup` request for ({LEADER}) members.).",
    "Group g with generation 4 is now empty.",
)
"""What a coordinator of 4.3 wrote when the leader's assignor threw, the application polled on once,
and closed. It wrote no K2 of 2 and 3.
"""


def test_a_leader_whose_assignor_throws_begins_one_rebalance_after_the_other() -> None:
    """The broker never sees the exception, but for its name in what the client says when it joins
    again.
    """
    parser = ServerLogParser(LineLayout.of(DEFAULT_PATTERN), BrokerClock("UTC"))
    lines = []
    for second, message in enumerate(OF_A_LEADER):
        text = (
            f"[2026-11-21 22:26:{second:02},100] INFO [GroupCoordinator id=1"
            f" topic=__consumer_offsets partition=3] {message}"
        )
        event = parser.parse(
            f"{text} (org.apache.kafka.coordinator.group.GroupMetadataManager)\n".encode()
        )
        assert isinstance(event, LogEvent)
        lines.append(Line(event, 1, "server_log", "server.log", second, event.at_ms))
    told = [each for each in proved("g", lines, lines[-1].last_ms) if isinstance(each, Rebalance)]
    assert [
        (
            each.generation,
            each.client_reason,
            each.joined_at is not None,
            each.synced_at,
            each.outcome,
        )
        for each in told
    ] == [
        (1, "cached metadata has changed", True, None, "RESTARTED"),
        (2, THREW, True, None, "RESTARTED"),
        (3, "the consumer is being closed", False, None, "EMPTY"),
    ]
