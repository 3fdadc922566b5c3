"""Every recording of Kafka Streams, replayed, against what its leaders, its threads and its broker
said, and what the script did.
"""

from __future__ import annotations

from functools import cache

import pytest

from groupreplay.config.model import Thresholds
from tests.truth import (
    streams_checks,
    streams_group_checks,
    streams_move_checks,
    streams_moves,
    streams_span_checks,
    streams_stuck_checks,
)
from tests.truth.streams_checks import Check
from tests.truth.streams_tables import StreamsTables
from tests.truth.streams_truth import OF_STREAMS, streams_truth_of
from tests.truth.tables import Tables

CHECKS: tuple[Check, ...] = (
    streams_checks.generations,
    streams_checks.epochs,
    streams_checks.sampled_epochs,
    streams_span_checks.given_to_threads,
    streams_span_checks.decided_by_leaders,
    streams_span_checks.said_by_the_broker,
    streams_span_checks.sampled,
    streams_span_checks.edges,
    streams_span_checks.ends_of_replicas,
    streams_move_checks.classic_hand_overs,
    streams_move_checks.readiness,
    streams_move_checks.heard_by_clients,
    streams_move_checks.restored,
    streams_move_checks.streams_hand_overs,
    streams_group_checks.processes,
    streams_group_checks.subtopologies,
    streams_group_checks.conversions,
    streams_group_checks.progress,
    streams_stuck_checks.restores_end,
)

MINUTE_MS = 60_000


@cache
def replayed(recording: str) -> Tables:
    return Tables(recording)


def tables_of(recording: str) -> StreamsTables:
    return StreamsTables(replayed(recording).facts, replayed(recording).as_of_ms)


@pytest.mark.parametrize("recording", OF_STREAMS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_replay_says_what_is_true(check: Check, recording: str) -> None:
    problems = check(streams_truth_of(recording), tables_of(recording))
    assert not problems, "\n".join(problems[:20])


@pytest.mark.parametrize("recording", OF_STREAMS)
@pytest.mark.parametrize("learner_ms", [Thresholds().learner_ms, MINUTE_MS])
def test_whoever_was_stuck_is_called_so_and_nobody_else(learner_ms: int, recording: str) -> None:
    """The script held its learners for some minutes, so a shorter threshold has more to tell."""
    thresholds = Thresholds(learner_ms=learner_ms, restoring_ms=min(learner_ms, MINUTE_MS))
    problems = streams_stuck_checks.stuck(
        streams_truth_of(recording), tables_of(recording), thresholds
    )
    assert not problems, "\n".join(problems)


def test_the_logs_have_something_to_say() -> None:
    """Were the format of a log to change, checks that find nothing to hold against would pass."""
    truths = [streams_truth_of(recording) for recording in OF_STREAMS]
    groups = [(truth, group) for truth in truths for group in truth.groups]
    classic, streams = truths
    assert (classic.name, streams.name) == ("streams-classic-4.3", "streams-protocol-4.3")
    assert len(groups) == 19
    assert sum(len(truth.led[group]) for truth, group in groups) == 84
    assert all(led.said.told for truth, group in groups for led in truth.led[group])
    assert sum(1 for truth in truths for _ in truth.given_by_leaders()) > 200
    assert sum(len(streams_moves.moves(truth, group)) for truth, group in groups) > 50
    assert sum(1 for _ in streams_move_checks.restores(classic, tables_of(classic.name))) > 30
    assert sum(map(len, streams.broker.states.values())) > 150
    assert sum(map(len, streams.broker.epochs.values())) > 40
    assert sum(1 for group in streams.groups for _ in streams_moves.let_go(streams, group)) > 50
    assert {answer["type"] for _, _, answer in streams.probes() if "type" in answer} >= {
        "Classic",
        "Streams",
    }


def test_the_script_did_something_to_tell_of() -> None:
    thresholds = Thresholds(learner_ms=MINUTE_MS)
    owed = {
        (row.reason, row.is_sure)
        for recording in OF_STREAMS
        for group in streams_truth_of(recording).groups
        for row in streams_stuck_checks.owed_rows(streams_truth_of(recording), group, thresholds)
    }
    assert owed >= {
        ("LEARNER_NEVER_READY", True),
        ("HANDOVER_BOUNCED", True),
        ("SLOW_REVOCATION", True),
        ("WAITING_ON_HOLDER", True),
        ("FENCE_LOOP", True),
    }
