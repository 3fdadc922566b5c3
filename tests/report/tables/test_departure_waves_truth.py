"""Waves of classic groups of all recordings, held against what their clients saw: when each let its
partitions go, and when the next one had them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache
from itertools import groupby, pairwise
from typing import NamedTuple

import pytest
from pyspark.sql import Row, SparkSession

from groupreplay.replay.decisions.modes import COOPERATIVE, EAGER
from groupreplay.report.context import ReportContext
from groupreplay.workers.evidence_slices import EVIDENCE
from groupreplay.workers.waves.wave_events import events_of
from tests.report.conftest import Stage
from tests.report.waves import all_chains, all_lines, waves
from tests.support.fact_frames import frame_of
from tests.support.group_days import partitions_of, unread_ms

GAP_MS = 3_000

SLACK_MS = 150
"""Clients and brokers tell the time of one thing so far apart."""

WORST_MS = 309
"""The most that an estimate of a rebalance was off where the design measured it, but for static
members that never came back."""

PARTITIONS, EACH_MS = 2, 1_000
"""Of one member in these groups; it commits, and sends a heartbeat, that often. Who goes without a
word stopped up to EACH_MS after the last of these."""

MOST_PERCENT = 1.0
"""Of all rebalances together, where the design has 0.8, and 0.2 of cooperative groups."""

Key = tuple[str, str, int]
"""Recording, group, first offset."""


class Seen(NamedTuple):
    """A wave that stopped partitions. true_ms: partition-ms in which no client had one."""

    row: Row
    true_ms: int

    @property
    def error_ms(self) -> int:
        return int(self.row.est_ms - self.true_ms)

    @property
    def was_static(self) -> bool:
        """Whether a static member went for good."""
        return any(each.departed and each.instance_id for each in self.row.clients)


def of_groups(found: dict[Key, Row], mode: str) -> dict[Key, Seen]:
    """The waves throughout which a group rebalanced so, and which cost something."""
    modes = modes_of_waves()
    return {
        key: Seen(found[key], true_ms)
        for key, true_ms in with_truth(found)
        if modes.get(key) == mode and (true_ms or found[key].high_ms)
    }


@cache
def modes_of_waves() -> dict[Key, str]:
    """None of groups without any, such as Kafka Streams."""
    found: dict[Key, str] = {}
    for chain in all_chains():
        recording, _, group_id = chain.group_id.partition(" ")
        for each in events_of(asdict(chain), GAP_MS):
            found[recording, group_id, each.from_offset] = each.mode
    return found


def with_truth(found: dict[Key, Row]) -> Iterator[tuple[Key, int]]:
    """Each wave, and how long partitions had stood still that clients were given from its first
    event on, until that of the next wave. An eager group gives all out again at once; a
    cooperative one gives out in the next generation, so in the next wave, what it takes in one.
    """
    for (recording, group_id), keys in groupby(sorted(found), key=lambda key: key[:2]):
        own = [*keys]
        partitions = partitions_of(recording, group_id)
        begins = [*(_ms(found[key].started_at) for key in own), 2**62]
        for key, (since, until) in zip(own, pairwise(begins), strict=True):
            yield key, unread_ms(recording, group_id, partitions, since, until)


def _ms(at: datetime) -> int:
    return round(at.replace(tzinfo=UTC).timestamp() * 1000)


@pytest.fixture
def proved(spark: SparkSession, context: ReportContext) -> ReportContext:
    """With all that the logs of all recordings say of members."""
    lines = frame_of(spark, EVIDENCE, all_lines())
    return replace(context, evidence=lines, evidence_tonight=lines)


def test_estimates_of_eager_groups_are_as_near_as_said(stage: Stage, proved: ReportContext) -> None:
    """What clients saw lies between `low_ms` and `high_ms` on every row. Of a rebalance `est_ms` is
    near it, by a request log. Of an instance that another process takes over it counts from the
    last sign of life, and is never too little.
    """
    seen = of_groups(waves(stage, proved, GAP_MS), EAGER)
    outside = {
        key: (each.row.low_ms, each.true_ms, each.row.high_ms)
        for key, each in seen.items()
        if not each.row.low_ms <= each.true_ms <= each.row.high_ms
    }
    assert not outside
    bounces = {key: each for key, each in seen.items() if each.row["class"] == "BOUNCE"}
    rebalances = [each for key, each in seen.items() if key not in bounces]
    assert (len(rebalances), len(bounces)) == (19, 11)
    gone = [each for each in rebalances if each.was_static]
    assert {-SLACK_MS <= each.error_ms <= PARTITIONS * EACH_MS for each in gone} == {True}
    errors = {each.error_ms for each in rebalances if not each.was_static}
    assert max(map(abs, errors)) <= WORST_MS, errors
    true_ms = sum(each.true_ms for each in rebalances)
    assert abs(sum(each.error_ms for each in rebalances)) < true_ms * MOST_PERCENT / 100
    for key, each in bounces.items():
        if "fenced" not in key[1]:
            most_ms = each.row.replaced * PARTITIONS * EACH_MS
            assert -SLACK_MS <= each.error_ms <= most_ms, key


def test_the_range_of_eager_groups_holds_without_lines(
    stage: Stage, context: ReportContext
) -> None:
    """Members of these groups do not commit in callbacks: see what a change of hands costs. Two
    processes that had one instance at once read on (`classic-fenced-instance`), so nothing stood
    still: the range goes down to that.
    """
    seen = of_groups(waves(stage, context, GAP_MS), EAGER)
    for key, each in seen.items():
        assert each.row.low_ms <= each.true_ms <= each.row.high_ms, key
        is_bounce = each.row["class"] == "BOUNCE"
        assert (each.row.est_ms is not None) == is_bounce, key
    twice = [each for key, each in seen.items() if "fenced" in key[1]]
    assert {(each.true_ms, each.row.low_ms) for each in twice} == {(0, 0)}
    assert all(each.row.est_ms > 0 for each in twice), "the last commit of the first is older"


def test_estimates_of_cooperative_groups_are_as_near_as_said(
    stage: Stage, proved: ReportContext
) -> None:
    """Of a group as a whole: what a member gives up is charged to the wave in which it does, and the
    next holder has it in the next wave. Groups that were of another kind at times are left out.
    """
    others = {key[:2] for key, mode in modes_of_waves().items() if mode != COOPERATIVE}
    sums: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for key, each in of_groups(waves(stage, proved, GAP_MS), COOPERATIVE).items():
        if key[:2] not in others:
            costs = {name: each.row[name] for name in ("low_ms", "est_ms", "high_ms")}
            sums[key[:2]].update(costs | {"true_ms": each.true_ms})
    assert len(sums) == 4
    for name, told in sums.items():
        assert told["low_ms"] <= told["true_ms"] <= told["high_ms"], name
        off_ms = abs(told["est_ms"] - told["true_ms"])
        assert off_ms < told["true_ms"] * MOST_PERCENT / 100, (name, told)
