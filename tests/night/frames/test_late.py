"""Holes that were filled later, as a rebuild sees them."""

from __future__ import annotations

from groupreplay.night.frames.late import has_late, landing_with_holes_filled
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.sources.watermark import PartitionWatermark


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
    assert seen.holes == ((1, 59), (1, 59), (2, 79), (3, 19))
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
