"""The machine of evidence of one group: lines in, facts out, state to bytes and back. The only
class of `evidence` that others use.
"""

from __future__ import annotations

import copy

from groupreplay.evidence import saved_memory as state
from groupreplay.evidence.assignors import forget_failure, replay_assignor
from groupreplay.evidence.broker_settings import replay_setting
from groupreplay.evidence.classic_rebalances import forget_rebalances, replay_rebalance
from groupreplay.evidence.contacts import (
    forget_contacts,
    hear_refused,
    move_coordinator,
    replay_request,
    see_departure,
)
from groupreplay.evidence.evidence_facts import EvidenceFact
from groupreplay.evidence.join_timers import hear_steadily
from groupreplay.evidence.memory import Evidence, Line, Proofs
from groupreplay.evidence.open_rejoins import is_passed
from groupreplay.evidence.refusal_runs import forget_refusals, replay_refusal
from groupreplay.evidence.rejoins import end_rejoin, forget_rejoins, replay_rejoin
from groupreplay.evidence.removals import learn_instance, replay_departure, settle_departures
from groupreplay.evidence.shards import replay_shard
from groupreplay.records.log_events import REQUEST_LOG


class EvidenceReplay:
    """Replays the lines of one group, or with group_id "" those of a partition or broker that speak
    of no group.

    Feed lines in order of time with `replay`; lines of several brokers that come in another order
    only make stretches less exact.
    """

    def __init__(self, group_id: str) -> None:
        self._evidence = Evidence(group_id)
        self._output = Proofs()

    @classmethod
    def restore(cls, group_id: str, data: bytes) -> EvidenceReplay:
        """The machine as it was when `state` gave those bytes. Raises StateError for bytes that
        cannot be read.
        """
        replay = cls(group_id)
        replay._evidence = state.from_bytes(data)
        return replay

    def replay(self, line: Line) -> None:
        """Takes the next line."""
        evidence, output = self._evidence, self._output
        evidence.last_at = max(evidence.last_at, line.last_ms)
        if line.event.group_id is None:
            replay_shard(evidence, line, output)
            replay_setting(evidence, line, output)
            return
        hear_steadily(evidence, line)
        learn_instance(evidence, line)
        replay_refusal(evidence, line, output)
        if line.source == REQUEST_LOG:
            hear_refused(evidence, line, output)
            replay_request(evidence, line, output)
            replay_rejoin(evidence, line, output)
        else:
            move_coordinator(evidence, line)
            replay_rebalance(evidence, line, output)
            replay_assignor(evidence, line, output)
        for departure in replay_departure(evidence, line, output):
            see_departure(evidence, departure, line)
            end_rejoin(evidence, departure, output)

    def forget(self, newest_ms: int) -> None:
        """Ends what no line after newest_ms, the newest of all logs, can change."""
        evidence = self._evidence
        evidence.last_at = max(evidence.last_at, newest_ms)
        settle_departures(evidence, newest_ms, self._output)
        forget_refusals(evidence, self._output)
        forget_failure(evidence, self._output)
        forget_rebalances(evidence, self._output)
        forget_contacts(evidence, self._output)
        forget_rejoins(evidence, self._output)

    def take_facts(self) -> list[EvidenceFact]:
        """The facts that became final since the last call."""
        taken, self._output.facts = self._output.facts, []
        return taken

    def open_facts(self) -> list[EvidenceFact]:
        """What a later line can still change, as it stands. Changes nothing."""
        evidence = self._evidence
        rows: list[EvidenceFact] = [
            *evidence.departures,
            *evidence.contacts.values(),
            *evidence.silences.values(),
            *evidence.refusals.values(),
        ]
        rows += evidence.rebalances.values()
        rows += [each for each in evidence.rejoins.values() if not is_passed(each)]
        rows += evidence.rejoins_beside.values()
        rows += [row for row in (evidence.outage, evidence.failure) if row is not None]
        return [copy.copy(row) for row in rows]

    def state(self) -> bytes | None:
        """The group as bytes; None where nothing of it needs to be kept."""
        evidence = self._evidence
        runs = evidence.departures or evidence.contacts or evidence.silences or evidence.refusals
        ways = evidence.rebalances or evidence.rejoins or evidence.rejoins_beside
        calls = evidence.outage or evidence.failure or evidence.instances
        kept = runs or ways or calls
        return state.to_bytes(evidence) if kept or evidence.owner >= 0 else None
