"""Removed members that a group remembers, however many come and go."""

from __future__ import annotations

import pytest

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.replay.assignment.fence_loops import DEPARTURES_KEPT, FenceLoops
from groupreplay.replay.facts import Chain
from groupreplay.replay.life import CONSUMER, Life, Member
from groupreplay.replay.output import Output
from tests.support.building import NAMES, Log
from tests.support.replaying import replayed

OLD_KEPT = 64
"""So many are remembered of an empty group that were removed more than an hour ago."""


class Group:
    """A log in which members come and go one by one; each operation takes a second."""

    def __init__(self) -> None:
        self.log = Log()
        self._epoch = 0

    def join(self, member_id: str, client: str) -> None:
        self._epoch += 1
        epoch = self._epoch
        self.log.write(
            {"k5": member_id, "client": client},
            {"k3": epoch},
            {"k7": member_id},
            {"k6": epoch},
            {"k8": member_id, "epoch": epoch, "prev": 0},
        )

    def leave(self, member_id: str) -> None:
        self._epoch += 1
        self.log.write({"k8x": member_id}, {"k7x": member_id}, {"k5x": member_id})
        self.log.write({"k3": self._epoch})


@pytest.mark.parametrize("others", [1, OLD_KEPT - 1, OLD_KEPT, OLD_KEPT + 1, 3 * OLD_KEPT])
@pytest.mark.parametrize("is_cut", [False, True])
def test_who_comes_back_within_the_hour_is_known_whoever_went_since(
    others: int, is_cut: bool
) -> None:
    group = Group()
    group.join("A", "app")
    group.leave("A")
    for number in range(others):
        group.join(f"X{number}", f"other-{number}")
        group.leave(f"X{number}")
    cut = len(group.log.entries)
    group.join("B", "app")
    group.leave("B")
    group.join("C", "app")
    last = 1_000 * (3 * others + 4)
    (loop,) = [
        (each.member_id, each.times_at, each.ends_at)
        for each in replayed(group.log.entries, NAMES, [cut] if is_cut else ())
        if isinstance(each, Chain)
    ]
    assert loop == ("B", [2_000, last + 1_000], [last, last + 3_000])


def _departures(*times: int) -> dict[str, int]:
    """Member id -> when it was removed, of those that are remembered after removals at these
    times."""
    life = Life("g", 0, 0, CONSUMER)
    loops = FenceLoops(life, Output())
    for number, at in enumerate(times):
        loops.departed(Member(f"{number}", client_id=f"app-{number % 7}"), at)
    return {member_id: each.removed_at for member_id, each in life.departures.items()}


def test_of_those_that_went_more_than_an_hour_ago_a_few_are_remembered() -> None:
    hour = MAX_CHAIN_GAP_MS
    assert _departures(*range(100), hour + 49) == {
        **{f"{number}": number for number in range(100 - OLD_KEPT + 1, 100)},
        "100": hour + 49,
    }


def test_no_more_than_so_many_are_remembered_of_one_hour() -> None:
    kept = _departures(*range(DEPARTURES_KEPT + 10))
    assert list(kept.values()) == list(range(10, DEPARTURES_KEPT + 10))
