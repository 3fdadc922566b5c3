"""Prices of what truly happened that are off, all together, are noticed."""

from __future__ import annotations

from typing import Final

import pytest

from tests.simulator.expected.priced import ENOUGH, MID_OFF, Priced, wrong_prices

SCENARIOS: Final = ("EAGER", "COOPERATIVE", "CONSUMER")

NEAR: Final = tuple(
    Priced(scenario, 500 * each, 1_000 * each, 2_000 * each, 1_000 * each + 40 * (-1) ** each)
    for scenario in SCENARIOS
    for each in range(1, 2 * ENOUGH)
)


def test_prices_that_are_near_are_right() -> None:
    assert wrong_prices(NEAR) == []


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("times", [0.4, 2.2])
def test_brackets_that_lie_beside_the_truth_are_noticed(scenario: str, times: float) -> None:
    lies = [
        each._replace(true_ms=round(each.true_ms * times)) if each.scenario == scenario else each
        for each in NEAR
    ]
    assert {said.split(":")[0] for said in wrong_prices(lies)} == {scenario}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_brackets_that_one_price_saves_in_the_sum_are_noticed(scenario: str) -> None:
    lies = [
        each._replace(low_ms=each.mid_ms, high_ms=each.mid_ms) if place % 2 else each
        for place, each in enumerate(NEAR)
        if each.scenario == scenario
    ]
    assert any("in their brackets" in said for said in wrong_prices(lies))


@pytest.mark.parametrize("scenario", list(MID_OFF))
def test_middles_that_are_all_off_are_noticed(scenario: str) -> None:
    lies = [each._replace(mid_ms=round(each.mid_ms * 1.5)) for each in NEAR]
    assert scenario in {said.split(":")[0] for said in wrong_prices(lies)}


def test_few_prices_say_nothing() -> None:
    few = [each._replace(true_ms=10**9) for each in NEAR[: ENOUGH - 1]]
    assert wrong_prices(few) == []
