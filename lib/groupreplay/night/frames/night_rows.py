"""The raw rows that a night replays, in their true order, and the holes that they lie above."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.night.frames.late import landing_with_holes_filled, with_holes_filled, with_late
from groupreplay.night.frames.left_out import LeftOut
from groupreplay.night.frames.replay import Hole, known_holes, night_records
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.workers.slices import LogIncarnations


@dataclass(frozen=True, slots=True)
class Extent:
    """What a night replays.

    logical_date: date of the night.
    landing: what it landed, and all nights before it.
    earlier: what the night before it had landed; None for the first night.
    first: what had been landed before the first night whose rows are replayed.
    late: what had been landed by the newest night whose late rows are replayed; None where no late
        rows are.
    left_out: which groups are not replayed, and which rows of nights before are because their
        groups come back.
    """

    logical_date: date
    landing: RecordsLanding
    earlier: RecordsLanding | None
    first: RecordsLanding
    late: RecordsLanding | None
    left_out: LeftOut


def replayed_records(raw: DataFrame, extent: Extent) -> DataFrame:
    """The raw rows that a night replays, and those of groups that it leaves out.

    raw: `raw_records` of one cluster.
    """
    logical_date, landing, left_out = extent.logical_date, extent.landing, extent.left_out
    if extent.late is None:
        return night_records(raw, logical_date, landing, left_out)
    in_order = with_late(raw, logical_date, extent.earlier, landing)
    # Among what came late may be markers of transactions, and their commits.
    settles = replace(
        landing, open_commits=max(landing.open_commits, 1), markers=max(landing.markers, 1)
    )
    return with_holes_filled(night_records(in_order, logical_date, settles, left_out), extent.late)


def replayed_holes(extent: Extent) -> list[Hole]:
    """What the last holes of units mean for the rows above them."""
    start, landings = extent.first, [*extent.left_out.landings, extent.landing]
    if extent.late is not None:
        late = extent.late
        start = landing_with_holes_filled(start, late)
        landings = [landing_with_holes_filled(each, late) for each in landings]
    now = extent.landing.watermarks
    same = {
        partition: each
        for partition, each in start.watermarks.items()
        if now.get(partition, each).log_incarnation == each.log_incarnation
    }
    return known_holes(replace(start, watermarks=same), *landings)


def log_incarnations(extent: Extent) -> LogIncarnations:
    """Log incarnations of all partitions, and which logs are others than the night before read."""
    earlier = extent.earlier.watermarks if extent.earlier else {}
    now = {key: each.log_incarnation for key, each in extent.landing.watermarks.items()}
    before = {key: each.log_incarnation for key, each in earlier.items()}
    ended = {key: each for key, each in before.items() if now.get(key, each) > each}
    return LogIncarnations(now, ended)


def landed_lines(raw_lines: DataFrame, logical_date: date) -> DataFrame:
    """The lines that a night landed.

    raw_lines: the table's rows of one cluster.
    """
    return raw_lines.where(sf.col("logical_date") == sf.lit(logical_date))


def missed_lines(raw_lines: DataFrame, extent: Extent) -> DataFrame:
    """Lines of nights before, of groups that were left out then and come back."""
    is_before = sf.col("logical_date") < sf.lit(extent.logical_date)
    return raw_lines.where(is_before & extent.left_out.is_missed())
