"""The model against what clients of recordings saw: stories that were played by several protocols,
each priced with times that were measured in groups of the other protocol.

Six partitions, up to three members, a session of 12 s, heartbeats of 2 s and of 1 s (classic).
"""

from __future__ import annotations

import statistics
from dataclasses import asdict
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import pytest

from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.replay.decision_facts import Churn
from groupreplay.replay.facts import Fact, HandOver
from groupreplay.report.what_if.known import Timeouts, Wave
from groupreplay.report.what_if.model import Price, price, scenarios
from groupreplay.report.what_if.rows import wave_of
from groupreplay.report.what_if.times import (
    ASSUMED_SYNC,
    REJOIN,
    REVOKE,
    Bracket,
    Known,
    Sample,
    release_of_consumer,
    release_of_eager,
)
from groupreplay.workers.waves.wave_events import WaveEvents, events_of
from tests.support.group_days import partitions_of, unread_ms
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import group, groups
from tests.support.replaying import replayed

GAP_MS = 3_000


class Story(NamedTuple):
    """One event of a recorded group. number: of its waves, from 0. end: how who went ended."""

    recording: str
    group_id: str
    number: int
    scenario: str
    end: str = ""
    gap_ms: int = GAP_MS


SCALED = (
    *(("consumer-4.3", "scale-up"), ("migration-4.0", "scale-up"), ("info-4.3", "scale-up-i")),
    *(("expiry-4.3", "scale-up-e"), ("brokers-killed-4.2", "scale-up-a")),
)
CRASHED = (("consumer-4.3", "crash"), ("migration-4.0", "crash"), ("info-4.3", "crash-i"))
EAGER = (
    *(("classic-3.9", "classic-eager"), ("scala-3.9", "classic-eager-s")),
    ("info-4.3", "classic-eager-i"),
)

JOINS = [Story(*each, number, "CONSUMER") for each in SCALED for number in (1, 2)]
LEAVES = [Story(*each, 3, "CONSUMER", "LEFT") for each in SCALED]
CRASHES = [Story(*each, 1, "CONSUMER", "EXPIRED") for each in CRASHED]
EAGER_LEAVES = [Story(*each, 1, "EAGER", "LEFT") for each in EAGER]
EAGER_JOINS = [Story(*each, 2, "EAGER") for each in EAGER]
EAGER_CRASHES = [Story(*each, 3, "EAGER", "EXPIRED") for each in EAGER]

STATIC = (
    *(("consumer-4.3", "static-bounce"), ("migration-4.0", "static-bounce")),
    ("info-4.3", "static-bounce-i"),
)
EAGER_STATIC = (("classic-3.9", "classic-static"), ("scala-3.9", "classic-static-s"))
BOUNCES = [Story(*each, 2, "CONSUMER_STATIC") for each in STATIC]
EAGER_BOUNCES = [
    Story(*each, number, "EAGER_STATIC") for each in EAGER_STATIC for number in (1, 2, 3)
]
LOST = [Story(*each, 4, "CONSUMER_STATIC", "EXPIRED") for each in STATIC]
EAGER_LOST = [Story(*each, 4, "EAGER_STATIC", "EXPIRED") for each in EAGER_STATIC]
"""Members that bounce within their session, and one that never returns."""

SLOW_EAGER = Story("classic-3.9", "classic-slow-join", 1, "EAGER")
SLOW_CONSUMER = Story("consumer-4.3", "slow-revoker", 1, "CONSUMER", gap_ms=2_000)
COOPERATIVE = (
    *(("classic-3.9", "classic-coop"), ("scala-3.9", "classic-coop-s")),
    *(("migration-4.0", "classic-coop"), ("brokers-killed-4.2", "classic-coop-a")),
)
SLOW_COOPERATIVE = [Story(*each, 1, "COOPERATIVE") for each in COOPERATIVE]
"""Joins that wait for the callback of one member."""

OF_CONSUMER = [*JOINS, *LEAVES, *CRASHES]
OF_EAGER = [*EAGER_LEAVES, *EAGER_JOINS, *EAGER_CRASHES]
WITHOUT_INTERVAL = ("migration-4.0", "brokers-killed-4.2")
"""Brokers before 4.3 assign at once."""


