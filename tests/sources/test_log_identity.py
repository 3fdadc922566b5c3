"""A log is known again by its first batch: grown, compacted, cut or copied it is the same, of a
topic that was created anew it is another.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from groupreplay.night.plans.plan import in_words
from groupreplay.sources.found_files import FoundFile
from groupreplay.sources.log_files import LogFile
from groupreplay.sources.log_identity import CLOCKS_MS, marks_of, other_logs
from groupreplay.sources.planning import plan_units
from groupreplay.sources.segments import segments
from groupreplay.sources.watermark import PartitionWatermark
from tests.wire.encode import batch, epoch

TS = 1_795_240_000_000
HOUR = 3_600_000


def put(root: Path, base: int, ts: int, records: int = 10, **more: Any) -> bytes:
    path = root / "__consumer_offsets-7" / f"{base:020d}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        batch(base, [epoch("g", base + each) for each in range(records)], ts=ts, **more)
    )
    return path.read_bytes()


def files_of(root: Path) -> list[LogFile]:
    found = [FoundFile(str(path), path.stat().st_size) for path in sorted(root.rglob("*.log"))]
    return [file for each in segments(found) for file in each]


def landed_of(root: Path, next_offset: int, newest_ms: int) -> PartitionWatermark:
    mark = marks_of(plan_units(files_of(root), {}))[7]
    return PartitionWatermark(next_offset, newest_ms=newest_ms, mark=mark)


def found(root: Path, landed: PartitionWatermark) -> str:
    other = other_logs(files_of(root), {7: landed}).get(7)
    return in_words(other.found) if other else ""


def test_a_log_that_goes_on_is_the_same(tmp_path: Path) -> None:
    content = put(tmp_path / "a", 0, TS)
    landed = landed_of(tmp_path / "a", 10, TS)
    (tmp_path / "a/__consumer_offsets-7/00000000000000000000.log").write_bytes(
        content + batch(10, [epoch("g")], ts=TS + HOUR)
    )
    assert found(tmp_path / "a", landed) == ""
    put(tmp_path / "a", 11, TS + 2 * HOUR)
    assert found(tmp_path / "a", landed) == ""


def test_an_older_copy_or_one_that_retention_or_compaction_made_shorter_is_the_same(
    tmp_path: Path,
) -> None:
    put(tmp_path / "old", 0, TS)
    put(tmp_path / "new", 0, TS)
    put(tmp_path / "new", 10, TS + HOUR)
    landed = landed_of(tmp_path / "new", 20, TS + HOUR)
    assert found(tmp_path / "old", landed) == "", "a copy from before the newest segment"
    (tmp_path / "new/__consumer_offsets-7/00000000000000000000.log").unlink()
    assert found(tmp_path / "new", landed) == ""
    put(tmp_path / "new", 10, TS + HOUR - 5, records=3, last_delta=9)
    assert found(tmp_path / "new", landed) == "", "compaction took its newest records"
    put(tmp_path / "later", 50, TS + 9 * HOUR)
    assert found(tmp_path / "later", landed) == "", (
        "all that was read is gone, and what there is is above it"
    )


def test_a_log_of_a_topic_that_was_created_anew_is_another(tmp_path: Path) -> None:
    put(tmp_path / "old", 0, TS, leader_epoch=5)
    put(tmp_path / "old", 10, TS + HOUR, leader_epoch=5)
    landed = landed_of(tmp_path / "old", 20, TS + HOUR)
    put(tmp_path / "new", 0, TS + 2 * HOUR)
    assert (
        found(tmp_path / "new", landed)
        == f"the batch at offset 0 is of time {TS + 2 * HOUR} ms, and the log was read up to offset"
        f" 20, time {TS + HOUR} ms"
    )
    put(tmp_path / "new", 10, TS + 3 * HOUR, leader_epoch=0)
    assert (
        found(tmp_path / "new", landed)
        == "the batch at offset 10 is of leader epoch 0, and was of 5"
    )
    put(tmp_path / "new", 10, TS + HOUR + 1, leader_epoch=5)
    assert (
        found(tmp_path / "new", landed)
        == f"the batch at offset 10 is of time {TS + HOUR + 1} ms, and was of {TS + HOUR} ms"
    )
    both = other_logs([*files_of(tmp_path / "old"), *files_of(tmp_path / "new")], {7: landed})
    assert both[7].replicas == {str(tmp_path / "new")}, (
        "the copy of the old log is not read with the new one"
    )


def test_clocks_of_two_leaders_may_differ(tmp_path: Path) -> None:
    put(tmp_path, 0, TS + CLOCKS_MS)
    landed = PartitionWatermark(20, newest_ms=TS)
    assert found(tmp_path, landed) == ""
    assert found(tmp_path, replace(landed, newest_ms=TS - 1)) != ""


def test_what_begins_with_no_batch_is_told_by_those_who_read_it(tmp_path: Path) -> None:
    put(tmp_path, 0, TS)
    landed = landed_of(tmp_path, 10, TS)
    assert landed.mark is not None
    assert landed.mark.base_offset == 0
    for content in (b"", b"no log at all " * 10):
        (tmp_path / "__consumer_offsets-7/00000000000000000000.log").write_bytes(content)
        assert found(tmp_path, landed) == ""
        assert marks_of(plan_units(files_of(tmp_path), {})) == {}
