"""Steps plan and land of one night: what is new in the sources, fixed and then kept."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from groupreplay.night.clusters import at_plan_time, live_of, live_tonight
from groupreplay.night.history import of_date
from groupreplay.night.land_lines import land_lines
from groupreplay.night.land_records import land
from groupreplay.night.lines_landed import LinesLanding
from groupreplay.night.night import Night
from groupreplay.night.plan import Inputs, Landing, Plan, planned_bytes, remembered, rows_expected
from groupreplay.night.query_compiler import fit_to
from groupreplay.sources.live_planning import LiveTopic, other_live_logs, plan_live_units
from groupreplay.sources.log_files import LogFile
from groupreplay.sources.log_identity import other_logs
from groupreplay.sources.planning import Landed, plan_units
from groupreplay.sources.text_logs import plan_text_units
from groupreplay.tables.runs import LANDED
from groupreplay.wire.segments.units import Unit

_log = logging.getLogger(__name__)


def planned(night: Night) -> Plan:
    """What is new in the sources since the night before, and since this one ran last."""
    landing = night.landed_before()
    live = live_tonight(night.inputs, landing)
    units = new_units(replace(night.inputs, live=live), landing)
    lines = night.lines_before()
    text_units = plan_text_units(night.inputs.texts, lines.watermarks if lines else {})
    plan = replace(nothing_new(night), passed_over=night.inputs.passed_over, live=live)
    return replace(plan, units=tuple(units), text_units=tuple(text_units))


def new_units(inputs: Inputs, landing: Landing) -> list[Unit]:
    """Of logs that are those which the nights before read; of one that took another's place all
    that it holds.

    One night holds one log of a partition: what replaced a log that this night read is left to the
    next.
    """
    units, others = _units_of_files(inputs.files, landing.watermarks())
    if inputs.live is not None:
        of_topic, other = _units_of_topic(inputs.live, landing)
        units, others = [*units, *of_topic], {**others, **other}
    for partition, found in others.items():
        _log.warning(
            "partition %d of the offsets topic is another log than before: %s", partition, found
        )
    same = [unit for unit in units if unit.offsets_partition not in others]
    if landing.raw_version < 0:
        same += [
            each
            for partition, found in others.items()
            for each in _anew(
                [one for one in units if one.offsets_partition == partition], landing, found
            )
        ]
    return sorted(same, key=lambda unit: unit.offsets_partition)


def _anew(units: Sequence[Unit], landing: Landing, found: str) -> list[Unit]:
    """Units of a log that took another's place; the first tells what showed it."""
    incarnation = landing.partitions[units[0].offsets_partition].log_incarnation + 1
    return [
        replace(unit, log_incarnation=incarnation, other_log=found if unit is units[0] else "")
        for unit in units
    ]


def _units_of_files(
    files: Sequence[LogFile], watermarks: Mapping[int, Landed]
) -> tuple[list[Unit], dict[int, str]]:
    """What is new; and of partitions whose log is another, from its start, what shows that."""
    units = plan_units(files, watermarks)
    news = {unit.offsets_partition for unit in units}
    others = other_logs(
        files, {partition: mark for partition, mark in watermarks.items() if partition in news}
    )
    replicas = {(partition, each) for partition, other in others.items() for each in other.replicas}
    anew = plan_units(
        [file for file in files if (file.offsets_partition, file.replica) in replicas], {}
    )
    same = [unit for unit in units if unit.offsets_partition not in others]
    return [*same, *anew], {partition: other.found for partition, other in others.items()}


def _units_of_topic(live: LiveTopic, landing: Landing) -> tuple[list[Unit], dict[int, str]]:
    """The same of the live topic."""
    watermarks = landing.watermarks()
    others = other_live_logs(live, watermarks, landing.topic_id)
    return plan_live_units(live, watermarks, others), others


def nothing_new(night: Night) -> Plan:
    """A plan that reads nothing. What an unpublished run of the night had landed stays known, also
    while another one is under way.
    """
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
    fit_to(night.warehouse.spark, rows_expected(plan))
    with night.timed("land") as progress:
        progress.expect(planned_bytes(plan), "bytes")
        if plan.units:
            live = live_of(night.config, plan)
            landing = land(
                night.warehouse,
                night.logical_date,
                plan.units,
                landing,
                night.metadata("land"),
                live,
                resumed=night.run.resumed,
            )
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
    lines = (lines or LinesLanding()).seen(
        (file.identity for file in night.inputs.texts), night.logical_date
    )
    if not plan.text_units:
        return lines
    return land_lines(
        night.warehouse,
        night.logical_date,
        plan.text_units,
        lines,
        night.metadata("land"),
        resumed=night.run.resumed,
    )
