"""How near prices of what truly happened are to the truth: of `what_if` the rows that are actual,
many together (measures.md, What if).

One price is off by what a median hides. All together lie between their bounds, and so do most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from tests.simulator.expected.departure_waves import charged_to
from tests.simulator.expected.history import History
from tests.simulator.expected.unread import is_unsure
from tests.simulator.expected.waves import Event, chains_of, lives_of, waves_of
from tests.simulator.tables import Row

ENOUGH: Final = 10
"""Fewer prices of a protocol say nothing."""

IN_BRACKET: Final = 0.55
"""So many true times lie between low_ms and high_ms: callbacks and polls of simulated members take
from nothing to half a minute."""

MID_OFF: Final = {"CONSUMER": 0.25, "COOPERATIVE": 0.4}
"""By so much mid_ms is off, all together. An eager group waits for its slowest member, and R is that
of all: only its bounds are held."""


class Priced(NamedTuple):
    """One row that is actual. true_ms: for how long nobody read, partition-ms, as clients wrote it
    down."""

    scenario: str
    low_ms: int
    mid_ms: int
    high_ms: int
    true_ms: int


def priced_of(history: History, rows: Iterable[Row]) -> Iterator[Priced]:
    """Of a history, where a price can be compared. rows: of `what_if`."""
    true = _true_times(history)
    for row in rows:
        if not row["is_actual"] or row["refused"] is not None:
            continue
        true_ms = true.get((row["group_id"], history.opened_by(row)))
        if true_ms is not None:
            yield Priced(row["scenario"], row["low_ms"], row["mid_ms"], row["high_ms"], true_ms)


def _true_times(history: History) -> dict[tuple[str, int], int]:
    """Group and first offset of a wave -> for how long nobody read what it is charged with."""
    found: dict[tuple[str, int], int] = {}
    for chain in chains_of(history):
        waves = list(waves_of(chain))
        for wave, after in zip(waves, [*waves[1:], None], strict=True):
            true_ms = _true_ms(history, wave, after)
            if true_ms is not None:
                found[chain.life.group_id, wave[0].coming.operation.first_offset] = true_ms
    return found


def _true_ms(history: History, wave: Sequence[Event], after: Sequence[Event] | None) -> int | None:
    """None where other clocks or two holders hide it, or nobody read again."""
    lives = lives_of(wave)
    if any(is_unsure(history, life) for life in lives):
        return None
    gaps = {
        (each.span.partition, each.gap)
        for life in lives
        for each in charged_to(history, life, wave, after)
        if each.gap is not None
    }
    if any(gap.until is None for _, gap in gaps):
        return None
    return sum((gap.until or 0) - gap.since for _, gap in gaps)


def wrong_prices(found: Iterable[Priced]) -> list[str]:
    """What is wrong with them all together, protocol by protocol."""
    by_scenario: dict[str, list[Priced]] = defaultdict(list)
    for each in found:
        by_scenario[each.scenario].append(each)
    return [
        f"{scenario}: {said}"
        for scenario, of_one in sorted(by_scenario.items())
        if len(of_one) >= ENOUGH
        for said in _wrong(scenario, of_one)
    ]


def _wrong(scenario: str, found: Sequence[Priced]) -> Iterator[str]:
    low_ms, mid_ms, high_ms, true_ms = (
        sum(values) for values in list(zip(*found, strict=True))[1:]
    )
    if not low_ms <= true_ms <= high_ms:
        yield f"together {low_ms} to {high_ms}, in truth {true_ms}"
    within = sum(each.low_ms <= each.true_ms <= each.high_ms for each in found)
    if within < IN_BRACKET * len(found):
        yield f"{within} of {len(found)} lie in their brackets"
    off = MID_OFF.get(scenario)
    if off is not None and abs(mid_ms - true_ms) > off * true_ms:
        yield f"together {mid_ms}, in truth {true_ms}"
