"""The newest time of a log, from the ends of its files."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from groupreplay.limits import DAY_MS
from groupreplay.sources import clock
from groupreplay.sources.clock import newest_ms
from groupreplay.sources.dump_log import dumps
from groupreplay.sources.found_files import FoundFile
from groupreplay.sources.planning import plan_units
from groupreplay.sources.segments import segments

RECORDING = Path(__file__).parent.parent / "recordings" / "consumer-4.3"


def found(paths: list[Path]) -> list[FoundFile]:
    return [FoundFile(str(path), path.stat().st_size) for path in paths]


def newest_of(*logs: Path) -> int:
    files = [file for each in segments(found([*logs])) for file in each]
    return newest_ms(plan_units(files, {}))


def test_segments_and_dump_agree_on_the_newest_time() -> None:
    of_segments = newest_of(*sorted(RECORDING.rglob("*.log")))
    dumped = [
        file for each in dumps(found(sorted((RECORDING / "dump").rglob("*.gz")))) for file in each
    ]
    assert newest_ms(plan_units(dumped, {})) == of_segments
    assert datetime.fromtimestamp(of_segments / 1000, UTC).year == 2026


@pytest.mark.parametrize("tail_bytes", [300, 4096])
def test_only_the_end_of_a_file_is_read(monkeypatch: pytest.MonkeyPatch, tail_bytes: int) -> None:
    (log, *_) = sorted(RECORDING.rglob("*.log"))
    whole = newest_of(log)
    monkeypatch.setattr(clock, "TAILS_BYTES", (tail_bytes, 8192))
    assert newest_of(log) == whole


def test_packed_garbage_and_missing_files_are_passed_over(tmp_path: Path) -> None:
    (log, *_) = sorted(RECORDING.rglob("*.log"))
    folder = tmp_path / log.parent.name
    folder.mkdir()
    packed, garbage, gone = (
        folder / f"{base:020d}.log{suffix}" for base, suffix in ((0, ".gz"), (1, ""), (2, ""))
    )
    packed.write_bytes(gzip.compress(log.read_bytes()))
    garbage.write_bytes(b"garbage" * 10_000)
    gone.write_bytes(b"")
    assert newest_of(packed) == newest_of(log)
    assert newest_of(garbage) == -1
    files = [file for each in segments(found([gone])) for file in each]
    gone.unlink()
    assert newest_ms(plan_units(files, {})) == -1
    assert newest_ms([]) == -1


DAY = DAY_MS


@pytest.mark.parametrize(
    ("times", "newest"),
    [
        ([1, 2, 3], 3),
        ([1, 2 + 400 * DAY, 3], 3),
        ([1, 2, 3 + 2 * DAY], 3 + 2 * DAY),
        ([5], 5),
        ([1, 2 + 400 * DAY, 3 + 800 * DAY], 3 + 800 * DAY),
    ],
)
def test_a_broken_clock_names_no_night(times: list[int], newest: int) -> None:
    assert clock._newest(times) == newest