def sampled(times: list[int]) -> Sample:
    tenths = statistics.quantiles(times, n=10, method="inclusive")
    p10, p50, p90 = (int(tenths[each] + 0.5) for each in (0, 4, 8))
    return Sample(len(times), p10, p50, p90, max(times))


@cache
def revokes() -> Sample:
    """Of the consumer members of one recording."""
    facts = (fact for each in groups("consumer-4.3") for fact in facts_of(each.group_id))
    return sampled(
        [
            fact.revoke_ms
            for fact in facts
            if isinstance(fact, HandOver) and fact.outcome == "ACKED" and fact.revoke_ms is not None
        ]
    )


def facts_of(group_id: str, recording: str = "consumer-4.3") -> list[Fact]:
    one = group(recording, group_id)
    return replayed(one.entries, one.names, (), group_id, one.offsets_partition)


@cache
def rejoins() -> Sample:
    """Of the members of one eager group."""
    told = (each for each in recorded_evidence("classic-3.9") if isinstance(each, Rejoin))
    return sampled(
        [
            each.joined_at - each.told_at
            for each in told
            if each.group_id == "classic-eager"
            and each.told_at is not None
            and each.joined_at is not None
        ]
    )


def release(scenario: str) -> Bracket:
    """R of one protocol, by what members of the other one took."""
    is_consumer = scenario.startswith("CONSUMER")
    own = {REJOIN: rejoins()} if is_consumer else {REVOKE: revokes()}
    chosen = (release_of_consumer if is_consumer else release_of_eager)(
        Known(own, {}, 3, 20, 1_000)
    )
    assert chosen is not None
    return chosen[0]


@cache
def waves_of(recording: str, group_id: str, gap_ms: int) -> list[WaveEvents]:
    (chain,) = (each for each in facts_of(group_id, recording) if isinstance(each, Churn))
    return events_of(asdict(chain), gap_ms)


@cache
def told(story: Story) -> tuple[Wave, int, int]:
    """The wave, and when it and the next one began."""
    waves = waves_of(story.recording, story.group_id, story.gap_ms)
    one = waves[story.number]
    ends = [
        {
            "place": place,
            "end": story.end,
            "silent_ms": None,
            "unread_ms": None,
            "unheard_ms": None,
            "absent_ms": None,
        }
        for place in range(len(one.gone_member_ids))
    ]
    more = {"start_observed": True, "is_cut": False, "est_ms": None, "est_is_partial": None}
    begins = [each.event_times_at[0] for each in waves] + [2**62]
    since, until = list(pairwise(begins))[story.number]
    return wave_of(asdict(one) | more | {"ends_told": ends}), since, until


@cache
def truth(story: Story) -> int:
    """Partition-ms that nobody read, by the clients' own account."""
    _, since, until = told(story)
    read = partitions_of(story.recording, story.group_id)
    return unread_ms(story.recording, story.group_id, read, since, until)


def priced(story: Story, own: Bracket | None = None) -> Price:
    """own: what members take to let go; by default what those of the other protocol took."""
    timeouts = Timeouts(
        session=12_000,
        static=12_000,
        heartbeat=2_000,
        classic_heartbeat=1_000,
        assignment=0 if story.recording in WITHOUT_INTERVAL else 1_000,
    )
    (scenario,) = (each for each in scenarios(None) if each.name == story.scenario)
    known = release(story.scenario) if own is None else own
    return price(told(story)[0], scenario, known, ASSUMED_SYNC, timeouts)


def test_times_of_the_other_protocol() -> None:
    assert revokes() == Sample(58, revokes().p10, 125, 202, revokes().most)
    assert (release("EAGER"), release("CONSUMER")) == (Bracket(0, 125, 250), Bracket(0, 1, 250))


