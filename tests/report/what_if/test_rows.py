"""Why a wave has no price, or one that is compared with nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from groupreplay.config.model import BrokersConfig, WhatIfConfig
from groupreplay.replay.decision_facts import Churn
from groupreplay.report.what_if.rows import Pricing, prices_of
from groupreplay.report.what_if.times import REVOKE
from groupreplay.workers.waves.wave_events import events_of
from tests.support.recordings import group, groups
from tests.support.replaying import replayed

OWN = Pricing(brokers=BrokersConfig(session_timeout_ms=12_000), what_if=WhatIfConfig())
REVOKES = [{"measure": REVOKE, "count": 20, "p10": 0, "p50": 100, "p90": 200, "most": 300}]


def waves_of(recording: str, group_id: str, gap_ms: int = 11_000) -> list[dict[str, Any]]:
    one = group(recording, group_id)
    facts = replayed(one.entries, one.names, (), group_id, one.offsets_partition)
    return [
        asdict(wave)
        for chain in facts
        if isinstance(chain, Churn)
        for wave in events_of(asdict(chain), gap_ms)
    ]


def priced(wave: dict[str, Any], **said: Any) -> list[dict[str, Any]]:
    """Prices of one wave. said: what is told of it."""
    ends = [
        {
            "place": place,
            "end": "LEFT",
            "silent_ms": 100,
            "unread_ms": 100,
            "unheard_ms": None,
            "absent_ms": None,
        }
        for place in range(len(wave["absent_back_ms"]))
    ]
    usual = {
        "start_observed": True,
        "is_cut": False,
        "is_final": True,
        "to_offset": 9,
        "est_ms": 5_000,
        "est_is_partial": False,
        "ends_told": ends,
        "own_times": REVOKES,
        "fleet_times": [],
        "started_at": 0,
    }
    return prices_of({**wave, **usual, **said}, OWN)


def rows_of(recording: str, group_id: str, **said: Any) -> list[dict[str, Any]]:
    """Prices of the last wave of a recorded group."""
    return priced(waves_of(recording, group_id)[-1], **said)


def refusals(rows: list[dict[str, Any]]) -> set[str | None]:
    return {each["refused"] for each in rows}


def test_a_wave_of_a_consumer_group_is_priced_and_compared() -> None:
    rows = rows_of("consumer-4.3", "wave")
    assert refusals(rows) == {None}
    assert all(each["delta_pct"] is not None for each in rows)
    assert [each["scenario"] for each in rows if each["is_actual"]] == ["CONSUMER"]


def test_a_group_that_was_mixed_is_priced_and_compared_with_nothing() -> None:
    """What it cost is no cost of one protocol."""
    rows = rows_of("migration-4.3", "mixed-stall")
    assert refusals(rows) == {"MIXED_ACTUAL"}
    for each in rows:
        assert each["mid_ms"] is not None
        assert each["actual_ms"] == 5_000
        assert (each["delta_pct"], each["model_error_pct"]) == (None, None)
    assert not any(each["is_actual"] for each in rows)


def test_ends_that_nothing_shows_refuse_a_price() -> None:
    """More than a tenth of the partitions were of members of which nobody knows how they went."""

    def ends(*known: str) -> list[dict[str, Any]]:
        return [
            {
                "place": i,
                "end": end,
                "silent_ms": None,
                "unread_ms": None,
                "unheard_ms": None,
                "absent_ms": None,
            }
            for i, end in enumerate(known)
        ]

    refused = rows_of("consumer-4.3", "wave", ends_told=ends("UNKNOWN", *["LEFT"] * 5))
    assert refusals(refused) == {"UNKNOWN_ENDS"}
    assert all(each["mid_ms"] is None for each in refused)
    assert refusals(rows_of("consumer-4.3", "wave", ends_told=ends(*["LEFT"] * 6))) == {None}


def test_a_wave_of_which_the_cleaner_took_a_part_has_no_price() -> None:
    assert refusals(rows_of("consumer-4.3", "wave", start_observed=False)) == {"WAVE_HIDDEN"}
    assert refusals(rows_of("consumer-4.3", "wave", is_cut=True)) == {"WAVE_HIDDEN"}


@pytest.mark.parametrize("gap_ms", [1_000, 3_000, 11_000, 60_000])
def test_no_wave_of_a_compacted_log_has_a_price(gap_ms: int) -> None:
    """Of seven groups the cleaner left the members of one changing, by one join."""
    waves = {
        each.group_id: waves_of("compacted-4.3", each.group_id, gap_ms)
        for each in groups("compacted-4.3")
    }
    assert {group_id: len(found) for group_id, found in waves.items() if found} == {"churn": 1}
    rows = [row for found in waves.values() for wave in found for row in priced(wave)]
    assert refusals(rows) == {"WAVE_HIDDEN"}
    assert all(each["mid_ms"] is None for each in rows)
