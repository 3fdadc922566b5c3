"""What nights have landed, and what of it the next night begins with."""

from __future__ import annotations

from groupreplay.night.landing.landed import LinesLanding, RecordsLanding
from groupreplay.sources.watermark import NO_TIME_MS, PartitionWatermark, TextWatermark
from groupreplay.tables.warehouse import NO_VERSION


def watermark(next_position: int, read_until_ms: int = NO_TIME_MS) -> PartitionWatermark:
    return PartitionWatermark(next_position, read_until_ms=read_until_ms)


def test_the_next_night_goes_on_where_this_one_ended_and_has_landed_nothing() -> None:
    landing = RecordsLanding(
        watermarks={0: watermark(70)},
        rows=9,
        kinds=("record",),
        raw_version=4,
        as_of_ms=5_000,
        open_commits=2,
        markers=1,
        holes=((0, 30),),
        topic_id="id",
        states_from="2026-11-20",
        late_until="2026-11-21",
    )
    begun = landing.next_night()
    assert (begun.rows, begun.kinds, begun.raw_version) == (0, (), NO_VERSION)
    assert (begun.markers, begun.holes, begun.late_until) == (0, (), "")
    assert begun.watermarks == landing.watermarks
    assert (begun.as_of_ms, begun.open_commits, begun.topic_id) == (5_000, 2, "id")
    assert begun.states_from == "2026-11-20"


def test_how_far_live_partitions_were_read_is_told_of_both_nights() -> None:
    earlier = RecordsLanding(watermarks={0: watermark(5, 1_000), 1: watermark(5)})
    landing = RecordsLanding(
        watermarks={0: watermark(9, 2_000), 1: watermark(9, 2_500), 2: watermark(9)}
    )
    assert landing.read_until_ms(earlier) == {0: (1_000, 2_000), 1: (NO_TIME_MS, 2_500)}
    assert landing.read_until_ms(None) == {0: (NO_TIME_MS, 2_000), 1: (NO_TIME_MS, 2_500)}


def test_the_newest_line_is_that_of_all_logs() -> None:
    def read(newest_ms: int) -> TextWatermark:
        return TextWatermark(9, newest_ms=newest_ms, size=9, last_seen="2026-11-20")

    assert LinesLanding(watermarks={"a": read(5), "b": read(7)}).newest_ms == 7
    assert LinesLanding().newest_ms == NO_TIME_MS
    begun = LinesLanding(rows=3, kinds=("line",), sources=("server_log",)).next_night()
    assert (begun.rows, begun.kinds, begun.sources) == (0, (), ("server_log",))
