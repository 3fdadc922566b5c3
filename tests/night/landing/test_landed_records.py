"""What nights carry on of the offsets topic, from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from groupreplay.config.model import Config
from groupreplay.config.sources import Source
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.night.landing.landed_records import after_units, with_files_known
from groupreplay.night.plans.inputs import find_inputs
from groupreplay.sources.log_files import LogFile
from groupreplay.sources.planning import plan_units

SEGMENTS = Path(__file__).parents[2] / "recordings" / "consumer-4.3" / "segments"


def log_files() -> Sequence[LogFile]:
    source = Source(kind="segments", path=str(SEGMENTS))
    return find_inputs(Config(cluster="c", warehouse="/none", sources=(source,))).files


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
    units = plan_units(log_files(), {})[:2]
    first, second = (unit.offsets_partition for unit in units)
    details = [
        (first, detail(0, 100, last_ts_ms=5000, last_hole=40, kept=80, open_commits=3)),
        (second, detail(0, 50, last_ts_ms=7000, kept=10, control=2)),
    ]
    one = after_units(RecordsLanding(), units, details, damaged={second})
    assert (one.as_of_ms, one.open_commits, one.rows, one.markers, one.holes) == (
        7000,
        3,
        90,
        2,
        ((first, 40),),
    )
    assert one.watermarks[first].next_position == 100
    assert one.watermarks[first].last_hole == 40
    assert one.watermarks[first].files
    assert one.watermarks[second].files == "", "damage may have passed by the next night"
    assert after_units(RecordsLanding(), units, reversed(details), {second}) == one

    two = after_units(
        one.next_night(), units, [(first, detail(100, 130, last_ts_ms=6000, kept=1))], set()
    )
    assert (two.as_of_ms, two.open_commits, two.rows, two.markers, two.holes) == (7000, 3, 1, 0, ())
    assert two.watermarks[first].next_position == 130
    assert two.watermarks[first].last_hole == 40
    assert two.watermarks[second] == one.watermarks[second]

    more = after_units(two, units, [(first, detail(130, 140, kept=2, last_hole=135))], set())
    assert (more.rows, more.holes) == (3, ((first, 135),)), "the same night goes on"


def test_log_that_was_empty_has_no_watermark_yet() -> None:
    unit, *_ = plan_units(log_files(), {})
    assert (
        after_units(
            RecordsLanding(), [unit], [(unit.offsets_partition, detail(0, 0))], set()
        ).watermarks
        == {}
    )


def test_what_was_missed_is_remembered_until_it_is_found() -> None:
    units = plan_units(log_files(), {})[:1]
    partition = units[0].offsets_partition
    one = after_units(
        RecordsLanding(), units, [(partition, detail(100, 130, missing=[[110, 112]]))], set()
    )
    assert one.watermarks[partition].missing == ((0, 100), (110, 112))
    seen = with_files_known(one, log_files(), units)
    assert list(seen.watermarks[partition].seen.values()) == [units[0].files[0].size]

    found = detail(0, 0, filled=[[0, 100]], filled_ms=[9], missing=[[110, 112]], late=100, kept=0)
    two = after_units(seen.next_night(), [], [(partition, found)], set())
    after = two.watermarks[partition]
    assert (after.missing, after.filled, after.next_position, after.files) == (
        ((110, 112),),
        ((0, 100),),
        130,
        seen.watermarks[partition].files,
    )
    assert (two.rows, after.filled_ms) == (0, {0: 9})


def test_a_log_that_took_another_s_place_begins_anew() -> None:
    unit, *_ = plan_units(log_files(), {})
    partition = unit.offsets_partition
    one = after_units(
        RecordsLanding(),
        [unit],
        [(partition, detail(0, 100, last_ts_ms=5000, last_hole=40, missing=[[30, 41]]))],
        set(),
    ).next_night()
    two = after_units(
        one, [replace(unit, log_incarnation=1)], [(partition, detail(0, 7, last_ts_ms=9000))], set()
    )
    after = two.watermarks[partition]
    assert (
        after.next_position,
        after.last_hole,
        after.missing,
        after.newest_ms,
        after.log_incarnation,
    ) == (7, -1, (), 9000, 1)
    three = after_units(
        two.next_night(), [unit], [(partition, detail(7, 9, last_ts_ms=9500))], set()
    )
    assert (
        three.watermarks[partition].next_position,
        three.watermarks[partition].log_incarnation,
    ) == (9, 1)
