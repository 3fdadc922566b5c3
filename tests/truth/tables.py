"""A recording's facts as an analyst finds them in the tables: names filled in, open durations
measured, stuck episodes past their thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from groupreplay.replay.facts import (
    Anomaly,
    Chain,
    Conversion,
    Epoch,
    Fact,
    GroupSnapshot,
    HandOver,
    HeldPartition,
    Stall,
    TopicSeen,
)
from tests.support.recordings import groups, topic_names
from tests.support.replaying import replayed
from tests.support.stuck_rows import episodes, stuck_ms
from tests.truth.truth import Partition

F = TypeVar("F", bound=Fact)


@dataclass(frozen=True, slots=True)
class Stuck:
    """One row of `stuck_members`."""

    group_id: str
    member_id: str
    reason: str
    stuck_ms: int
    is_open: bool
    blocked_by: list[str]


class Tables:
    """What the replay makes of one recording. as_of_ms: time of its newest record."""

    def __init__(self, recording: str) -> None:
        self.facts: list[Fact] = []
        self.as_of_ms = 0
        for group in groups(recording):
            self.facts += replayed(
                group.entries, group.names, (), group.group_id, group.offsets_partition
            )
            self.as_of_ms = max(self.as_of_ms, *(entry.ts_ms for entry in group.entries))
        learnt = {fact.topic_id: fact.topic for fact in self._all(TopicSeen)}
        self._names = learnt | topic_names(recording)

    def _all(self, kind: type[F]) -> Iterator[F]:
        return (fact for fact in self.facts if isinstance(fact, kind))

    def partition(self, fact: HeldPartition | HandOver) -> Partition:
        """(name of the topic or else its id, number)."""
        return fact.topic or self._names.get(
            fact.topic_id or ""
        ) or fact.topic_id or "", fact.partition

    def revoke_ms(self, fact: HandOver) -> int | None:
        return self.as_of_ms - fact.requested_at if fact.outcome == "OPEN" else fact.revoke_ms

    def epochs(self, group: str) -> list[Epoch]:
        return sorted(
            self._of(group, self._all(Epoch)), key=lambda epoch: (epoch.started_at, epoch.epoch)
        )

    def conversions(self, group: str) -> list[Conversion]:
        return sorted(
            self._of(group, self._all(Conversion)), key=lambda conversion: conversion.converted_at
        )

    def progress(self, group: str) -> GroupSnapshot | None:
        """The group's row in `migration_progress`; None where it has none."""
        return next(iter(self._of(group, self._all(GroupSnapshot))), None)

    def anomalies(self) -> list[Anomaly]:
        return list(self._all(Anomaly))

    def hand_overs(self, group: str) -> list[HandOver]:
        return self._of(group, self._hand_overs)

    def spans(self, group: str) -> list[HeldPartition]:
        return self._of(group, self._spans)

    @cached_property
    def _hand_overs(self) -> list[HandOver]:
        return list(self._all(HandOver))

    @cached_property
    def _spans(self) -> list[HeldPartition]:
        return list(self._all(HeldPartition))

    @staticmethod
    def _of(group: str, facts: Iterable[F]) -> list[F]:
        return [fact for fact in facts if fact.group_id == group]

    def stuck_members(self, group: str) -> list[Stuck]:
        found: list[Stuck] = []
        for stall in self._of(group, self._all(Stall)):
            lasted_ms = stuck_ms(stall, self.as_of_ms)
            if stall.member_id is not None and lasted_ms is not None:
                found.append(
                    Stuck(
                        group,
                        stall.member_id,
                        stall.reason,
                        lasted_ms,
                        stall.until_at is None,
                        stall.blocked_by,
                    )
                )
        for chain in self._of(group, self._all(Chain)):
            if (
                chain.reason == "FENCE_LOOP"
                and chain.member_id is not None
                and episodes(chain, self.as_of_ms)
            ):
                found.append(
                    Stuck(
                        group,
                        chain.member_id,
                        chain.reason,
                        chain.ends_at[-1] - chain.times_at[0],
                        False,
                        [],
                    )
                )
        return found
