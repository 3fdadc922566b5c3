"""Days of recorded groups: what was worked out by hand, what clients say, and that neither midnight
nor a night nor a hole makes a sum say more.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from groupreplay.limits import DAY_MS
from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.decision_facts import GroupDay
from groupreplay.replay.decisions.bounds import SETTLE_MS
from groupreplay.replay.decisions.calendar import day_of
from tests.replay.decisions.test_transitions import ACKED, ASKED, GIVEN, JOINED, START
from tests.support.building import NAMES, Log
from tests.support.group_days import (
    as_of,
    days_of,
    holed,
    measured_to,
    partitions_of,
    shifted,
    stretched,
    sums,
    unread_ms,
)
from tests.support.recordings import RecordedGroup, all_groups, group
from tests.support.replaying import boundaries, difference, fact_keys, replayed

_ALL = list(all_groups())
_IDS = [f"{each.recording}-{each.group_id}" for each in _ALL]

SLACK_MS = 150
"""A transition: clients see later than the record says, on a small machine."""

CLOSE_MS = 1500
"""So much longer a member of a churning group stopped in a slow callback, which ends in a commit,
before it left.
"""


def days(
    recorded: RecordedGroup, entries: Sequence[Entry] | None = None, cuts: Iterable[int] = ()
) -> list[GroupDay]:
    log = recorded.entries if entries is None else entries
    return days_of(
        replayed(log, recorded.names, cuts, recorded.group_id, recorded.offsets_partition)
    )


@pytest.mark.parametrize(
    ("recording", "group_id", "wanted"),
    [
        (
            "consumer-4.3",
            "scale-up",
            {
                "members_ms": 180_259,
                "partitions_ms": 536_232,
                "low_ms": 4_870,
                "high_ms": 12_311,
                "epochs_begun": 4,
                "rebalancing_ms": 5_918,
                "handovers": 7,
                "moved": 7,
                # p44:190: a partition is back at m0, which had lost it to m1 at p44:82.
                "returned": 1,
            },
        ),
        ("consumer-4.3", "crash", {"low_ms": 996, "high_ms": 26_190}),
        ("consumer-4.3", "slow-revoker", {"low_ms": 3_182, "high_ms": 17_370}),
        (
            "consumer-4.3",
            "static-bounce",
            {"low_ms": 32_432, "away_ms": 29_288, "high_ms": 34_805, "away": 2, "replaced": 1},
        ),
        (
            "consumer-4.3",
            "fence-loop",
            {"joins": 6, "departures": 4, "moved": 16, "returned": 14, "cycles": 4},
        ),
        ("migration-4.3", "mixed-stall", {"mixed_ms": 35_926, "low_ms": 6_809}),
        (
            "classic-3.9",
            "classic-eager",
            {"low_ms": 90, "sync_ms": 90, "rebalancing_ms": 20, "high_ms": 58_283},
        ),
    ],
)
def test_days_are_what_was_worked_out(
    recording: str, group_id: str, wanted: dict[str, int]
) -> None:
    recorded = group(recording, group_id)
    found = sums(measured_to(days(recorded), as_of(recording)))
    assert {name: found[name] for name in wanted} == wanted


def test_a_silent_member_that_is_asked_for_its_partitions_costs_what_its_callback_took() -> None:
    """`idle_ms` alone would say 3,702: the member commits at the end of its callback."""
    (day,) = days(group("consumer-4.3", "slow-revoker"))
    assert (day.high_unknown, day.handovers, day.handover_max_ms) == (0, 2, 8_685)


@pytest.mark.parametrize("recorded", _ALL, ids=_IDS)
def test_what_clients_saw_lies_between_low_and_high(recorded: RecordedGroup) -> None:
    partitions = partitions_of(recorded.recording, recorded.group_id)
    found = sums(days(recorded))
    if not partitions or recorded.recording == "compacted-4.3":
        return  # no clients of partitions; or most of what happened was compacted away
    true = unread_ms(recorded.recording, recorded.group_id, partitions)
    changes = found["moved"] + found["handovers"] + found["replaced"]
    assert found["low_ms"] <= true + SLACK_MS * max(changes, 1)
    if recorded.group_id.startswith(("offline-upgrade", "deleted")):
        return  # it was empty, or gone, for most of that time: nobody asked for its partitions
    slack = CLOSE_MS if "churn" in recorded.group_id else SLACK_MS
    assert found["high_unknown"] or found["high_ms"] >= true - slack * max(changes, 1)


def test_enough_was_compared_with_what_clients_saw() -> None:
    compared = [
        true
        for each in _ALL
        if each.recording != "compacted-4.3"
        and (partitions := partitions_of(each.recording, each.group_id))
        and (true := unread_ms(each.recording, each.group_id, partitions)) > 0
    ]
    assert len(compared) >= 45
    assert sum(compared) > 2_000_000


@pytest.mark.long
@pytest.mark.parametrize("recorded", _ALL, ids=_IDS)
def test_midnight_changes_rows_and_no_sum(recorded: RecordedGroup) -> None:
    wanted = sums(days(recorded))
    times = [e.ts_ms for e in recorded.entries if not isinstance(e.record, OffsetCommit)]
    for percent in (25, 50, 75) if times else ():
        middle = min(times) + (max(times) - min(times)) * percent // 100
        by_ms = (day_of(middle) + 1) * DAY_MS - middle
        found = days(recorded, shifted(recorded.entries, by_ms))
        assert sums(found) == wanted, percent
        if wanted["members_ms"] > 1_000 and len({each.incarnation for each in found}) == 1:
            assert len(found) == 2, percent
            assert found[0].to_at == found[1].from_at


_GROWING = (
    *("members_ms", "empty_ms", "mixed_ms", "consumer_ms", "classic_ms", "rebalancing_ms"),
    *("partitions_ms", "unowned_ms", "away_ms", "sync_ms", "unobserved_ms"),
)


@pytest.mark.parametrize(
    ("recording", "group_id"),
    [
        ("consumer-4.3", "static-bounce"),
        ("consumer-4.3", "fence-loop"),
        ("migration-4.3", "rollback"),
        ("classic-3.9", "classic-eager"),
        ("compacted-4.3", "mixed-stall"),
    ],
)
def test_a_long_life_has_a_row_for_each_day(recording: str, group_id: str) -> None:
    """Everything 20,000 times as slow: days end, are told and emitted on the way, and lose nothing;
    nights may cut it anywhere.
    """
    recorded = group(recording, group_id)
    slow = stretched(recorded.entries, 20_000)
    found = days(recorded, slow)
    short, long = sums(days(recorded)), sums(found)
    assert {name: long[name] for name in _GROWING} == {
        name: short[name] * 20_000 for name in _GROWING
    }
    assert [each.day for each in found] == list(range(found[0].day, found[-1].day + 1))
    assert sum(each.is_final for each in found) >= 2
    assert long["low_ms"] <= long["high_ms"]
    for places in (boundaries(slow)[::5], boundaries(slow)):
        cut = fact_keys(days(recorded, slow, places))
        assert cut == fact_keys(found), difference(fact_keys(found), cut)


def settled(days: Iterable[GroupDay], before: int, now: int) -> list[tuple[int, int, int, int]]:
    """Of days that a night tells those that it writes for good, as `joins.horizons` closes them.

    before, now: how far the partition was read by earlier nights, and by this one.
    """
    ends = {id(each): (each.day + 1) * DAY_MS + SETTLE_MS for each in days}
    return [
        (each.day, each.longer_ms, each.high_unknown, each.moved)
        for each in days
        if before < ends[id(each)] <= now
    ]


MINUTE = 60_000
COMMIT: list[dict[str, Any]] = [{"k1": "foo-0"}]
NEXT: list[dict[str, Any]] = [{"k5": "C"}, {"k3": 3}]


def over_midnight(*more: tuple[int, Sequence[Any]]) -> list[Entry]:
    """Committed last at 23:50, given at 00:43; more: what follows, by minutes of day 1."""
    log = Log()
    before: list[tuple[int, Sequence[Any]]] = [(-20, START), (-10, COMMIT), (-9, JOINED)]
    before += [(-8, [ASKED]), (42, [ACKED]), (43, [GIVEN])]
    for minute, forms in (*before, *more):
        log.at(DAY_MS + minute * MINUTE).write(*forms)
    return log.entries


@pytest.mark.parametrize(
    ("more", "longer"),
    [
        ([(59, COMMIT)], [(0, 10), (1, 42 + 16)]),
        ([(60, COMMIT)], [(0, 0), (1, 10 + 42 + 17)]),
        ([(90, COMMIT)], [(0, 0), (1, 10 + 42 + 47)]),
        ([(61, NEXT), (90, COMMIT)], [(0, 0), (1, 10 + 42 + 47)]),
        ([(90, NEXT), (200, COMMIT)], [(0, 0), (1, 8 + 42)]),
    ],
)
def test_a_day_that_is_final_is_the_same_wherever_the_log_is_cut(
    more: list[tuple[int, Sequence[Any]]], longer: list[tuple[int, int]]
) -> None:
    """What a commit shows of a day counts for the next one where the day was settled; a night may
    end at any record, or anywhere between two, for other groups of the partition go on.
    """
    entries = over_midnight(*more)
    end = 2 * DAY_MS + SETTLE_MS

    def told(entries: Sequence[Entry], cuts: Iterable[int] = ()) -> list[GroupDay]:
        return days_of(replayed(entries, NAMES, cuts))

    wanted = settled(told(entries), -1, end)
    assert [(day, ms // MINUTE) for day, ms, *_ in wanted] == longer
    for place in boundaries(entries):
        for now in (entries[place - 1].ts_ms, DAY_MS + SETTLE_MS, entries[place].ts_ms - 1):
            if entries[place - 1].ts_ms <= now < entries[place].ts_ms:
                found = settled(told(entries[:place]), -1, now)
                found += settled(told(entries, [place]), now, end)
                assert found == wanted, (place, now)


@pytest.mark.long
@pytest.mark.parametrize("recorded", _ALL, ids=_IDS)
def test_a_hole_hides_costs_and_makes_none(recorded: RecordedGroup) -> None:
    """Whatever is lost, low stays below what clients saw, and time is watched or not, never both."""
    partitions = partitions_of(recorded.recording, recorded.group_id)
    if not partitions or recorded.recording == "compacted-4.3":
        return
    true, chance = unread_ms(recorded.recording, recorded.group_id, partitions), random.Random(7)
    places = boundaries(recorded.entries)
    for _ in range(6 if len(places) > 4 else 0):
        begin, end = sorted(chance.sample(places, 2))
        lives: dict[int, list[GroupDay]] = {}
        for day in days(recorded, holed(recorded.entries, begin, end)):
            lives.setdefault(day.incarnation, []).append(day)
        for found in lives.values():
            total = sums(found)
            low, changes = total["low_ms"], total["moved"] + total["handovers"]
            assert low <= true + SLACK_MS * max(changes + total["replaced"], 1), (begin, end)
            watched = sum(each.to_at - each.from_at for each in found)
            states = ("empty_ms", "mixed_ms", "consumer_ms", "classic_ms", "unobserved_ms")
            assert sum(total[name] for name in states) == watched, (begin, end)


def test_a_clock_that_was_far_ahead_stops_no_days() -> None:
    """Of some operations the leader's clock was two days ahead: what follows still counts, for the
    oldest day that is open.
    """
    recorded = group("consumer-4.3", "fence-loop")
    third = len(recorded.entries) // 3
    ahead = [
        each._replace(ts_ms=each.ts_ms + 2 * DAY_MS * (third <= i < third + 20))
        for i, each in enumerate(recorded.entries)
    ]
    found, wanted = days(recorded, ahead), sums(days(recorded))
    assert sums(found)["joins"] == wanted["joins"]
    (newest,) = [each for each in found if each.rate_members is not None]
    assert newest.day == day_of(recorded.entries[-1].ts_ms) + 2
    assert newest.departures >= 1
    assert sums(found)["members_ms"] > wanted["members_ms"] + 2 * DAY_MS
    assert all(each.from_at <= each.to_at for each in found)
    cut = days(recorded, ahead, boundaries(ahead)[::4])
    assert fact_keys(cut) == fact_keys(found)