@pytest.mark.parametrize(
    ("stories", "mids"),
    [
        (JOINS, {3_003, 2_002}),
        (LEAVES, {2_000}),
        (CRASHES, {24_000}),
        (EAGER_LEAVES, {1_810}),
        (EAGER_JOINS, {810}),
        (EAGER_CRASHES, {24_810}),
        (BOUNCES, {7_936, 8_004, 8_030}),
        (EAGER_BOUNCES, {8_028, 7_050, 6_182, 5_898, 7_686, 6_092}),
        (LOST, {24_000}),
        (EAGER_LOST, {24_810}),
    ],
)
def test_what_clients_saw_lies_in_the_bracket(stories: list[Story], mids: set[int]) -> None:
    assert {priced(each).mid_ms for each in stories} == mids
    missed = {
        (each, truth(each), priced(each))
        for each in stories
        if not priced(each).low_ms <= truth(each) <= priced(each).high_ms
    }
    assert missed == set()


def test_static_members_that_never_return_cost_what_a_crash_costs() -> None:
    """An eager group stops as a whole, whoever is gone for good: partitions of members that stay
    cost R and Y too.
    """
    found = [priced(each) for each in EAGER_LOST]
    assert found == [priced(each._replace(scenario="EAGER")) for each in EAGER_LOST]
    assert [(each.low_ms, each.mid_ms, each.high_ms) for each in found] == [
        (22_000, 24_810, 34_100)
    ] * 2
    assert [truth(each) for each in EAGER_LOST] == [24_323, 23_978]


def percent_off(mid_ms: int, true_ms: int) -> float:
    return round(100 * (mid_ms / true_ms - 1), 1)


@pytest.mark.parametrize(
    ("stories", "events", "off"), [(OF_CONSUMER, 18, 1.0), (OF_EAGER, 9, 0.2)], ids=["c", "e"]
)
def test_sums_are_off_by_what_the_page_says(stories: list[Story], events: int, off: float) -> None:
    """docs/decisions.md. Of single joins and leaves the middle is off by up to a heartbeat a
    partition.
    """
    assert len(stories) == events
    mids = sum(priced(each).mid_ms for each in stories)
    assert percent_off(mids, sum(truth(each) for each in stories)) == off


# ---------------------------------------------------------------- callbacks that take seconds


def given_later(story: Story) -> int:
    """Partition-ms of partitions that one generation takes and the next gives out: the next wave is
    the join that comes with it.
    """
    waves = waves_of(story.recording, story.group_id, story.gap_ms)
    begins = [each.event_times_at[0] for each in waves]
    since, until = begins[story.number], begins[story.number + 2]
    read = partitions_of(story.recording, story.group_id)
    return unread_ms(story.recording, story.group_id, read, since, until)


@pytest.mark.parametrize(
    ("story", "callback_ms", "mid_ms", "true_ms"),
    [(SLOW_EAGER, 9_000, 36_040, 36_136), (SLOW_CONSUMER, 7_094, 16_188, 17_290)],
    ids=["eager", "consumer"],
)
def test_a_join_that_waits_for_a_callback_is_priced_by_it(
    story: Story, callback_ms: int, mid_ms: int, true_ms: int
) -> None:
    found = priced(story, Bracket(callback_ms, callback_ms, callback_ms))
    assert (found.mid_ms, truth(story)) == (mid_ms, true_ms)
    assert found.low_ms <= true_ms <= found.high_ms


def test_callbacks_of_the_consumer_story_took_that_long() -> None:
    asked = [each for each in facts_of("slow-revoker") if isinstance(each, HandOver)]
    assert [each.revoke_ms for each in asked] == [7_094, 7_094]


def test_joins_of_cooperative_groups_are_priced_by_the_callback() -> None:
    """One of 3 s for three partitions, four times: 13 % too low, each in its bracket."""
    found = [priced(each, Bracket(3_000, 3_000, 3_000)) for each in SLOW_COOPERATIVE]
    true = [given_later(each) for each in SLOW_COOPERATIVE]
    assert [each.mid_ms for each in found] == [10_530] * 4
    assert true == [12_181, 12_021, 11_998, 12_244]
    assert all(one.low_ms <= at <= one.high_ms for one, at in zip(found, true, strict=True))
    assert percent_off(sum(each.mid_ms for each in found), sum(true)) == -13.1
