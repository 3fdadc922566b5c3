"""Units to JSON and back."""

from __future__ import annotations

from groupreplay.wire.segments.units import DUMP_LOG, SEGMENTS, Unit, UnitFile


def test_a_unit_survives_the_journey() -> None:
    files = (UnitFile(SEGMENTS, 's3a://b/ö "x"', 1 << 40, "r"), UnitFile(DUMP_LOG, "d.gz", -1, ""))
    unit = Unit(7, -1, 99, files, "segments", "__consumer_offsets-7")
    assert Unit.from_json(unit.to_json()) == unit
    assert Unit.from_json(Unit(0, 0, -1, (), "", "").to_json()).files == ()
