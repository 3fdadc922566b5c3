"""When members were told to join again, by request logs, and what that makes of estimates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from groupreplay.evidence.evidence_facts import EvidenceFact, Rejoin
from groupreplay.replay.kept.transition import Transition
from tests.simulator.truth import Operation

HOUR_MS: Final = 3_600_000
SLACK_OF_LINES_MS: Final = 5_000
"""A line may be so far from the record that it belongs to."""


class Told:
    """When members were told to join again, by request logs. never_joined: group and member ->
    when it was, and did not. joined: group and generation -> of each member that came to it."""

    def __init__(self, facts: Iterable[EvidenceFact] = ()) -> None:
        self.never_joined: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.joined: dict[tuple[str, int], list[Rejoin]] = defaultdict(list)
        for fact in facts:
            if not isinstance(fact, Rejoin) or fact.told_at is None:
                continue
            if fact.joined_at is None:
                self.never_joined[fact.group_id, fact.member_id].append(fact.told_at)
            if fact.new_generation is not None:
                self.joined[fact.group_id, fact.new_generation].append(fact)


class Waited(NamedTuple):
    """How long before a K2 a member was told to join, and since when it had no assignment then;
    None where it had one."""

    ms: int
    unassigned_ms: int | None


def waited_of(operation: Operation, logs: Told) -> dict[str, Waited]:
    at = operation.at
    return {
        each.member_id: Waited(
            max(0, at - each.told_at),
            None if each.unassigned_since is None else at - each.unassigned_since,
        )
        for each in logs.joined.get((operation.group_id, operation.epoch), ())
        if each.told_at is not None
        and at - HOUR_MS <= each.told_at <= at + SLACK_OF_LINES_MS
        and (each.synced_at or each.answered_at or at) >= at - SLACK_OF_LINES_MS
    }


def stopped_ms(stopped: Sequence[Transition], waited: Mapping[str, Waited]) -> list[int]:
    """Of each partition, as `with_stopped` of `report/joins/lines/rejoin_times.py`."""
    return [_stop_ms(each, waited[each.from_member_id]) for each in stopped]


def _stop_ms(stopped: Transition, waited: Waited) -> int:
    if stopped.held_since is None:
        return waited.ms
    read_ms = stopped.released_at - stopped.held_since
    return min(waited.ms if waited.unassigned_ms is None else waited.unassigned_ms, read_ms)
