"""A recording's facts of Kafka Streams, as the checks ask for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from groupreplay.config.model import Thresholds
from groupreplay.replay.facts import Chain, Fact, Stall
from groupreplay.replay.streams_facts import HeldTask, StreamsRebalance, TaskHandOver
from tests.support.stuck_rows import STALL_THRESHOLDS_MS, episodes, stuck_ms

F = TypeVar("F", bound=Fact)

NOISE_MS = 400
"""Between a line of a log and its record, on a machine with too much to do."""


@dataclass(frozen=True, slots=True)
class StuckRow:
    """One row of `stuck_members`, or of `stuck_groups`, of which client is ""."""

    group: str
    client: str
    reason: str
    since_at: int
    until_at: int | None
    repetitions: int | None
    detail_code: str | None


class StreamsTables:
    """Facts by group. as_of_ms: time of the newest record."""

    def __init__(self, facts: Iterable[Fact], as_of_ms: int) -> None:
        self.as_of_ms = as_of_ms
        self._facts: dict[tuple[str, type[Fact]], list[Fact]] = defaultdict(list)
        self._held: dict[tuple[str, str], list[HeldTask]] = defaultdict(list)
        for fact in facts:
            self._facts[fact.group_id, type(fact)].append(fact)
            if isinstance(fact, HeldTask):
                self._held[fact.group_id, fact.member_id].append(fact)

    def of(self, group: str, kind: type[F]) -> list[F]:
        return self._facts[group, kind]  # type: ignore[return-value]

    def held(self, group: str, member: str, at: int) -> dict[str, frozenset[str]]:
        """Role -> tasks that a member holds in it."""
        found: dict[str, set[str]] = {role: set() for role in ("ACTIVE", "STANDBY", "WARMUP")}
        for span in self._held[group, member]:
            if span.assigned_at <= at and (span.released_at is None or span.released_at > at):
                found[span.role].add(task_of(span))
        return {role: frozenset(tasks) for role, tasks in found.items()}

    def holders(self, group: str, at: int) -> set[str]:
        """The members that hold anything."""
        return {
            span.member_id
            for span in self.of(group, HeldTask)
            if span.assigned_at <= at and (span.released_at is None or span.released_at > at)
        }

    def rebalances(self, group: str, protocol: str) -> list[StreamsRebalance]:
        """In the order of their records."""
        rows = [r for r in self.of(group, StreamsRebalance) if r.protocol == protocol]
        return sorted(rows, key=lambda row: row.from_offset)

    def stalls(self, group: str, reason: str) -> list[Stall]:
        return [stall for stall in self.of(group, Stall) if stall.reason == reason]

    def stuck(
        self, group: str, thresholds: Thresholds, client_of: Callable[[str], str]
    ) -> list[StuckRow]:
        """client_of: of a member."""
        limits_ms = STALL_THRESHOLDS_MS | {
            "LEARNER_NEVER_READY": thresholds.learner_ms,
            "RESTORING": thresholds.restoring_ms,
        }
        found = []
        for stall in self.of(group, Stall):
            if stuck_ms(stall, self.as_of_ms, limits_ms) is not None:
                found.append(
                    StuckRow(
                        group,
                        client_of(stall.member_id) if stall.member_id else "",
                        stall.reason,
                        stall.since_at,
                        stall.until_at,
                        stall.repetitions,
                        stall.detail_code,
                    )
                )
        for chain in self.of(group, Chain):
            for episode in episodes(chain, self.as_of_ms):
                found.append(
                    StuckRow(
                        group,
                        client_of(chain.member_id) if chain.member_id else "",
                        chain.reason,
                        episode.since_at,
                        episode.until_at,
                        episode.repetitions,
                        chain.detail_code,
                    )
                )
        return found


def task_of(fact: HeldTask | TaskHandOver) -> str:
    return f"{fact.subtopology}_{fact.partition}"


def is_near(one: int | None, other: int | None, within_ms: int = NOISE_MS) -> bool:
    return one is not None and other is not None and abs(one - other) <= within_ms
