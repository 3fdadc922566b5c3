"""What the sources hold, and what nights carry on from one to the next."""

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupreplay.config.model import Config, Source
from groupreplay.errors import SourceUnreadable
from groupreplay.night.plan import Landing, PartitionLanded, Plan, find_inputs, landed, remembered
from groupreplay.sources.planning import plan_units

RECORDING = Path(__file__).parent.parent / "recordings" / "consumer-4.3"


def config(*sources: tuple[str, Path | str]) -> Config:
    return Config(
        cluster="c",
        warehouse="/none",
        sources=tuple(Source(kind=kind, path=str(path)) for kind, path in sources),
    )


def test_recording_is_found_whole() -> None:
    inputs = find_inputs(
        config(
            ("segments", RECORDING),
            ("dump_log", RECORDING / "dump"),
            ("topics", RECORDING / "topics.json"),
        )
    )
    segments = {file.offsets_partition for file in inputs.files if file.kind == "segments"}
    assert len(segments) == 14
    assert {file.offsets_partition for file in inputs.files if file.kind == "dump_log"} == segments
    assert inputs.passed_over == sum(path.is_file() for path in RECORDING.rglob("*")) - 14
    assert "crash" in {topic.topic for topic in inputs.topics}


def test_source_given_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(RECORDING / "segments")
    once = find_inputs(config(("segments", RECORDING / "segments")))
    again = find_inputs(
        config(
            ("segments", RECORDING / "segments"),
            ("segments", f"{RECORDING}/segments/*/*"),
            ("segments", tmp_path / "link"),
        )
    )
    assert again.files == once.files


@pytest.mark.parametrize(
    ("kind", "path", "why"),
    [
        ("segments", "{tmp}/nothing", "no such file"),
        ("segments", "{tmp}/*.log", "no file matches"),
        (
            "segments",
            "{tmp}",
            (
                "none of its 1 files is what it is said to be: expected __consumer_offsets-P/<20"
                " digits>.log"
            ),
        ),
        ("dump_log", "{tmp}/topics.json", "expected __consumer_offsets-P in the file's name"),
        ("topics", "{tmp}/topics.json", "expected a list of topics"),
    ],
)
def test_source_that_gives_nothing_is_named_with_its_reason(
    tmp_path: Path, kind: str, path: str, why: str
) -> None:
    (tmp_path / "topics.json").write_text("{}")
    with pytest.raises(SourceUnreadable) as caught:
        find_inputs(config((kind, path.format(tmp=tmp_path))))
    assert caught.value.source == f"{kind} {path.format(tmp=tmp_path)}"
    assert why in str(caught.value)


def test_nameless_dump_and_packed_segment_are_found(tmp_path: Path) -> None:
    dump = sorted((RECORDING / "dump").rglob("*.gz"))[0]
    (tmp_path / "support.txt").write_bytes(gzip.decompress(dump.read_bytes()))
    segment = sorted((RECORDING / "segments").rglob("*.log"))[0]
    packed = tmp_path / "logs" / segment.parent.name / (segment.name + ".gz")
    packed.parent.mkdir(parents=True)
    packed.write_bytes(gzip.compress(segment.read_bytes()))
    shutil.copy(segment, packed.with_suffix(".index"))
    inputs = find_inputs(
        config(("segments", tmp_path / "logs"), ("dump_log", tmp_path / "support.txt"))
    )
    assert sorted(file.kind for file in inputs.files) == ["dump_log", "segments"]
    assert inputs.passed_over == 1


def detail(first: int, following: int, **given: Any) -> dict[str, Any]:
    return {
        "first_offset": first,
        "next_offset": following,
        "last_ts_ms": -1,
        "last_hole": -1,
        "kept": 0,
        "control": 0,
        "open_commits": 0,
        "missing": [],
    } | given


