"""Since when a process was gone, by what was done to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.compare import Bound
from tests.simulator.expected import static_accounting
from tests.simulator.expected.stops import IN_FLIGHT_MS
from tests.simulator.injected import Injected, standstills
from tests.simulator.written import BORN, classic_generation, history_of, line

FROZEN_AT, CLOSED_AT, BACK_AT = 1_300, 1_500, 5_000


@pytest.mark.parametrize(
    ("frozen_ms", "since"), [(1_000, FROZEN_AT), (100, CLOSED_AT)], ids=["stands", "went on"]
)
def test_a_static_member_that_is_closed_while_it_stands_still_says_nothing(
    frozen_ms: int, since: int, tmp_path: Path
) -> None:
    """No record and no line shows when it was closed: its last request came before it stood
    still."""
    done = {"g": "g", "m": "a"}
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a", i="static")),
        line(900, "sync", **_left(2)),
        line(BACK_AT - 1_000, "sync", **classic_generation(3, "c", i="static")),
        timeline=(
            {**done, "t": FROZEN_AT, "what": "freeze", "detail": f"g c a {frozen_ms}"},
            {**done, "t": CLOSED_AT, "what": "close", "detail": "g c a"},
        ),
    )
    (absence,) = static_accounting.CHECK.wanted(history).values()
    assert absence.values["outcome"] == "EXPIRED_RETURNED"
    assert absence.values["gap_low_ms"] == Bound(BACK_AT - since, is_lower=True, slack=IN_FLIGHT_MS)
    most = Bound(BACK_AT - CLOSED_AT, is_lower=False, slack=IN_FLIGHT_MS)
    assert absence.values["gap_high_ms"] == most


@pytest.mark.parametrize("began", [FROZEN_AT - 1_000, FROZEN_AT + 100, BACK_AT])
def test_who_stands_still_in_a_storm_may_be_woken(began: int, tmp_path: Path) -> None:
    """Members of its group are made to join again, one of them each turn: it commits before."""
    done = {"g": "g", "m": "a"}
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a", i="static")),
        line(1_600, "sync", **_left(2)),
        line(BACK_AT - 1_000, "sync", **classic_generation(3, "c", i="static")),
        timeline=(
            {**done, "t": FROZEN_AT, "what": "freeze", "detail": "g c a 9000"},
            {"g": "g", "t": began, "what": "epoch storm", "detail": "g 2"},
        ),
    )
    (absence,) = static_accounting.CHECK.wanted(history).values()
    is_known = isinstance(absence.values["gap_high_ms"], Bound)
    assert is_known == (began == BACK_AT)


@pytest.mark.parametrize(
    ("frozen", "found"),
    [
        ([(100, 500), (300, 50)], ["100 500"]),
        ([(100, 500), (300, 900), (1_100, 200)], ["100 1200"]),
        ([(100, 500), (600, 50)], ["100 500", "600 50"]),
    ],
    ids=["is over first", "goes on", "had gone on"],
)
def test_who_is_frozen_while_it_stands_still_stopped_before(
    frozen: list[tuple[int, int]], found: list[str]
) -> None:
    """Another process is frozen meanwhile, and this one is told of other topics."""
    events = [
        Injected(50, "freeze", "g c other 70", "g", "other"),
        *(Injected(at, "freeze", f"g c a {ms}", "g", "a") for at, ms in frozen),
        Injected(2_000, "subscribe", "g c a [t]", "g", "a"),
    ]
    other, *own, subscribed = standstills(events)
    assert (other, subscribed) == (events[0], events[-1])
    assert [f"{each.at} {each.detail.split()[-1]}" for each in own] == found


def _left(number: int) -> dict[str, object]:
    """A generation of another member, without the first."""
    told = classic_generation(number, "b")
    told["s"]["g"]["gone"] = ["a"]
    return told
