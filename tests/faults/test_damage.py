"""A warehouse that is damaged, a disk that is full, a clock that went back: one sentence, and
nothing lost.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groupreplay.errors import WarehouseDamaged
from groupreplay.tables import runs
from groupreplay.tables.delta.damage import damaged_table
from tests.end_to_end.logs import copy_log, half
from tests.faults.nights import Nights, assert_same, contents, run_rows
from tests.faults.told import FIRST, RECORDING, SECOND, Told

HOUR_MS = 3_600_000
DISK_BYTES = 24 << 20


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("damage", ["last log entry cut", "data file lost"])
def test_a_damaged_table_is_named_with_the_remedy(told: Told, damage: str) -> None:
    nights = told.copy(damage.replace(" ", "-"))
    table = nights.warehouse / "group_state"
    is_log = damage == "last log entry cut"
    broken = (
        max((table / "_delta_log").glob("*.json")) if is_log else next(table.rglob("*.parquet"))
    )
    content = broken.read_bytes()
    if is_log:
        _cut(broken)
        broken.with_name(f".{broken.name}.crc").unlink(missing_ok=True)
        broken.with_suffix(".crc").unlink(missing_ok=True)
    else:
        broken.unlink()
    with pytest.raises(Exception) as caught:
        told.run_here(nights, SECOND)
    found = (
        caught.value if isinstance(caught.value, WarehouseDamaged) else damaged_table(caught.value)
    )
    assert found is not None, caught.value
    assert (found.table, found.exit_code) == ("group_state", 5)
    assert f"restore {table} from a copy" in str(found)
    broken.write_bytes(content)
    told.forget()


@pytest.mark.soak
def test_a_clock_that_went_back_makes_no_run_look_older_than_it_is(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first night runs again after the log has grown and the clock was set back an hour: what
    it landed is known to the second night.
    """
    nights = told.copy("clock")
    now = runs._now
    monkeypatch.setattr(runs, "_now", lambda: now() - HOUR_MS)
    told.run_here(nights, FIRST)
    told.run_here(nights, SECOND)
    rows = run_rows(nights.warehouse)
    assert [row["state"] for row in rows] == ["DONE", "DONE", "DONE"]
    newest = max(rows, key=lambda row: (row["logical_date"], row["started_at"]))
    assert dict(newest["digest"]) == dict(
        max(run_rows(told.undisturbed.warehouse), key=lambda row: row["logical_date"])["digest"]
    )
    raw = contents(nights.warehouse)["raw_records"]
    records = [dict(row) for row in raw.elements() if dict(row)["kind"] == "'record'"]
    assert len({(row["offsets_partition"], row["offset"], row["key"]) for row in records}) == len(
        records
    )


@contextmanager
def _small_disk(place: Path) -> Iterator[None]:
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"a file system of a few MB cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.soak
def test_a_full_disk_is_told_in_a_sentence_and_loses_nothing(
    told_whole: Told, tmp_path: Path
) -> None:
    with _small_disk(tmp_path / "disk"):
        nights = Nights(tmp_path, tmp_path / "disk" / "warehouse").configure(
            ("segments", copy_log(RECORDING, tmp_path / "logs", half))
        )
        assert nights.run("--logical-date", str(FIRST)).status == 0
        copy_log(RECORDING, tmp_path / "logs")
        free = os.statvfs(tmp_path / "disk")
        filler = tmp_path / "disk" / "filler"
        filler.write_bytes(bytes(free.f_bavail * free.f_frsize - (96 << 10)))
        ended = nights.run("--logical-date", str(SECOND))
        assert ended.status == 1
        assert ended.sentence.startswith("no space is left for"), ended.output[-2000:]
        assert "Traceback" not in ended.output
        filler.unlink()
        again = nights.run("--logical-date", str(SECOND), "--take-over")
        assert again.status == 0, again.output[-2000:]
        assert_same(contents(nights.warehouse), told_whole.expected)
