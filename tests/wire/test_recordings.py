"""Logs of real brokers: segments and dumps say the same, everything decodes, and nothing is
damaged.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from groupreplay.records.entries import Record
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.segments.units import Unit, UnitFile
from tests.wire.reading import Row, counts, of_kind, open_path, recorded_units, recordings, rows_of

RECORDINGS = recordings()


def read_all(
    partition: int, files: tuple[UnitFile, ...], start: int = -1, end: int = -1
) -> list[Row]:
    return rows_of(Unit(partition, start, end, files, "source", "input"), open_path)


def places(rows: list[Row]) -> list[tuple[Any, ...]]:
    """All that does not depend on whether the record came as bytes or as text."""
    names = (
        "kind",
        "offset",
        "ts_ms",
        "leader_epoch",
        "batch_base_offset",
        "last_hole",
        "group_id",
        "producer_id",
        "detail",
    )
    return [tuple(row[name] for name in names) for row in rows]


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if is_dataclass(value):
        return [text for one in fields(value) for text in texts(getattr(value, one.name))]
    if isinstance(value, dict):
        return [text for one in value.items() for text in texts(one)]
    return [text for one in value for text in texts(one)] if isinstance(value, tuple | list) else []


def test_there_are_recordings() -> None:
    assert RECORDINGS


@pytest.mark.long
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
def test_segments_and_dump_say_the_same(recording: Path) -> None:
    """Also merged with each other: every record is then met twice, and read once."""
    for partition, (segments, dumps) in recorded_units(recording).items():
        if not dumps:
            continue
        from_segments, from_dumps = read_all(partition, segments), read_all(partition, dumps)
        assert places(from_segments) == places(from_dumps)
        assert {row["kind"] for row in from_segments} <= {"record", "marker", "open_commit", "unit"}
        for by_bytes, by_text in zip(from_segments, from_dumps, strict=True):
            if by_bytes["kind"] == "record":
                record = decode(by_bytes["key"], by_bytes["value"])
                assert isinstance(record, Record), (partition, by_bytes["offset"], record)
                assert record == decode_json(by_text["key"], by_text["value"]), (
                    partition,
                    by_bytes["offset"],
                )
                assert record.group_id == by_bytes["group_id"]
                assert all(text.encode().decode() == text for text in texts(record))
        both = read_all(partition, dumps + segments)
        assert places(both)[:-1] == places(from_segments)[:-1]
        assert {row["encoding"] for row in of_kind(both, "record")} <= {"binary"}
        unit, alone = counts(both), counts(from_segments)
        assert unit["duplicates"] == 2 * alone["duplicates"] + alone["records"] + alone["control"]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
def test_replicas_add_nothing_but_duplicates(recording: Path) -> None:
    for partition, (segments, _) in recorded_units(recording).items():
        together = read_all(partition, segments)
        for replica in {file.replica for file in segments}:
            alone = read_all(partition, tuple(file for file in segments if file.replica == replica))
            assert places(alone)[:-1] == places(together)[:-1]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
def test_holes_are_what_compaction_took(recording: Path) -> None:
    for partition, (segments, _) in recorded_units(recording).items():
        unit = counts(read_all(partition, segments))
        seen = unit["records"] + unit["control"]
        assert unit["holes"] == unit["next_offset"] - unit["first_offset"] - seen
        if not recording.name.startswith("compacted"):
            assert (unit["first_offset"], unit["holes"], unit["last_hole"]) == (0, 0, -1)
        else:
            assert 0 < unit["last_hole"] < unit["next_offset"]
