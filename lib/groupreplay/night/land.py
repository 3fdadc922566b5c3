"""Step land of one night: what was planned, kept as raw rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groupreplay.night.engine.query_compiler import fit_to
from groupreplay.night.landing.land_units import land
from groupreplay.night.landing.landed import LinesLanding, RecordsLanding
from groupreplay.night.landing.landed_lines import after_look
from groupreplay.night.landing.landed_records import with_files_known
from groupreplay.night.landing.line_stream import LineStream
from groupreplay.night.landing.record_stream import RecordStream
from groupreplay.night.night_run import NightRun
from groupreplay.night.plans.clusters import live_of
from groupreplay.night.plans.night import Night
from groupreplay.night.plans.plan import Plan
from groupreplay.night.plans.results import Results
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.sources.watermark import PartitionWatermark
from groupreplay.tables.run_rows import LANDED


def landed_before(night: Night) -> Results:
    """What a new run begins with: what a run of this night had landed that was never published. It
    stays known in `runs` while another run is under way.
    """
    own = next((each for each in night.nights if each.logical_date == night.logical_date), None)
    if own is None or own.is_done:
        return Results()
    return Results(landing=own.landing, lines=own.lines)


def land_planned(run: NightRun) -> None:
    """PLANNED -> LANDED."""
    night, plan = run.night, run.plan
    fit_to(night.warehouse.spark, plan.rows_expected)
    with run.timed("land") as progress:
        progress.expect(plan.bytes, "bytes")
        landing = _land_records(run)
        if plan.units:
            run.keep(replace(run.results, landing=landing))
        lines = _land_lines(run)
    run.advance(LANDED, replace(run.results, landing=landing, lines=lines))


def _land_records(run: NightRun) -> RecordsLanding:
    night, plan, before = run.night, run.plan, run.night.records_before()
    if not plan.units:
        return at_plan_time(before, plan)
    landing = land(
        night.warehouse,
        night.logical_date,
        RecordStream(plan.units, live_of(night.config, plan.live)),
        before,
        run.metadata("land"),
        resumed=run.row.resumed,
    )
    return with_files_known(at_plan_time(landing, plan), night.inputs.files, plan.units)


def at_plan_time(landing: RecordsLanding, plan: Plan) -> RecordsLanding:
    """The landing with what was known when it was planned.

    The as-of of a live topic is at least the time at which the end offsets were asked. Where files
    hold another log than before, nobody knows the id of their topic.
    """
    if plan.live is None:
        is_other = any(unit.other_log for unit in plan.units)
        return replace(landing, topic_id="") if is_other else landing
    return replace(
        landing,
        as_of_ms=max(landing.as_of_ms, plan.live.as_of_ms),
        topic_id=plan.live.topic_id,
        cluster_id=plan.live.cluster_id or landing.cluster_id,
        watermarks=_read_until(landing.watermarks, plan.live),
    )


def _read_until(
    watermarks: Mapping[int, PartitionWatermark], live: LiveTopic
) -> dict[int, PartitionWatermark]:
    """Watermarks, with when the ends were taken of partitions that were read to theirs. A quiet
    partition is one of them.
    """
    ends = {partition: live.offsets[partition][1] for partition in live.whole}
    return {
        partition: replace(each, read_until_ms=max(each.read_until_ms, live.as_of_ms))
        if each.next_position == ends.get(partition)
        else each
        for partition, each in watermarks.items()
    }


def _land_lines(run: NightRun) -> LinesLanding | None:
    """None where no log of a broker ever was."""
    night, plan, before = run.night, run.plan, run.night.lines_before()
    if before is None and not plan.text_units:
        return None
    before = after_look(
        before or LinesLanding(),
        (file.identity for file in night.inputs.texts),
        night.logical_date,
    )
    if not plan.text_units:
        return before
    return land(
        night.warehouse,
        night.logical_date,
        LineStream(plan.text_units),
        before,
        run.metadata("land"),
        resumed=run.row.resumed,
    )
