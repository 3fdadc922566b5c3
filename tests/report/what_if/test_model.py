"""Prices of waves by hand, and what holds of every price."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.report.what_if.known import Event, Gone, Timeouts, Wave
from groupreplay.report.what_if.model import Price, Scenario, price, scenarios
from groupreplay.report.what_if.times import Bracket

TIMEOUTS = Timeouts(
    session=12_000, static=45_000, heartbeat=2_000, classic_heartbeat=1_000, assignment=1_000
)
RELEASE = Bracket(0, 125, 250)
SYNC = Bracket(0, 10, 100)
SCENARIOS = {each.name: each for each in scenarios(30_000)}


def event(kind: str, at: int, held: int = 0, after: int = 2, **gone: int | str) -> Event:
    """Of a group with six partitions. gone: of a departure; `end` LEFT unless said."""
    how = Gone(**({"end": "LEFT"} | gone)) if kind in "GR" or gone else None  # type: ignore[arg-type]
    return Event(kind=kind, at=at, held=held, members_after=after, partitions=6, gone=how)


def wave(*events: Event, mode: str = "CONSUMER", before: int = 3) -> Wave:
    return Wave(mode=mode, events=[*events], members_before=before)


def priced(
    told: Wave, name: str, release: Bracket = RELEASE, timeouts: Timeouts = TIMEOUTS
) -> Price:
    return price(told, SCENARIOS[name], release, SYNC, timeouts)


def costs(found: Price) -> tuple[int, int, int]:
    return found.low_ms, found.mid_ms, found.high_ms


CRASH = wave(event("G", 0, 2, end="EXPIRED"))
LEAVE = wave(event("G", 0, 2))
JOIN = wave(event("J", 0, after=3), before=2)


@pytest.mark.parametrize(
    ("told", "name", "wanted"),
    [
        (CRASH, "EAGER", (22_000, 24_810, 34_100)),
        (CRASH, "COOPERATIVE", (22_000, 24_020, 28_200)),
        (CRASH, "CONSUMER", (20_000, 24_000, 32_000)),
        (CRASH, "CONSUMER_STATIC", (86_000, 90_000, 98_000)),
        (LEAVE, "EAGER", (0, 6 * 135 + 2 * 500, 6 * 1_350)),
        (LEAVE, "COOPERATIVE", (0, 2 * 510, 2 * 1_100)),
        (LEAVE, "CONSUMER", (0, 2_000, 6_000)),
        (LEAVE, "CONSUMER_HEARTBEAT", (0, 30_000, 62_000)),
        (LEAVE, "EAGER_STATIC", (88_000, 4 * 135 + 2 * 45_135, 4 * 1_350 + 2 * 47_350)),
        (JOIN, "EAGER", (0, 810, 8_100)),
        (JOIN, "COOPERATIVE", (0, 2 * 635, 2 * 1_350)),
        (JOIN, "CONSUMER", (0, 2 * 1_125, 2 * 2_250)),
        (JOIN, "CONSUMER_STATIC", (0, 2 * 1_125, 2 * 2_250)),
    ],
)
def test_prices_of_single_events(told: Wave, name: str, wanted: tuple[int, int, int]) -> None:
    assert costs(priced(told, name)) == wanted


def test_a_member_that_was_too_slow_is_priced_as_one_that_left() -> None:
    late = event("G", 0, 2, end="POLL_TIMEOUT", silent_ms=10_000, unread_ms=20_000)
    for name in ("EAGER", "COOPERATIVE", "CONSUMER"):
        assert costs(priced(wave(late), name)) == costs(priced(LEAVE, name))
    assert replace(wave(late), est_ms=20_500).actual_ms == 500, "without the time it was too slow"
    awaited = event("G", 0, 2, end="REBALANCE_TIMEOUT", silent_ms=10_000, unread_ms=20_000)
    assert costs(priced(wave(awaited), "CONSUMER")) == costs(priced(LEAVE, "CONSUMER"))
    assert replace(wave(awaited), est_ms=20_500).actual_ms is None


@pytest.mark.parametrize("name", ["EAGER", "COOPERATIVE", "CONSUMER"])
@pytest.mark.parametrize("end", ["LEFT", "EXPIRED", "UNKNOWN"])
def test_what_nobody_is_to_read_any_more_costs_nothing(name: str, end: str) -> None:
    """A member goes with its own four partitions of a topic and two that others read as well. Before,
    another joined: then all ten were to be read."""
    went = replace(event("G", 1_000, 2, after=2, end=end), left_out=4)
    came = replace(event("J", 0, after=3), partitions=10)
    alone = [event("J", 0, after=3), event("G", 1_000, 2, after=2, end=end)]
    found, usual = (priced(wave(*each, before=2), name) for each in ([came, went], alone))
    assert (costs(found), found.moved) == (costs(usual), usual.moved)
    expired = replace(event("G", 0, after=2, end=end), left_out=6)
    assert priced(wave(expired), "CONSUMER").high_ms == 0


def test_what_nothing_shows_may_be_either() -> None:
    unknown = wave(event("G", 0, 2, end="UNKNOWN"))
    left, expired = priced(LEAVE, "CONSUMER"), priced(CRASH, "CONSUMER")
    assert costs(priced(unknown, "CONSUMER")) == (left.low_ms, left.mid_ms, expired.high_ms)


def test_events_within_a_heartbeat_are_one_rebalance() -> None:
    together = wave(event("G", 0, 2), event("J", 2_000, after=3))
    apart = wave(event("G", 0, 2), event("J", 2_001, after=3))
    assert [priced(each, "CONSUMER").rebalances for each in (together, apart)] == [1, 2]
    assert [priced(each, "COOPERATIVE").rebalances for each in (together, apart)] == [1, 3]
    assert priced(apart, "CONSUMER_HEARTBEAT").rebalances == 1, "a heartbeat is longer there"
    found = priced(together, "EAGER")
    assert (found.stopped, found.moved) == (6, 2), "who comes gets what the other had"
    assert priced(together, "CONSUMER").stopped == 2


def test_who_stays_may_have_what_was_let_go_before_another_comes() -> None:
    """At least the newcomer gets it at once. About, and at most, it moves twice."""
    told = wave(event("G", 0, 2), event("J", 1_000, after=3))
    slow = Bracket(200, 200, 200)
    found = [priced(told, name, slow) for name in ("CONSUMER", "COOPERATIVE")]
    assert [(each.moved, each.uses_release) for each in found] == [(2, True)] * 2
    assert costs(found[0]) == (0, 2_000 + 2 * 1_200, 6_000 + 2 * 2_200)
    assert costs(found[1]) == (0, 2 * 510 + 2 * 710, 2 * 1_100 + 2 * 1_300)


def test_sessions_are_those_of_the_members_in_the_classic_protocol() -> None:
    own = replace(CRASH.events[0], session_ms=30_000)
    told = replace(CRASH, events=[own], mode="EAGER")
    assert priced(told, "COOPERATIVE").mid_ms == 2 * 30_010
    assert priced(told, "CONSUMER").mid_ms == 2 * 12_000
    assert (priced(told, "EAGER").session_ms, priced(JOIN, "EAGER").session_ms) == (30_000, None)


def test_times_enter_where_a_price_depends_on_them() -> None:
    uses = {
        name: (found.uses_release, found.uses_sync)
        for name in ("EAGER", "COOPERATIVE", "CONSUMER")
        for found in [priced(CRASH, name)]
    }
    assert uses == {
        "EAGER": (True, True),
        "COOPERATIVE": (False, True),
        "CONSUMER": (False, False),
    }
    assert priced(JOIN, "CONSUMER").uses_release


# ---------------------------------------------------------------- static members


AWAY = (event("A", 0, 2, 3), event("R", 4_000, 2, 3, away_ms=4_000))


def test_a_bounce_that_the_session_absorbs_costs_its_own_partitions() -> None:
    told = wave(*AWAY)
    for name in ("EAGER", "CONSUMER", "EAGER_STATIC", "CONSUMER_STATIC"):
        found = priced(told, name)
        beat = 1_000 if name.startswith("EAGER") else 2_000
        assert costs(found) == (8_000, 8_000, 2 * (4_000 + beat))
        assert (found.rebalances, found.moved, found.stopped) == (0, 0, 2)


def test_a_bounce_that_the_broker_session_does_not_absorb_is_a_crash_and_a_join() -> None:
    """The cliff: 50 s with a session of 300 s, where the consumer protocol has 12."""
    bounce = replace(event("R", 50_000, 2, 3, unheard_ms=50_000), session_ms=300_000)
    told = wave(bounce, mode="EAGER")
    assert costs(priced(told, "EAGER")) == (2 * 49_000, 2 * 50_000, 2 * 51_000)
    found = priced(told, "CONSUMER")
    assert found.mid_ms == 2 * 12_000 + 2 * 1_125
    assert (found.rebalances, found.session_ms) == (2, 12_000)


def test_instance_ids_would_absorb_the_restart_of_a_dynamic_member() -> None:
    how = {"silent_ms": 500, "back_ms": 9_000}
    told = wave(event("G", 0, 2, **how), event("J", 9_000, after=3, **how))
    assert costs(priced(told, "CONSUMER_STATIC")) == (18_000, 19_000, 2 * 11_500)
    assert priced(told, "CONSUMER_STATIC").rebalances == 0
    assert priced(told, "CONSUMER").rebalances == 2
    short = replace(TIMEOUTS, static=9_499)
    found = priced(told, "CONSUMER_STATIC", timeouts=short)
    assert (found.rebalances, found.mid_ms) == (2, 2 * 9_499 + 2 * 1_125)


def test_how_long_a_takeover_took_may_not_be_known() -> None:
    by_commit = wave(event("R", 0, 2, 3, uncommitted_ms=4_014), mode="EAGER")
    assert costs(priced(by_commit, "EAGER")) == (0, 8_028, 2 * 5_014)
    waited = wave(event("R", 0, 2, 3, unheard_ms=4_000, absent_ms=9_000), mode="EAGER")
    assert costs(priced(waited, "EAGER")) == (2 * 3_000, 2 * 9_000, 2 * 10_000)
    by_nothing = wave(event("R", 0, 2, 3), mode="EAGER")
    assert costs(priced(by_nothing, "EAGER")) == (0, 0, 2 * 13_000)
    assert (by_nothing.unknown_held, by_commit.unknown_held) == (2, 0)


# ---------------------------------------------------------------- empty groups


def test_nobody_misses_the_partitions_of_an_empty_group() -> None:
    events = (
        *(event("G", 0, 3, 1), event("G", 100, 3, 0)),
        *(event("J", 60_000, after=1), event("J", 60_100, after=2)),
    )
    for name in ("EAGER", "COOPERATIVE", "CONSUMER"):
        found = priced(wave(*events, before=2), name)
        assert (found.low_ms, found.mid_ms, found.moved) == (0, 0, 6), name
        assert found.high_ms > 0


# ---------------------------------------------------------------- of every price


BRACKETS = st.tuples(*[st.integers(0, 60_000)] * 3).map(lambda each: Bracket(*sorted(each)))
MAYBE_MS = st.none() | st.integers(0, 400_000)
GONE = st.builds(
    Gone,
    end=st.sampled_from(["LEFT", "EXPIRED", "UNKNOWN", "POLL_TIMEOUT", "SESSION_EXPIRED"]),
    silent_ms=MAYBE_MS,
    unheard_ms=MAYBE_MS,
    absent_ms=MAYBE_MS,
    uncommitted_ms=MAYBE_MS,
    away_ms=MAYBE_MS,
    back_ms=MAYBE_MS,
)
EVENTS = st.builds(
    Event,
    kind=st.sampled_from("GRJA"),
    at=st.integers(0, 300_000),
    held=st.integers(0, 50),
    session_ms=st.none() | st.integers(1_000, 400_000),
    members_after=st.integers(0, 10),
    partitions=st.integers(0, 50),
    gone=GONE,
)
WAVES = st.builds(
    Wave,
    mode=st.sampled_from(["EAGER", "COOPERATIVE", "CONSUMER", "MIXED"]),
    events=st.lists(EVENTS, min_size=1, max_size=12).map(
        lambda events: sorted(events, key=lambda each: each.at)
    ),
    members_before=st.integers(0, 10),
)
WITHOUT_RETURNS = WAVES.map(
    lambda told: replace(told, events=[each for each in told.events if each.kind in "GJ"])
).filter(lambda told: bool(told.events))
TIMEOUTS_OF_ALL = st.builds(
    Timeouts,
    session=st.integers(1_000, 400_000),
    static=st.integers(1_000, 400_000),
    heartbeat=st.integers(100, 60_000),
    classic_heartbeat=st.integers(100, 60_000),
    assignment=st.integers(0, 5_000),
)
ANY_SCENARIO = st.sampled_from([*SCENARIOS.values()])
USUAL = settings(max_examples=40, derandomize=True, database=None)


@USUAL
@given(WAVES, ANY_SCENARIO, BRACKETS, BRACKETS, TIMEOUTS_OF_ALL)
def test_low_is_at_most_mid_and_mid_at_most_high(
    told: Wave, scenario: Scenario, release: Bracket, sync: Bracket, timeouts: Timeouts
) -> None:
    found = price(told, scenario, release, sync, timeouts)
    assert 0 <= found.low_ms <= found.mid_ms <= found.high_ms
    most = max(each.partitions for each in told.events)
    assert 0 <= found.stopped <= most
    assert 0 <= found.rebalances <= 2 * (2 * len(told.events))


@USUAL
@given(WAVES, ANY_SCENARIO, BRACKETS, BRACKETS, TIMEOUTS_OF_ALL, st.integers(0, 10_000))
def test_slower_members_make_nothing_cheaper(
    told: Wave,
    scenario: Scenario,
    release: Bracket,
    sync: Bracket,
    timeouts: Timeouts,
    more: int,
) -> None:
    slower = Bracket(*(each + more for each in release))
    found, later = (
        costs(price(told, scenario, each, sync, timeouts)) for each in (release, slower)
    )
    assert all(one <= other for one, other in zip(found, later, strict=True))


@USUAL
@given(WITHOUT_RETURNS, ANY_SCENARIO, BRACKETS, TIMEOUTS_OF_ALL, st.integers(0, 10_000))
def test_longer_sessions_make_crashes_no_cheaper(
    told: Wave, scenario: Scenario, release: Bracket, timeouts: Timeouts, more: int
) -> None:
    """Where nobody returns; a longer session may absorb who does."""
    alone = replace(told, events=[replace(each, gone=_lost(each)) for each in told.events])
    longer_own = [
        replace(each, session_ms=each.session_ms and each.session_ms + more)
        for each in alone.events
    ]
    longer = replace(timeouts, session=timeouts.session + more, static=timeouts.static + more)
    found = costs(price(alone, scenario, release, SYNC, timeouts))
    later = costs(price(replace(alone, events=longer_own), scenario, release, SYNC, longer))
    assert all(one <= other for one, other in zip(found, later, strict=True))


def _lost(each: Event) -> Gone | None:
    return each.gone and replace(each.gone, back_ms=None)
