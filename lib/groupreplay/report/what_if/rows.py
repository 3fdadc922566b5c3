"""Rows of waves -> rows of prices, in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import pyarrow as pa

from groupreplay.config.model import BrokersConfig, WhatIfConfig
from groupreplay.replay.decisions.modes import CONSUMER_ALONE, COOPERATIVE, EAGER, MIXED
from groupreplay.report.brokers import assignment_interval_ms, brokers_of, settings_of
from groupreplay.report.what_if.known import Event, Gone, Timeouts, Wave
from groupreplay.report.what_if.model import Price, Scenario, price, scenarios
from groupreplay.report.what_if.times import (
    BEAT,
    CLASSIC_BEAT,
    Bracket,
    Chosen,
    Known,
    Sample,
    Samples,
    release_of_consumer,
    release_of_cooperative,
    release_of_eager,
    sync_phase,
    weakest,
)

WAVE_HIDDEN: Final = "WAVE_HIDDEN"
NO_TIMES: Final = "NO_TIMES"
UNKNOWN_ENDS: Final = "UNKNOWN_ENDS"
"""Why there is no price."""

MIXED_ACTUAL: Final = "MIXED_ACTUAL"
NO_ACTUAL: Final = "NO_ACTUAL"
"""Why the price is not compared with what really happened."""

LEAST_KNOWN: Final = 10
"""A price needs nine of so many partitions to be of members of which it is known how they went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """What every wave of a night is priced by."""

    brokers: BrokersConfig
    what_if: WhatIfConfig


_OF_WAVE: Final = {
    "group_id": pa.string(),
    "incarnation": pa.int64(),
    "offsets_partition": pa.int64(),
    "from_offset": pa.int64(),
    "to_offset": pa.int64(),
    "start_observed": pa.bool_(),
    "log_incarnation": pa.int64(),
    "started_at": pa.int64(),
    "is_final": pa.bool_(),
}
_PRICED: Final = {
    "scenario": pa.string(),
    "is_actual": pa.bool_(),
    "events": pa.int64(),
    "rebalances": pa.int64(),
    "moved_min": pa.int64(),
    "stopped_partitions": pa.int64(),
    "low_ms": pa.int64(),
    "mid_ms": pa.int64(),
    "high_ms": pa.int64(),
    "actual_ms": pa.int64(),
    "delta_pct": pa.float64(),
    "model_error_pct": pa.float64(),
    "r_ms": pa.int64(),
    "y_ms": pa.int64(),
    "session_ms": pa.int64(),
    "heartbeat_ms": pa.int64(),
    "basis": pa.string(),
    "refused": pa.string(),
}
_SCHEMA: Final = pa.schema(list((_OF_WAVE | _PRICED).items()))
_SPARK: Final = {
    pa.string(): "STRING",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
}
PRICED_DDL: Final = ", ".join(f"`{each.name}` {_SPARK[each.type]}" for each in _SCHEMA)


