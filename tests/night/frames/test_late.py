"""Holes that were filled later, as a rebuild sees them."""

from __future__ import annotations

from groupreplay.night.frames.late import has_late, landing_with_holes_filled
from groupreplay.night.plan import Landing, PartitionLanded


def test_a_hole_that_was_filled_gives_way_to_the_one_below() -> None:
    newest = Landing(
        partitions={
            1: PartitionLanded(
                900, 299, "", missing=((0, 10), (50, 60)), filled=((100, 200), (250, 300))
            ),
            2: PartitionLanded(900, 79, "", missing=((0, 40), (70, 80)), filled=((40, 50),)),
            3: PartitionLanded(900, 19, "", missing=((10, 20),)),
        }
    )
    then = Landing(
        partitions={
            1: PartitionLanded(400, 299, ""),
            2: PartitionLanded(400, 79, ""),
            3: PartitionLanded(400, 19, ""),
        },
        holes=((1, 199), (1, 299), (2, 79), (3, 19)),
    )
    seen = landing_with_holes_filled(then, newest)
    assert {partition: each.last_hole for partition, each in seen.partitions.items()} == {
        1: 59,
        2: 79,
        3: 19,
    }
    assert seen.holes == ((1, 59), (1, 59), (2, 79), (3, 19))
    assert has_late(newest)
    assert not has_late(then)


def test_where_the_log_begins_is_no_hole() -> None:
    newest = Landing(
        partitions={1: PartitionLanded(900, 99, "", missing=((0, 50),), filled=((50, 100),))}
    )
    then = Landing(partitions={1: PartitionLanded(900, 99, "")}, holes=((1, 99),))
    seen = landing_with_holes_filled(then, newest)
    assert (seen.partitions[1].last_hole, seen.holes) == (-1, ())