def test_nights_carry_on_how_far_they_read() -> None:
    units = plan_units(find_inputs(config(("segments", RECORDING / "segments"))).files, {})[:2]
    first, second = (unit.offsets_partition for unit in units)
    details = [
        (first, detail(0, 100, last_ts_ms=5000, last_hole=40, kept=80, open_commits=3)),
        (second, detail(0, 50, last_ts_ms=7000, kept=10, control=2)),
    ]
    one = landed(Landing(), units, details, damaged={second})
    assert (one.as_of_ms, one.open_commits, one.rows, one.markers, one.holes) == (
        7000,
        3,
        90,
        2,
        ((first, 40),),
    )
    assert one.partitions[first].next_offset == 100
    assert one.partitions[first].last_hole == 40
    assert one.partitions[first].files
    assert one.partitions[second].files == "", "damage may have passed by the next night"
    assert landed(Landing(), units, reversed(details), {second}) == one

    two = landed(
        one.next_night(), units, [(first, detail(100, 130, last_ts_ms=6000, kept=1))], set()
    )
    assert (two.as_of_ms, two.open_commits, two.rows, two.markers, two.holes) == (7000, 3, 1, 0, ())
    assert two.partitions[first].next_offset == 130
    assert two.partitions[first].last_hole == 40
    assert two.partitions[second] == one.partitions[second]

    more = landed(two, units, [(first, detail(130, 140, kept=2, last_hole=135))], set())
    assert (more.rows, more.holes) == (3, ((first, 135),)), "the same night goes on"


def test_log_that_was_empty_has_no_watermark_yet() -> None:
    unit, *_ = plan_units(find_inputs(config(("segments", RECORDING / "segments"))).files, {})
    assert (
        landed(Landing(), [unit], [(unit.offsets_partition, detail(0, 0))], set()).partitions == {}
    )


def test_what_was_missed_is_remembered_until_it_is_found() -> None:
    units = plan_units(find_inputs(config(("segments", RECORDING / "segments"))).files, {})[:1]
    partition = units[0].offsets_partition
    one = landed(Landing(), units, [(partition, detail(100, 130, missing=[[110, 112]]))], set())
    assert one.partitions[partition].missing == ((0, 100), (110, 112))
    seen = remembered(one, find_inputs(config(("segments", RECORDING / "segments"))).files, units)
    assert list(seen.partitions[partition].seen.values()) == [units[0].files[0].size]

    found = detail(0, 0, filled=[[0, 100]], missing=[[110, 112]], late=100, kept=0)
    two = landed(seen.next_night(), [], [(partition, found)], set())
    after = two.partitions[partition]
    assert (after.missing, after.filled, after.next_offset, after.files) == (
        ((110, 112),),
        ((0, 100),),
        130,
        seen.partitions[partition].files,
    )
    assert two.rows == 0


def test_a_log_that_took_another_s_place_begins_anew() -> None:
    unit, *_ = plan_units(find_inputs(config(("segments", RECORDING / "segments"))).files, {})
    partition = unit.offsets_partition
    one = landed(
        Landing(),
        [unit],
        [(partition, detail(0, 100, last_ts_ms=5000, last_hole=40, missing=[[30, 41]]))],
        set(),
    ).next_night()
    two = landed(
        one, [replace(unit, log_incarnation=1)], [(partition, detail(0, 7, last_ts_ms=9000))], set()
    )
    after = two.partitions[partition]
    assert (
        after.next_offset,
        after.last_hole,
        after.missing,
        after.newest_ms,
        after.log_incarnation,
    ) == (7, -1, (), 9000, 1)
    three = landed(two.next_night(), [unit], [(partition, detail(7, 9, last_ts_ms=9500))], set())
    assert (
        three.partitions[partition].next_offset,
        three.partitions[partition].log_incarnation,
    ) == (9, 1)


def test_plan_survives_json() -> None:
    units = plan_units(find_inputs(config(("segments", RECORDING / "segments"))).files, {})
    landing = Landing(
        5,
        {
            3: PartitionLanded(
                10, 7, "ab", ((0, 3), (5, 7)), {"key": 9}, ((3, 5),), 6, ("s", 1, 2, 3, 4), 2
            ),
            4: PartitionLanded(0, -1, ""),
        },
        1,
        2,
        3,
        ((3, 7), (3, 9)),
    )
    plan = Plan(tuple(units), 4, (("/x\n", "why"),), landing)
    assert Plan.from_json(plan.to_json()) == plan
    assert Plan.from_json(Plan(()).to_json()) == Plan(())
    assert json.loads(plan.to_json())["landing"]["partitions"]["3"]["next_offset"] == 10
