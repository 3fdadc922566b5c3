"""What lines prove where logs are missing: what is said of members and groups is true, and nobody is
charged with what was not seen.

Source of the rules: evidence.md. Nothing was heard of a member in its silence; a phase is one that
was; refusals must be some of those that were answered; an end is the true one, or stays open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from groupreplay.evidence.evidence_facts import (
    EvidenceFact,
    Outage,
    Rebalance,
    Refusal,
    Rejoin,
    Silence,
)
from tests.simulator.answers import Answer
from tests.simulator.expected import rebalances
from tests.simulator.expected.history import History
from tests.simulator.expected.rebalances import rebalances_of
from tests.simulator.expected.rejoins import rejoins_in
from tests.simulator.holes.judge import Judge

WRITTEN_LATE_MS: Final = 50
"""A line is written a moment after what it shows, and says how long all of a request took."""

_ALIVE: Final = frozenset({0, 27})


class LineTruth:
    """What the truth says of all groups, as the judges ask it."""

    def __init__(self, history: History, heard_until: Mapping[int, int]) -> None:
        """heard_until: broker -> time of the last line of its request log."""
        self._history, self._heard_until = history, heard_until
        self._answers = history.truth.answers.of_groups

    def is_heard(self, fact: Silence) -> bool:
        """Whether the broker's request log goes on to its end: else no row is told of it."""
        until = fact.until_at or 0
        return fact.ended_by == "HEARTBEAT" or until <= self._heard_until.get(fact.broker, until)

    def is_moved(self, fact: Silence) -> bool:
        """Whether the group had another coordinator meanwhile. Clients here ask it over a connection
        of the same name, and leave the one before without a word."""
        until, partitions = fact.until_at or 0, self._partitions[fact.group_id]
        differ_ms = self._history.truth.clocks_differ_ms
        return any(
            self._history.is_elected_between(each, fact.since_at - differ_ms, until + differ_ms)
            for each in partitions
        )

    @cached_property
    def _partitions(self) -> Mapping[str, set[int]]:
        """Group -> its partition of the offsets topic."""
        found: dict[str, set[int]] = defaultdict(set)
        for event in self._history.truth.injected:
            if event.group_id is not None and event.offsets_partition >= 0:
                found[event.group_id].add(event.offsets_partition)
        return found

    def answers(self, group_id: str) -> Sequence[Answer]:
        return self._answers.get(group_id, ())

    def of_member(self, group_id: str, member_id: str) -> list[Answer]:
        return [each for each in self.answers(group_id) if member_id in each.members]

    @cached_property
    def rebalances(self) -> Mapping[tuple[str, int, int], rebalances.Rebalance]:
        """(group, broker, when it began) -> it."""
        return {
            (each.group_id, each.begun.broker, each.begun.broker_at): each
            for each in rebalances_of(self._history)
        }

    @cached_property
    def joins(self) -> Mapping[tuple[str, str], list[tuple[Any, ...]]]:
        """(group, member) -> of each rejoin when it was told, answered, and the generations."""
        found: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
        for group_id, rejoins in rejoins_in(self._history).items():
            for each in rejoins:
                told = None if each.told is None else each.told.at
                join = (None, None) if each.join is None else (each.join.at, each.join.joined)
                found[group_id, each.member_id].append((told, *join))
        return found


def judge_silence(judge: Judge, truth: LineTruth, fact: Silence) -> None:
    """Nothing of the member was answered meanwhile, and who is gone for good did not come back."""
    until = fact.until_at
    if until is None or not truth.is_heard(fact):
        return
    if fact.ended_by == "HEARTBEAT" and truth.is_moved(fact):
        return
    heard = [
        each.at
        for each in truth.of_member(fact.group_id, fact.member_id)
        if fact.since_at + WRITTEN_LATE_MS < each.received_at < until - WRITTEN_LATE_MS
        and each.code in _ALIVE
        and each.kind not in ("commit", "txn commit")
    ]
    judge.holds(f"silence {fact.ended_by}", fact, not heard, (fact.since_at, until), heard[:3])


def judge_outage(judge: Judge, truth: LineTruth, fact: Outage) -> None:
    """So many were turned away. How long it lasted, the log of another broker may show."""
    so = sum(
        bool(each.error) and fact.since_at <= each.at <= fact.last_at
        for each in truth.answers(fact.group_id)
    )
    judge.holds("outage attempts", fact, fact.attempts <= so, fact.attempts, so)


def judge_refusal(judge: Judge, truth: LineTruth, fact: Refusal) -> None:
    """All were answered so, and none of them is told twice."""
    so = [
        each
        for each in truth.answers(fact.group_id)
        if each.code == fact.error_code
        and fact.first_at - WRITTEN_LATE_MS <= each.at <= fact.last_at + WRITTEN_LATE_MS
    ]
    is_so = len(so) >= fact.attempts
    judge.holds(f"refusals of {fact.source}", fact, is_so, fact.attempts, len(so))


def judge_rebalance(judge: Judge, truth: LineTruth, fact: Rebalance) -> None:
    so = truth.rebalances.get((fact.group_id, fact.broker, fact.started_at))
    if not judge.holds("rebalance", fact, so is not None, fact.started_at, "no such one"):
        return
    assert so is not None
    for name, said, call in (
        ("joined", fact.joined_at, so.joined),
        ("synced", fact.synced_at, so.synced),
    ):
        at = None if call is None else call.broker_at
        judge.holds(f"rebalance {name}", fact, said in (None, at), said, at)
    outcomes = {so.outcome, "OPEN", "INTERRUPTED"}
    judge.holds("rebalance outcome", fact, fact.outcome in outcomes, fact.outcome, so.outcome)
    judge.holds(
        "rebalance nobody",
        *(fact, so.nobody_joined or not fact.nobody_joined),
        *(fact.nobody_joined, so.nobody_joined),
    )


def judge_rejoin(judge: Judge, truth: LineTruth, fact: Rejoin) -> None:
    """Where it is said when a member was told and when it came, both are of one rejoin."""
    so = truth.joins.get((fact.group_id, fact.member_id), [])
    said = (fact.told_at, fact.answered_at, fact.new_generation)
    if fact.told_at is not None and fact.answered_at is not None:
        answered = {join for told, join, _ in so if told is not None and told <= fact.told_at}
        judge.holds("rejoin", fact, fact.answered_at in answered, said, so[-4:])


JUDGES: Final[Mapping[type[EvidenceFact], Any]] = {
    Silence: judge_silence,
    Outage: judge_outage,
    Refusal: judge_refusal,
    Rebalance: judge_rebalance,
    Rejoin: judge_rejoin,
}
"""Kind of fact -> its rule."""
