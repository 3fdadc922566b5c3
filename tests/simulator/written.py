"""Truths written by hand, as the simulator would write them: what the checker makes of rare things.

Lines are of one group g, in one partition of the offsets topic; each record has its offset + 1,000
for its time.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.simulator.expected.history import History
from tests.simulator.truth import read_truth

ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
"""Of the topic t."""
AGAIN: Final = "AAAAAAAAAAAAAAAAAAAAAg"
"""Of another topic t, that is made when the first is deleted."""
BORN: Final = {"type": "classic", "ge": 0, "ms": {}}
"""A classic group without a generation."""


def line(offset: int, op: str, **more: Any) -> dict[str, Any]:
    place = {"t": 1_000 + offset, "p": 3, "b": offset, "e": offset}
    return place | {"op": op, "g": "g", "m": "a", "recs": []} | more


def classic_generation(
    number: int, *names: str, proto: str = "range", **more: Any
) -> dict[str, Any]:
    """In which each member has a partition of its own. more: of each member."""
    told = {"e": number, "st": "STABLE", "rt": 1, "classic": 1, **more}
    members = {name: {**told, "cl": name, "an": {"t": [place]}} for place, name in enumerate(names)}
    state = {"type": "classic", "ge": number, "proto": proto, "ptype": "consumer"}
    return {"recs": [f"K2 generation {number}"], "s": {"g": {**state, "ms": members}}}


def answer(came: int, at: int, api: str, kind: str, **more: Any) -> dict[str, Any]:
    """One answered request of member a, by the clock of broker 1, which is right."""
    times = {"t": 1_000 + at, "bt": 1_000 + at, "rt": 1_000 + came}
    request = {"g": "g", "op": kind, "api": api, "br": 1, "m": "a", "gm": "a", "at": at, "ms": 0.0}
    return times | request | more


def history_of(
    folder: Path,
    *operations: dict[str, Any],
    timeline: Sequence[dict[str, Any]] = (),
    answers: Sequence[dict[str, Any]] = (),
) -> History:
    (home := folder / "truth").mkdir()
    files = {"operations": operations, "timeline": timeline, "reading": (), "answers": answers}
    for name, told in files.items():
        with gzip.open(home / f"{name}.jsonl.gz", "wt") as text:
            text.writelines(json.dumps(each) + "\n" for each in told)
    (home / "topic_names.json").write_text(json.dumps({ID: "t", AGAIN: "t"}))
    said = {"brokers": 1, "broker_config": {}, "simulated": {"clocks_ms": {"1": 0}}}
    (folder / "recording.json").write_text(json.dumps(said))
    return History(read_truth(folder))
