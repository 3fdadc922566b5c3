"""Step plan: what one run reads, fixed in `runs` before anything is read.

A run stands on its plan: a process that takes it over reads the same files as far as the first one
saw them, and the same offsets.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.night.plans.inputs import Inputs
from groupreplay.night.plans.night import Night
from groupreplay.report.words.sentences import SOURCE_DETAILS
from groupreplay.sources.live_planning import (
    LiveTopic,
    is_other_topic,
    other_live_logs,
    plan_live_units,
)
from groupreplay.sources.log_files import LogFile
from groupreplay.sources.log_identity import other_logs
from groupreplay.sources.planning import plan_units
from groupreplay.sources.text_logs import plan_text_units
from groupreplay.sources.watermark import PartitionWatermark
from groupreplay.wire.segments.other_logs import detail_of
from groupreplay.wire.segments.units import NO_BOUND, Unit
from groupreplay.wire.text.text_units import TextUnit

RECORD_BYTES = 100
"""What a record of the offsets topic takes of its file, and a line of a log at least."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run reads.

    units: units of the offsets topic.
    passed_over: number of files that are no part of it.
    unreadable: directories that could not be listed, and why.
    text_units: units of brokers' logs.
    live: the live topic as it was when its units were planned, None where it is not read.
    hashed: what is hidden in the tables that analysts read (`HashKeys.fingerprint`), "" nothing.
    """

    units: tuple[Unit, ...]
    passed_over: int = 0
    unreadable: tuple[tuple[str, str], ...] = ()
    text_units: tuple[TextUnit, ...] = ()
    live: LiveTopic | None = None
    hashed: str = ""

    @property
    def bytes(self) -> int:
        """Size of all files that it reads, as far as it is known."""
        files = {file.path: file.size for unit in self.units for file in unit.files} | {
            unit.path: unit.size for unit in self.text_units
        }
        return sum(size for size in files.values() if size > 0)

    @property
    def rows_expected(self) -> int:
        """About how many records and lines it reads."""
        of_topic = sum(
            unit.end_offset - unit.start_offset
            for unit in self.units
            if unit.end_offset != NO_BOUND
        )
        return max(self.bytes // RECORD_BYTES, of_topic)


def planned(night: Night) -> Plan:
    """What is new in the sources since the night before, and since this one ran last."""
    landing, lines = night.records_before(), night.lines_before()
    live = live_tonight(night.inputs.live, landing)
    return replace(
        nothing_new(night),
        units=tuple(new_units(replace(night.inputs, live=live), landing)),
        passed_over=night.inputs.passed_over,
        text_units=tuple(plan_text_units(night.inputs.texts, lines.watermarks if lines else {})),
        live=live,
    )


def nothing_new(night: Night) -> Plan:
    """A plan that reads nothing."""
    return Plan((), unreadable=night.inputs.unreadable, hashed=night.hashed)


def live_tonight(live: LiveTopic | None, landing: RecordsLanding) -> LiveTopic | None:
    """The live topic as a night reads it after a landing, None where it does not: a topic that was
    created again since this night landed is left to the next one.
    """
    if live is not None and landing.raw_version >= 0 and is_other_topic(live, landing.topic_id):
        _log.warning(
            "the topic %s was created again, its id is %s: the next night reads it",
            live.topic,
            live.topic_id,
        )
        return None
    return live


def new_units(inputs: Inputs, landing: RecordsLanding) -> list[Unit]:
    """What is new in each log since the nights before; where another log took its place, all of
    that.

    A night holds one log of a partition: a log that took the place of one which this night has read
    already is left to the next night.
    """
    units, others = _units_of_files(inputs.files, landing.watermarks)
    if inputs.live is not None:
        of_topic, other = _units_of_topic(inputs.live, landing)
        units, others = [*units, *of_topic], {**others, **other}
    for partition, found in others.items():
        _log.warning(
            "partition %d of the offsets topic is another log than before: %s",
            partition,
            in_words(found),
        )
    same = [unit for unit in units if unit.offsets_partition not in others]
    if landing.raw_version < 0:
        same += [
            each
            for partition, found in others.items()
            for each in _from_its_start(
                [one for one in units if one.offsets_partition == partition], landing, found
            )
        ]
    return sorted(same, key=lambda unit: unit.offsets_partition)


def in_words(found: str) -> str:
    """What shows that a log is another, for people.

    found: text of `Unit.other_log`.
    """
    detail = detail_of(found)
    return SOURCE_DETAILS[detail.pop("shown_by", "OTHER_LOG")].format(**detail)


def _from_its_start(units: Sequence[Unit], landing: RecordsLanding, found: str) -> list[Unit]:
    """Units of a log that took another's place; the first one says what showed it."""
    incarnation = landing.watermarks[units[0].offsets_partition].log_incarnation + 1
    return [
        replace(unit, log_incarnation=incarnation, other_log=found if unit is units[0] else "")
        for unit in units
    ]


def _units_of_files(
    files: Sequence[LogFile], watermarks: Mapping[int, PartitionWatermark]
) -> tuple[list[Unit], dict[int, str]]:
    """Units of files; and of each partition whose log is another than before, what shows that: its
    units begin where the new log does.
    """
    units = plan_units(files, watermarks)
    news = {unit.offsets_partition for unit in units}
    others = other_logs(
        files, {partition: mark for partition, mark in watermarks.items() if partition in news}
    )
    replicas = {(partition, each) for partition, other in others.items() for each in other.replicas}
    others_units = plan_units(
        [file for file in files if (file.offsets_partition, file.replica) in replicas], {}
    )
    same = [unit for unit in units if unit.offsets_partition not in others]
    return [*same, *others_units], {partition: other.found for partition, other in others.items()}


def _units_of_topic(live: LiveTopic, landing: RecordsLanding) -> tuple[list[Unit], dict[int, str]]:
    """As `_units_of_files`, of the live topic."""
    watermarks = landing.watermarks
    others = other_live_logs(live, watermarks, landing.topic_id)
    return plan_live_units(live, watermarks, others), others
