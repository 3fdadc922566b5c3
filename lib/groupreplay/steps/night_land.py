"""Steps plan and land of one night: what is new in the sources, fixed and then kept."""

from __future__ import annotations

import logging
from dataclasses import replace

from groupreplay.sources.log_identity import other_logs
from groupreplay.sources.planning import plan_units
from groupreplay.sources.text_logs import plan_text_units
from groupreplay.steps.history import of_date
from groupreplay.steps.land import land
from groupreplay.steps.land_lines import land_lines
from groupreplay.steps.lines_landing import LinesLanding
from groupreplay.steps.live import at_plan_time, live_of
from groupreplay.steps.one_night import Night
from groupreplay.steps.plan import Plan, planned_bytes, remembered
from groupreplay.tables.runs import LANDED
from groupreplay.wire.units import Unit

_log = logging.getLogger(__name__)


def planned(night: Night) -> Plan:
    """What is new in the sources since the night before, and since this one ran last."""
    units = _units(night)
    lines = night.lines_before()
    text_units = plan_text_units(night.inputs.texts, lines.watermarks if lines else {})
    plan = replace(nothing_new(night), passed_over=night.inputs.passed_over, live=night.inputs.live)
    return replace(plan, units=tuple(units), text_units=tuple(text_units))


def _units(night: Night) -> list[Unit]:
    """Of logs that are those which the nights before read; of one that took another's place all that it holds.

    One night holds one log of a partition: what replaced a log that this night read is left to the next.
    """
    landing, files = night.landed_before(), night.inputs.files
    watermarks = landing.watermarks()
    units = night.inputs.units(landing)
    news = {unit.offsets_partition for unit in units}
    others = other_logs(files, {partition: mark for partition, mark in watermarks.items() if partition in news})
    units = [unit for unit in units if unit.offsets_partition not in others]
    for partition, other in others.items():
        _log.warning("partition %d of the offsets topic is another log than before: %s", partition, other.found)
        if landing.raw_version < 0:
            anew = plan_units(
                [file for file in files if (file.offsets_partition, file.replica) in {(partition, each) for each in other.replicas}], {}
            )
            incarnation = landing.partitions[partition].log_incarnation + 1
            units += [replace(unit, log_incarnation=incarnation, other_log=other.found if unit is anew[0] else "") for unit in anew]
    return sorted(units, key=lambda unit: unit.offsets_partition)


def nothing_new(night: Night) -> Plan:
    """A plan that reads nothing. What an unpublished run of the night had landed stays known, also while another one is under way."""
    own = of_date(night.nights, night.logical_date)
    known = own if own is not None and not own.is_done else None
    return Plan(
        (),
        unreadable=night.inputs.unreadable,
        landing=known.landing if known else None,
        lines=known.lines if known else None,
        hashed=night.hashed,
    )


def land_planned(night: Night) -> None:
    """PLANNED -> LANDED."""
    landing, plan = night.landed_before(), night.plan
    with night.timed("land") as progress:
        progress.expect(planned_bytes(plan), "bytes")
        if plan.units:
            live = live_of(night.config, plan)
            landing = land(night.warehouse, night.logical_date, plan.units, landing, night.metadata("land"), live, resumed=night.run.resumed)
        landing = at_plan_time(landing, plan)
        if plan.units:
            landing = remembered(landing, night.inputs.files, plan.units)
            night.keep(replace(plan, landing=landing))
        lines = _land_lines(night)
    night.advance(LANDED, replace(plan, landing=landing, lines=lines))


def _land_lines(night: Night) -> LinesLanding | None:
    plan, lines = night.plan, night.lines_before()
    if lines is None and not plan.text_units:
        return None
    lines = (lines or LinesLanding()).seen((file.identity for file in night.inputs.texts), night.logical_date)
    if not plan.text_units:
        return lines
    return land_lines(night.warehouse, night.logical_date, plan.text_units, lines, night.metadata("land"), resumed=night.run.resumed)
