"""Replay of the lines of one slice: subject by subject, line by line, on from the state before."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import Any

import pandas as pd
import pytest

from groupreplay.evidence.evidence_replay import EvidenceReplay
from groupreplay.evidence.memory import FORGET_MS
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG, LogEvent
from groupreplay.workers.evidence_slices import INPUT, EvidenceSlice, evidence_slice_replay

Row = tuple[Any, ...]
LEFT: dict[str, Any] = {"member_id": "m", "detail": "LEFT"}


def line(
    subject: str,
    at: int,
    event: str = "MEMBER_FENCED",
    position: int = 0,
    source: str = SERVER_LOG,
    **more: Any,
) -> Row:
    group_id = subject[1:] if subject.startswith("g") else None
    told = LogEvent(event=event, at_ms=at, group_id=group_id, **more)
    fields = {name: value for name, value in dataclasses.asdict(told).items() if value is not None}
    place = (subject, at, 1, source, "a", position, at, 1, 0)
    return (*place, json.dumps(fields), None)


def heartbeat(subject: str, at: int) -> Row:
    answer: dict[str, Any] = {
        "epoch": 3,
        "response_epoch": 3,
        "error_code": 0,
        "protocol": "consumer",
    }
    event = "CONSUMER_GROUP_HEARTBEAT"
    return line(subject, at, event, source=REQUEST_LOG, member_id="m", started_ms=at, **answer)


def state(subject: str, data: bytes) -> Row:
    return (subject, *[None] * 9, data)


def shard(partition: int, at: int) -> Row:
    return line(f"p{partition}", at, "SHARD_LOADED", offsets_partition=partition)


def facts(rows: Iterable[Row], newest_ms: int = 9_000) -> list[dict[str, Any]]:
    frame = pd.DataFrame(list(rows), columns=list(INPUT), dtype=object)
    found: list[dict[str, Any]] = []
    for each in evidence_slice_replay(newest_ms)(iter([frame])):
        found += each.to_dict("records")  # type: ignore[arg-type]
    return found


def of_kind(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [each for each in found if each["kind"] == kind]


def told(fact: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        str(fact[name]) for name in ("kind", "group_id", "member_id", "left_at") if name in fact
    )


def test_each_group_has_a_machine_of_its_own() -> None:
    found = facts([heartbeat("ga", 1_000), heartbeat("gb", 2_000)])
    assert [each["group_id"] for each in of_kind(found, "contact")] == ["a", "b"]
    assert [each["subject"] for each in of_kind(found, "state")] == ["ga", "gb"]


def test_lines_that_name_no_group_are_of_a_partition() -> None:
    found = facts([shard(7, 1_000), shard(8, 1_000)])
    assert [each["offsets_partition"] for each in of_kind(found, "shard_event")] == [7, 8]
    assert [each["group_id"] for each in of_kind(found, "shard_event")] == ["", ""]


def test_a_state_goes_on_and_is_told_only_where_it_changed() -> None:
    (first,) = of_kind(facts([shard(7, 1_000)]), "state")
    again = facts([state("p7", first["state_bytes"]), shard(7, 2_000)])
    assert [each["moved_from"] for each in of_kind(again, "shard_event")] == [None]
    replay = EvidenceReplay.restore("", first["state_bytes"])
    assert replay.state() == first["state_bytes"]
    unchanged = facts([state("p7", first["state_bytes"])])
    assert of_kind(unchanged, "state") == []


def test_a_state_of_which_nothing_is_kept_ends() -> None:
    (first,) = of_kind(facts([heartbeat("ga", 1_000)]), "state")
    later = facts([state("ga", first["state_bytes"])], newest_ms=1_000 + 2 * FORGET_MS)
    assert [each["state_bytes"] for each in of_kind(later, "state")] == [None]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([line("ga", 2_000, **LEFT), line("ga", 1_000, **LEFT)], "lines of 'ga' are out of order"),
        ([line("ga", 1_000, position=9), line("ga", 1_000, position=3)], "lines of 'ga'"),
        ([line("gb", 1_000), line("ga", 1_000)], "subjects are out of order: 'ga' after 'gb'"),
    ],
)
def test_rows_in_another_order_are_an_error_of_the_night(rows: list[Row], says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        facts(rows)


def test_batches_may_cut_a_group() -> None:
    rows = [line("ga", 1_000, **LEFT), line("ga", 2_000, **LEFT), line("gb", 1_000, **LEFT)]
    replay, found = EvidenceSlice(9_000), list[dict[str, Any]]()
    for row in rows:
        frame = pd.DataFrame([row], columns=list(INPUT), dtype=object)
        for each in replay.feed(frame):
            found += each.to_dict("records")  # type: ignore[arg-type]
    for each in replay.finish():
        found += each.to_dict("records")  # type: ignore[arg-type]
    assert sorted(map(told, found)) == sorted(map(told, facts(rows)))
