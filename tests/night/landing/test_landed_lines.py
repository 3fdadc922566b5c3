"""What nights carry on of logs of brokers, from one to the next."""

from __future__ import annotations

from datetime import date
from typing import Any

from groupreplay.night.landing.landed import LinesLanding
from groupreplay.night.landing.landed_lines import after_files, after_look
from groupreplay.sources.watermark import TextWatermark

NIGHT = date(2026, 11, 20)


def marks(**last_seen: str) -> dict[str, TextWatermark]:
    return {
        name: TextWatermark(1, size=2, newest_ms=3, last_seen=seen)
        for name, seen in last_seen.items()
    }


def test_logs_not_seen_for_thirty_nights_are_forgotten() -> None:
    before = LinesLanding(
        watermarks=marks(there="2026-10-01", gone="2026-10-20", lost="2026-10-21")
    )
    after = after_look(before, ["there"], NIGHT)
    assert after.watermarks == marks(there="2026-11-20", lost="2026-10-21")


def stretch(
    identity: str = "a", next_position: int | None = 10, failure: str | None = None
) -> dict[str, Any]:
    return {
        "identity": identity,
        "next_position": next_position,
        "size": 20,
        "last_ms": 5,
        "failure": failure,
    }


def test_watermarks_are_the_furthest_of_all_stretches() -> None:
    seen = NIGHT.isoformat()
    landing = after_files(
        LinesLanding(),
        [stretch(), stretch(next_position=30), stretch(next_position=None), stretch(identity="")],
        NIGHT,
    )
    assert landing.watermarks == {"a": TextWatermark(30, size=20, newest_ms=5, last_seen=seen)}
    for order in ((1, 0), (0, 1)):
        both = [stretch(), stretch(next_position=30, failure="cannot be read on: no")]
        assert after_files(LinesLanding(), [both[place] for place in order], NIGHT).watermarks == {
            "a": TextWatermark(30, size=-1, newest_ms=5, last_seen=seen)
        }
    before = LinesLanding(watermarks={"a": TextWatermark(3, size=-1, newest_ms=1, last_seen=seen)})
    ended = after_files(before, [stretch(failure="gzip ends early")], NIGHT)
    assert ended.watermarks == {"a": TextWatermark(10, size=20, newest_ms=5, last_seen=seen)}