def price_batches(
    own: Pricing,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` takes: rows of `workers.waves.wave_events`, and what the table joined."""

    def each_priced(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [priced for row in batch.to_pylist() for priced in prices_of(row, own)]
            yield pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)

    return each_priced


def prices_of(row: Mapping[str, Any], own: Pricing) -> list[dict[str, Any]]:
    """One row a scenario."""
    wave, timeouts = wave_of(row), _timeouts(row, own)
    known = _known(row, own, timeouts)
    of_wave = {name: row[name] for name in _OF_WAVE}
    return [
        of_wave | _row(wave, scenario, known, timeouts)
        for scenario in scenarios(own.what_if.other_heartbeat_ms)
    ]


# ---------------------------------------------------------------- what is known


_OF_END: Final = ("end", "silent_ms", "unread_ms", "unheard_ms", "absent_ms")


def wave_of(row: Mapping[str, Any]) -> Wave:
    """A row of the table's frame as the model reads it."""
    ends = {each["place"]: each for each in row["ends_told"] or ()}
    gone = [
        Gone(
            **{name: ends[place][name] for name in _OF_END},
            uncommitted_ms=row["absent_silences_ms"][place],
            away_ms=row["absent_away_ms"][place],
            back_ms=row["absent_back_ms"][place],
        )
        for place in range(len(row["absent_back_ms"]))
    ]
    names = {
        "kind": "kinds",
        "at": "times_at",
        "held": "held",
        "left_out": "left_out",
        "session_ms": "sessions_ms",
        "members_after": "members_after",
        "partitions": "partitions",
    }
    lists = [row[f"event_{column}"] for column in names.values()]
    events = [
        Event(**dict(zip(names, values, strict=True)), gone=gone[place] if place >= 0 else None)
        for *values, place in zip(*lists, row["event_gone"], strict=True)
    ]
    return Wave(
        mode=row["mode"],
        events=events,
        members_before=row["members_before"],
        is_hidden=row["is_hidden"] or row["is_cut"] or not row["start_observed"],
        est_ms=None if row["est_is_partial"] else row["est_ms"],
    )


def _timeouts(row: Mapping[str, Any], own: Pricing) -> Timeouts:
    """Heartbeats are those of the group where lines show them."""
    settings = settings_of(row.get("settings") or ())
    brokers = brokers_of(own.brokers, settings)
    times = _samples(row["own_times"])
    return Timeouts(
        session=brokers.session_ms,
        static=own.what_if.static_timeout_ms,
        heartbeat=_beat(times, BEAT, brokers.heartbeat_ms),
        classic_heartbeat=_beat(times, CLASSIC_BEAT, own.brokers.classic_heartbeat_ms),
        assignment=assignment_interval_ms(own.brokers, settings),
    )


def _beat(times: Samples, measure: str, usual_ms: int) -> int:
    """The beat of most members of the group."""
    found = times.get(measure)
    return usual_ms if found is None else found.p50


def _known(row: Mapping[str, Any], own: Pricing, timeouts: Timeouts) -> Known:
    return Known(
        own=_samples(row["own_times"]),
        fleet=_samples(row["fleet_times"]),
        least_own=own.what_if.min_samples,
        least_fleet=own.what_if.min_fleet_samples,
        classic_heartbeat_ms=timeouts.classic_heartbeat,
    )


_OF_SAMPLE: Final = tuple(each.name for each in fields(Sample))


def _samples(told: Iterable[Mapping[str, Any]] | None) -> Samples:
    return {
        each["measure"]: Sample(**{name: each[name] for name in _OF_SAMPLE}) for each in told or ()
    }


# ---------------------------------------------------------------- one row


def _row(wave: Wave, scenario: Scenario, known: Known, timeouts: Timeouts) -> dict[str, Any]:
    is_plain = not scenario.is_static and scenario.heartbeat_ms is None
    row: dict[str, Any] = dict.fromkeys(_PRICED) | {
        "scenario": scenario.name,
        "is_actual": is_plain and scenario.mode == wave.mode,
        "events": len(wave.events),
    }
    is_consumer = scenario.mode == CONSUMER_ALONE
    release = _RELEASES[scenario.mode](known)
    sync = sync_phase(known)
    found = price(wave, scenario, NOTHING if release is None else release[0], sync[0], timeouts)
    refused = _no_price(wave, found, release)
    if refused is not None:
        return row | {"refused": refused}
    heartbeat = timeouts.heartbeat if is_consumer else timeouts.classic_heartbeat
    return (
        row
        | _costs(found)
        | _times(found, release, sync)
        | {"heartbeat_ms": scenario.heartbeat_ms or heartbeat}
        | _compared(wave, found, is_actual=row["is_actual"])
    )


_RELEASES: Final[Mapping[str, Callable[[Known], Chosen | None]]] = {
    EAGER: release_of_eager,
    COOPERATIVE: release_of_cooperative,
    CONSUMER_ALONE: release_of_consumer,
}
"""Mode of a scenario -> R of it."""

NOTHING: Final = Bracket(0, 0, 0)
"""Stands for R where it is not known, in a price that no rebalance is in."""


def _no_price(wave: Wave, found: Price, release: Chosen | None) -> str | None:
    if wave.is_hidden:
        return WAVE_HIDDEN
    if release is None and found.rebalances:
        return NO_TIMES
    return UNKNOWN_ENDS if LEAST_KNOWN * wave.unknown_held > wave.left_held else None


def _costs(found: Price) -> dict[str, Any]:
    return {
        "rebalances": found.rebalances,
        "moved_min": found.moved,
        "stopped_partitions": found.stopped,
        "low_ms": found.low_ms,
        "mid_ms": found.mid_ms,
        "high_ms": found.high_ms,
        "session_ms": found.session_ms,
    }


def _times(found: Price, release: Chosen | None, sync: Chosen) -> dict[str, Any]:
    """Those that the price depends on, and the weakest of where they come from."""
    used: dict[str, tuple[Bracket, str]] = {}
    if found.uses_release and release is not None:
        used["r_ms"] = release
    if found.uses_sync:
        used["y_ms"] = sync
    told: dict[str, Any] = {name: times.mid for name, (times, _) in used.items()}
    return told | {"basis": weakest([basis for _, basis in used.values()])}


def _compared(wave: Wave, found: Price, *, is_actual: bool) -> dict[str, Any]:
    actual = wave.actual_ms
    if wave.mode == MIXED:
        return {"actual_ms": actual, "refused": MIXED_ACTUAL}
    if actual is None:
        return {"refused": NO_ACTUAL}
    delta = round(100 * (found.mid_ms - actual) / actual, 1) if actual else None
    return {
        "actual_ms": actual,
        "delta_pct": delta,
        "model_error_pct": delta if is_actual else None,
    }
