"""Holes that were filled later, as a rebuild sees them."""

from __future__ import annotations

from groupreplay.night.frames.late import (
    as_of_with_late,
    has_late,
    landing_with_holes_filled,
)
from groupreplay.night.frames.replay import Hole, known_holes
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.sources.watermark import PartitionWatermark
from groupreplay.wire.segments.holes import MISSING_MAX


def test_a_hole_that_was_filled_gives_way_to_the_one_below() -> None:
    newest = RecordsLanding(
        watermarks={
            1: PartitionWatermark(
                900, last_hole=299, missing=((0, 10), (50, 60)), filled=((100, 200), (250, 300))
            ),
            2: PartitionWatermark(
                900, last_hole=79, missing=((0, 40), (70, 80)), filled=((40, 50),)
            ),
            3: PartitionWatermark(900, last_hole=19, missing=((10, 20),)),
        }
    )
    then = RecordsLanding(
        watermarks={
            1: PartitionWatermark(400, last_hole=299),
            2: PartitionWatermark(400, last_hole=79),
            3: PartitionWatermark(400, last_hole=19),
        },
        holes=((1, 199), (1, 299), (2, 79), (3, 19)),
    )
    seen = landing_with_holes_filled(then, newest)
    assert {partition: each.last_hole for partition, each in seen.watermarks.items()} == {
        1: 59,
        2: 79,
        3: 19,
    }
    assert seen.holes == ((1, 59), (2, 79), (3, 19))
    assert has_late(newest)
    assert not has_late(then)


def test_where_the_log_begins_is_no_hole() -> None:
    newest = RecordsLanding(
        watermarks={
            1: PartitionWatermark(900, last_hole=99, missing=((0, 50),), filled=((50, 100),))
        }
    )
    then = RecordsLanding(watermarks={1: PartitionWatermark(900, last_hole=99)}, holes=((1, 99),))
    seen = landing_with_holes_filled(then, newest)
    assert (seen.watermarks[1].last_hole, seen.holes) == (-1, ())


def test_what_came_late_lies_above_the_holes_below_it() -> None:
    """A unit names its last hole alone, and a late unit none but those inside it."""
    newest = RecordsLanding(
        watermarks={
            1: PartitionWatermark(
                900, last_hole=399, missing=((0, 5), (50, 60), (300, 400)), filled=((100, 200),)
            )
        }
    )
    then = RecordsLanding(watermarks={1: PartitionWatermark(500, last_hole=399)}, holes=((1, 399),))
    seen = landing_with_holes_filled(then, newest)
    assert known_holes(RecordsLanding(), seen) == [Hole(1, 60, 400, 59), Hole(1, 400, None, 399)]


def test_holes_above_where_a_night_had_read_to_are_not_its_own() -> None:
    newest = RecordsLanding(
        watermarks={
            1: PartitionWatermark(900, last_hole=399, missing=((300, 400),), filled=((100, 200),))
        }
    )
    then = RecordsLanding(watermarks={1: PartitionWatermark(250, last_hole=199)}, holes=((1, 199),))
    assert landing_with_holes_filled(then, newest).holes == ()


def test_holes_of_another_log_are_not_its_own() -> None:
    newest = RecordsLanding(
        watermarks={
            1: PartitionWatermark(
                900, last_hole=59, missing=((50, 60),), filled=((100, 200),), log_incarnation=1
            )
        }
    )
    then = RecordsLanding(watermarks={1: PartitionWatermark(500, last_hole=199)}, holes=((1, 199),))
    assert landing_with_holes_filled(then, newest) == then


def test_where_holes_were_forgotten_one_may_lie_beside_what_came_late() -> None:
    """The widest alone are remembered, as of a log that was compacted."""
    missing = tuple((each, each + 5) for each in range(10, 10 * MISSING_MAX, 10))
    assert len(missing) == MISSING_MAX - 1, "and the one that was filled"
    newest = RecordsLanding(
        watermarks={1: PartitionWatermark(3_000, missing=missing, filled=((1_000, 2_000),))}
    )
    then = RecordsLanding(
        watermarks={1: PartitionWatermark(2_500, last_hole=1_999)}, holes=((1, 1_999),)
    )
    seen = landing_with_holes_filled(then, newest)
    assert seen.watermarks[1].last_hole == 1_999
    assert seen.holes[-2:] == ((1, 999), (1, 1_999))


def test_a_night_is_as_new_as_what_came_late_of_its_stretch_of_the_log() -> None:
    """The clock of the leader that wrote it may be ahead of all others."""
    newest = RecordsLanding(
        watermarks={
            1: PartitionWatermark(
                900, filled=((100, 200), (500, 600)), filled_ms={100: 70, 500: 90}
            ),
            2: PartitionWatermark(900, filled=((0, 10),), filled_ms={0: 99}, log_incarnation=1),
            3: PartitionWatermark(900, filled=((0, 10),)),
        },
        as_of_ms=95,
    )

    def then(next_position: int, as_of_ms: int) -> RecordsLanding:
        read = PartitionWatermark(next_position)
        return RecordsLanding(watermarks={1: read, 2: read, 3: read}, as_of_ms=as_of_ms)

    assert as_of_with_late(then(300, 60), newest) == 70
    assert as_of_with_late(then(300, 80), newest) == 80
    assert as_of_with_late(then(700, 80), newest) == 90
    assert as_of_with_late(newest, newest) == 99
