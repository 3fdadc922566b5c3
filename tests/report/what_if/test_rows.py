"""Why a wave has no price, or one that is compared with nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from groupreplay.config.model import BrokersConfig, WhatIfConfig
from groupreplay.replay.decision_facts import Churn
from groupreplay.report.what_if.rows import Pricing, prices_of
from groupreplay.report.what_if.times import REVOKE
from groupreplay.workers.waves.wave_events import events_of
from tests.support.recordings import group
from tests.support.replaying import replayed

OWN = Pricing(brokers=BrokersConfig(session_timeout_ms=12_000), what_if=WhatIfConfig())
REVOKES = [{"measure": REVOKE, "count": 20, "p10": 0, "p50": 100, "p90": 200, "most": 300}]


def rows_of(recording: str, group_id: str, **said: Any) -> list[dict[str, Any]]:
    """Prices of the last wave of a recorded group. said: what is told of the wave."""
    one = group(recording, group_id)
    facts = replayed(one.entries, one.names, (), group_id, one.offsets_partition)
    waves = [
        asdict(wave)
        for chain in facts
        if isinstance(chain, Churn)
        for wave in events_of(asdict(chain), 11_000)
    ]
    gone = len(waves[-1]["absent_back_ms"])
    ends = [
        {"place": place, "end": "LEFT", "removed": 1, "silent_ms": 100, "unheard_ms": None}
        for place in range(gone)
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
    return prices_of({**waves[-1], **usual, **said}, OWN)


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
            {"place": i, "end": end, "removed": 1, "silent_ms": None, "unheard_ms": None}
            for i, end in enumerate(known)
        ]

    refused = rows_of("consumer-4.3", "wave", ends_told=ends("UNKNOWN", *["LEFT"] * 5))
    assert refusals(refused) == {"UNKNOWN_ENDS"}
    assert all(each["mid_ms"] is None for each in refused)
    assert refusals(rows_of("consumer-4.3", "wave", ends_told=ends(*["LEFT"] * 6))) == {None}


def test_a_wave_of_which_the_cleaner_took_a_part_has_no_price() -> None:
    rows = rows_of("compacted-4.3", "churn")
    assert refusals(rows) == {"WAVE_HIDDEN"}
    assert all(each["mid_ms"] is None for each in rows)
    assert refusals(rows_of("consumer-4.3", "wave", start_observed=False)) == {"WAVE_HIDDEN"}
    assert refusals(rows_of("consumer-4.3", "wave", is_cut=True)) == {"WAVE_HIDDEN"}
