"""What a group committed before it went over to another protocol: which commits a life counts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.expected import departure_waves
from tests.simulator.expected.history import History
from tests.simulator.truth import STREAMS, read_truth

EMPTY = {"ge": 9, "te": 9, "ms": {}}


def _line(offset: int, op: str, **more: Any) -> dict[str, Any]:
    place = {"t": 1_000 + offset, "p": 3, "b": offset, "e": offset}
    return place | {"op": op, "g": "g", "m": "a", "recs": []} | more


def _generation(number: int, *names: str) -> dict[str, Any]:
    """An eager one, in which each member has a partition of its own."""
    members = {
        name: {"e": number, "st": "STABLE", "rt": 1, "cl": name, "classic": 1, "an": {"t": [place]}}
        for place, name in enumerate(names)
    }
    state = {"type": "classic", "ge": number, "proto": "range", "ptype": "consumer"}
    return {"recs": [f"K2 generation {number}"], "s": {"g": {**state, "ms": members}}}


def _history(folder: Path, protocol: str) -> History:
    """An empty group of another protocol, that committed, becomes a classic one. Generation 2 stops
    its first member, which commits after that."""
    converted = {"type": "classic", "ge": 0, "ms": {}}
    operations = (
        _line(0, "leave", s={"g": {"type": protocol, **EMPTY}}),
        _line(5, "commit", c=["K1 g t-0 5"]),
        _line(10, "join", recs=["K3 gone", "K2 generation 0"], s={"g": converted}),
        _line(20, "sync", **_generation(1, "a")),
        _line(40, "sync", **_generation(2, "a", "b")),
        _line(60, "commit", c=["K1 g t-0 7"]),
    )
    (home := folder / "truth").mkdir()
    files = {"operations": operations, "timeline": (), "reading": (), "answers": ()}
    for name, told in files.items():
        with gzip.open(home / f"{name}.jsonl.gz", "wt") as text:
            text.writelines(json.dumps(line) + "\n" for line in told)
    (home / "topic_names.json").write_text("{}")
    said = {"brokers": 1, "broker_config": {}, "simulated": {"clocks_ms": {"1": 0}}}
    (folder / "recording.json").write_text(json.dumps(said))
    return History(read_truth(folder))


@pytest.mark.parametrize(
    ("protocol", "unknown", "idle_ms"), [("consumer", 0, 60 - 5), (STREAMS, 1, None)]
)
def test_what_a_streams_group_committed_is_not_counted_after_it(
    protocol: str, unknown: int, idle_ms: int | None, tmp_path: Path
) -> None:
    (wave,) = departure_waves.CHECK.wanted(_history(tmp_path, protocol)).values()
    assert wave.values["high_unknown"] == unknown
    assert wave.values["longest_idle_ms"] == idle_ms
