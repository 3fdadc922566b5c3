"""What the units of one run add to what was landed of the offsets topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.sources.log_files import LogFile
from groupreplay.sources.log_identity import marks_of
from groupreplay.sources.planning import fingerprint, seen_after
from groupreplay.sources.watermark import NO_HOLE, PartitionWatermark
from groupreplay.wire.segments.holes import widest
from groupreplay.wire.segments.units import KAFKA, NO_BOUND, Unit, UnitFile

Detail = Mapping[str, Any]
"""What one unit saw: the JSON in column `detail` of its row."""


def after_units(
    before: RecordsLanding,
    units: Iterable[Unit],
    details: Iterable[tuple[int, Detail]],
    damaged: set[int],
) -> RecordsLanding:
    """`before`, and what one run landed on top of it.

    details: (offsets_partition, detail) of its rows of kind `unit`.
    damaged: partitions with damage: their files are read again by the next night.
    """
    run = _RunUnits.of(units, damaged)
    watermarks, holes = dict(before.watermarks), list(before.holes)
    landing = before
    for partition, detail in sorted(details, key=lambda each: (each[0], each[1]["first_offset"])):
        known = watermarks.get(partition)
        is_other = known is not None and run.incarnation(partition) > known.log_incarnation
        if "filled" in detail:
            assert known is not None, "what is missing of a log is known by its watermark"
            watermarks[partition] = _with_late(known, detail)
            continue
        is_empty = detail["next_offset"] == detail["first_offset"]
        if known is None and is_empty:
            continue  # A log that was empty so far: where it begins is still to be seen.
        earlier = run.beginning(partition, detail) if known is None or is_other else known
        watermarks[partition] = run.after(partition, earlier, detail)
        if detail["last_hole"] != NO_HOLE:
            holes.append((partition, detail["last_hole"]))
        landing = replace(
            landing,
            as_of_ms=max(landing.as_of_ms, detail["last_ts_ms"]),
            open_commits=landing.open_commits + detail["open_commits"],
            rows=landing.rows + detail["kept"],
            markers=landing.markers + detail["control"],
        )
    return replace(landing, watermarks=watermarks, holes=tuple(holes))


@dataclass(frozen=True, slots=True)
class _RunUnits:
    """What the units of a run say of their partitions.

    incarnations: partition -> log incarnation, where its log took another's place.
    of_topic: partitions that were read from the live topic.
    last: partition -> its unit without an end.
    damaged: partitions with damage.
    """

    incarnations: Mapping[int, int]
    of_topic: frozenset[int]
    last: Mapping[int, Unit]
    damaged: set[int]

    @classmethod
    def of(cls, units: Iterable[Unit], damaged: set[int]) -> Self:
        found = list(units)
        return cls(
            {
                unit.offsets_partition: unit.log_incarnation
                for unit in found
                if unit.log_incarnation
            },
            frozenset(unit.offsets_partition for unit in found if unit.source == KAFKA),
            {unit.offsets_partition: unit for unit in found if unit.end_offset == NO_BOUND},
            damaged,
        )

    def incarnation(self, partition: int) -> int:
        return self.incarnations.get(partition, 0)

    def beginning(self, partition: int, detail: Detail) -> PartitionWatermark:
        """Watermark of a log that is read for the first time. What lies below its first offset may
        still be found in other files. A live topic gives nothing late: there it is gone for good.
        """
        first = detail["first_offset"]
        return PartitionWatermark(
            0,
            missing=((0, first),) if first > 0 and partition not in self.of_topic else (),
            log_incarnation=self.incarnation(partition),
        )

    def after(
        self, partition: int, earlier: PartitionWatermark, detail: Detail
    ) -> PartitionWatermark:
        """After one unit with new offsets."""
        missing = ((first, end) for first, end in detail.get("missing", ()))
        is_whole = partition in self.last and partition not in self.damaged
        return replace(
            earlier,
            next_position=max(earlier.next_position, detail["next_offset"]),
            last_hole=max(earlier.last_hole, detail["last_hole"]),
            files=fingerprint(self.last[partition]) if is_whole else "",
            newest_ms=max(earlier.newest_ms, detail["last_ts_ms"]),
            missing=tuple(widest([*earlier.missing, *missing])),
        )


def _with_late(earlier: PartitionWatermark, detail: Detail) -> PartitionWatermark:
    """After a unit that looked for what was missed."""
    filled = tuple((first, end) for first, end in detail["filled"])
    missing = widest((first, end) for first, end in detail["missing"])
    newest = {first: ms for (first, _), ms in zip(filled, detail["filled_ms"], strict=True)}
    return replace(
        earlier,
        missing=tuple(missing),
        filled=tuple(sorted({*earlier.filled, *filled})),
        filled_ms={**earlier.filled_ms, **newest},
    )


def with_files_known(
    landing: RecordsLanding, files: Iterable[LogFile], units: Iterable[Unit]
) -> RecordsLanding:
    """The landing with what each log is known by, and with the segments that need not be searched
    again for what was missed.

    files: all there are.
    units: those that were read.
    """
    by_partition: dict[int, list[LogFile]] = {}
    for file in files:
        by_partition.setdefault(file.offsets_partition, []).append(file)
    read: dict[int, list[UnitFile]] = {}
    units = list(units)
    for unit in units:
        read.setdefault(unit.offsets_partition, []).extend(unit.files)
    marks = marks_of(units)
    after = {
        partition: replace(
            each,
            seen=seen_after(by_partition.get(partition, ()), each, read.get(partition, ())),
            mark=marks.get(partition, each.mark),
        )
        for partition, each in landing.watermarks.items()
    }
    return replace(landing, watermarks=after)
