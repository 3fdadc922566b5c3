"""Which times without a coordinator are one, and when they ended, by answers that logs must show."""

from __future__ import annotations

from tests.simulator.answers import Answer
from tests.simulator.compare import Between
from tests.simulator.expected.outages import Outage, unavailable_of

GOES_ON, NOT_COORDINATOR = 0, 16


def _answer(at_s: int, error: int, member: str, kind: str = "heartbeat", broker: int = 1) -> Answer:
    return Answer(at_s * 1_000, broker, at_s * 1_000, error, kind, member)


def test_a_run_that_goes_on_hides_the_end_of_an_outage() -> None:
    (found,) = unavailable_of(
        [
            _answer(1, GOES_ON, "a"),
            _answer(3, NOT_COORDINATOR, "b", broker=2),
            _answer(4, GOES_ON, "a"),
            _answer(6, NOT_COORDINATOR, "b", broker=2),
            _answer(8, GOES_ON, "a"),
            _answer(12, GOES_ON, "b"),
        ]
    )
    assert found.outages == (Outage(3_000, 3_000, 4_000, 1), Outage(6_000, 6_000, 8_000, 1))
    assert (found.since_at, found.last_at, found.attempts) == (3_000, 6_000, 2)
    assert found.until == Between(8_000, 12_000)
    assert found.is_over


def test_what_no_run_hides_ends_an_outage() -> None:
    turned_away = _answer(3, NOT_COORDINATOR, "b", broker=2)
    seen = (
        [_answer(1, GOES_ON, "a", kind="join"), turned_away, _answer(5, GOES_ON, "a", kind="join")],
        [_answer(1, GOES_ON, "a", kind="commit"), turned_away, _answer(5, GOES_ON, "a")],
        [_answer(1, GOES_ON, "a", broker=2), turned_away, _answer(5, GOES_ON, "a")],
        [_answer(1, GOES_ON, "c"), turned_away, _answer(5, GOES_ON, "a")],
        [_answer(-5, GOES_ON, "a"), turned_away, _answer(5, GOES_ON, "a")],
        [
            _answer(1, GOES_ON, "a"),
            turned_away,
            _answer(4, NOT_COORDINATOR, "a"),
            _answer(5, GOES_ON, "a"),
        ],
    )
    for answers in seen:
        first, second = unavailable_of([*answers, _answer(9, NOT_COORDINATOR, "b")])
        assert (first.until, first.is_over) == (Between(5_000, 5_000), True)
        assert (second.since_at, second.until, second.is_over) == (9_000, None, False)


def test_an_administrator_that_is_turned_away_ends_no_run() -> None:
    """Of the member that it removes by its instance."""
    (found,) = unavailable_of(
        [
            _answer(1, GOES_ON, "a"),
            _answer(3, NOT_COORDINATOR, "a", kind="leave"),
            _answer(4, GOES_ON, "a"),
        ]
    )
    assert (found.until, found.is_over) == (Between(4_000, 13_000), False)


def test_a_run_alone_ends_no_outage_for_certain() -> None:
    (found,) = unavailable_of(
        [
            _answer(1, GOES_ON, "a"),
            _answer(3, NOT_COORDINATOR, "b", broker=2),
            _answer(4, GOES_ON, "a"),
        ]
    )
    assert (found.until, found.is_over) == (Between(4_000, 13_000), False)
