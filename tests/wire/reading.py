"""Reads units from files that are bytes in memory, and turns the columns back to rows."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from groupreplay.wire.segments.raw_rows import COLUMNS
from groupreplay.wire.segments.read_late_unit import read_late_unit
from groupreplay.wire.segments.read_unit import read_unit
from groupreplay.wire.segments.units import DUMP_LOG, SEGMENTS, Unit, UnitFile
from groupreplay.workers.codecs import Codecs

CODECS = Codecs()
Row = dict[str, Any]

FACTS = (
    "kind",
    "offset",
    "ts_ms",
    "leader_epoch",
    "batch_base_offset",
    "group_id",
    "key",
    "value",
    "producer_id",
)
"""What replay can see of a row but for holes."""


def read(
    files: Mapping[str, bytes],
    *,
    partition: int = 0,
    start: int = -1,
    end: int = -1,
    sizes: Mapping[str, int] | None = None,
    vanished: tuple[str, ...] = (),
) -> list[Row]:
    """Rows of a unit over files in memory. A name that begins with `dump` is text.

    sizes: planned, where they differ from the content.
    """

    def open_file(path: str) -> BinaryIO:
        if path in vanished:
            raise FileNotFoundError(path)
        return io.BytesIO(files[path])

    planned = tuple(
        UnitFile(
            DUMP_LOG if name.startswith("dump") else SEGMENTS,
            name,
            (sizes or {}).get(name, len(content)),
            name,
        )
        for name, content in files.items()
    )
    return rows_of(
        Unit(partition, start, end, planned, "segments", f"__consumer_offsets-{partition}"),
        open_file,
    )


def rows_of(unit: Unit, open_file: Any) -> list[Row]:
    rows: list[Row] = []
    for columns in (read_late_unit if unit.holes else read_unit)(unit, open_file, CODECS):
        assert tuple(columns) == COLUMNS
        rows.extend(
            dict(zip(COLUMNS, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        )
    for row in rows:
        row["detail"] = None if row["detail"] is None else json.loads(row["detail"])
    return rows


def of_kind(rows: list[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind]


def counts(rows: list[Row]) -> dict[str, int]:
    """The unit row, after checking that it adds up."""
    (unit,) = of_kind(rows, "unit")
    assert rows[-1] is unit
    found: dict[str, int] = unit["detail"]
    parts = ("kept", "reduced", "aborted", "open_commits", "unusable")
    assert found["records"] == sum(found[part] for part in parts), found
    assert found["kept"] == len(of_kind(rows, "record"))
    return found


def offsets(rows: list[Row], kind: str = "record") -> list[int]:
    return [row["offset"] for row in of_kind(rows, kind)]


def reasons(rows: list[Row]) -> list[str]:
    return [row["detail"]["reason"] for row in of_kind(rows, "damage")]


# ---------------------------------------------------------------- recordings of real brokers

_ROOTS = (
    Path(__file__).parents[1] / "recordings",
    Path(__file__).parents[3] / "shared" / "recordings",
)


def recordings() -> list[Path]:
    """Every recording that is here: those of the repository, and those beside it where there are
    more.
    """
    found = {
        path.name: path
        for root in reversed(_ROOTS)
        if root.is_dir()
        for path in sorted(root.iterdir())
        if (path / "segments").is_dir()
    }
    return [found[name] for name in sorted(found)]


def recorded_units(recording: Path) -> dict[int, tuple[tuple[UnitFile, ...], tuple[UnitFile, ...]]]:
    """Partition -> files of its segments, files of its dumps."""
    files: dict[int, tuple[list[UnitFile], list[UnitFile]]] = defaultdict(lambda: ([], []))
    for path in sorted(recording.glob("segments/*/*/*.log")):
        partition = int(path.parent.name.rsplit("-", 1)[1])
        files[partition][0].append(
            UnitFile(SEGMENTS, str(path), os.path.getsize(path), path.parts[-3])
        )
    for path in sorted(recording.glob("dump/*/*.txt.gz")):
        partition = int(path.name.split(".")[0].rsplit("-", 1)[1])
        files[partition][1].append(
            UnitFile(DUMP_LOG, str(path), os.path.getsize(path), path.parts[-2])
        )
    return {
        partition: (tuple(segments), tuple(dumps))
        for partition, (segments, dumps) in sorted(files.items())
    }


def open_path(path: str) -> BinaryIO:
    return open(path, "rb")


def packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
