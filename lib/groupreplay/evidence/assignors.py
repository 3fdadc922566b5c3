"""Assignors of the coordinator that fail: stretches in which a group got no target.

The request that asked for a target writes nothing, whatever lines came before (`Bumped group
epoch`, `Converted the classic group`), and is answered UNKNOWN_SERVER_ERROR. The line is there for
what an assignor itself reports; any other exception shows in the line of the failed request alone.
Source: GroupMetadataManager.maybeUpdateTargetAssignment (4.x).
"""

from __future__ import annotations

from typing import Any

from groupreplay.evidence.evidence_facts import AssignorFailure
from groupreplay.evidence.memory import Evidence, Line, Proofs, place
from groupreplay.evidence.refusal_runs import RUN_GAP_MS


def replay_assignor(evidence: Evidence, line: Line, output: Proofs) -> None:
    """Takes a line about a target that was, or was not, computed: begins, lengthens or ends a
    run.
    """
    event, failure = line.event, evidence.failure
    if event.event == "TARGET_FAILED":
        _fail(evidence, line, output)
    elif event.event == "TARGET_COMPUTED" and failure is not None:
        failure.until_at = max(event.at_ms, failure.last_at)
        _end(evidence, output)


def _fail(evidence: Evidence, line: Line, output: Proofs) -> None:
    event, failure = line.event, evidence.failure
    if failure is not None and (
        failure.reason != event.detail or event.at_ms - failure.last_at > RUN_GAP_MS
    ):
        _end(evidence, output)
        failure = None
    if failure is None:
        fields: dict[str, Any] = place(evidence, line)
        failure = AssignorFailure(
            **fields,
            epoch=event.epoch,
            reason=event.detail,
            first_at=event.at_ms,
            last_at=event.at_ms,
            attempts=0,
        )
        evidence.failure = failure
    failure.epoch = event.epoch
    failure.last_at = max(failure.last_at, line.last_ms)
    failure.attempts += line.requests


def _end(evidence: Evidence, output: Proofs) -> None:
    if evidence.failure is not None:
        output.emit(evidence.failure)
        evidence.failure = None


def forget_failure(evidence: Evidence, output: Proofs) -> None:
    """Ends a run that no later line can lengthen."""
    if evidence.failure is not None and evidence.last_at - evidence.failure.last_at > RUN_GAP_MS:
        _end(evidence, output)
