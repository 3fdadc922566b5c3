"""Step plan: what a run reads, fixed in `runs` before anything is read, and what every night so far
has landed.

Both are JSON in the column `plan`, so that a night needs no look at what the nights before it
wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from groupreplay.config.model import Config, GroupsConfig, ServerLogSource, Source
from groupreplay.errors import SourceUnreadable
from groupreplay.night.lines_landed import LinesLanding
from groupreplay.sources import dump_log, segments
from groupreplay.sources.files import Listing, find_files
from groupreplay.sources.given_topics import GivenTopic, read_topics
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.sources.log_files import LogFile
from groupreplay.sources.log_identity import marks_of
from groupreplay.sources.planning import Landed, fingerprint, seen_after
from groupreplay.sources.text_logs import TextFile, text_files
from groupreplay.wire.segments.commits import widest
from groupreplay.wire.segments.units import DUMP_LOG, KAFKA, NO_BOUND, SEGMENTS, Unit, UnitFile
from groupreplay.wire.text.text_units import TextUnit
from groupreplay.workers.files import identity, is_readable

RECORD_BYTES = 100
"""What a record of the offsets topic takes of its file, and a line of a log at least."""

NO_TIME_MS = -1
NO_HOLE = -1


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the sources hold now.

    passed_over: number of files that are no part of the offsets topic.
    unreadable: directories, and why.
    texts: logs of brokers.
    live: the live topic, None where there is none to read.
    """

    files: tuple[LogFile, ...]
    topics: tuple[GivenTopic, ...]
    passed_over: int
    unreadable: tuple[tuple[str, str], ...]
    texts: tuple[TextFile, ...] = ()
    live: LiveTopic | None = None


@dataclass(frozen=True, slots=True)
class PartitionLanded:
    """next_offset: where the next night goes on.
    last_hole: greatest offset that the log lacks so far, -1 none.
    files: fingerprint of its last unit's files, "" where they were not read to their end.
    missing, seen, newest_ms, mark: as of `Landed`.
    filled: [first, end) of what came late.
    log_incarnation: how often the topic was created anew since the first night.
    """

    next_offset: int
    last_hole: int
    files: str
    missing: tuple[tuple[int, int], ...] = ()
    seen: Mapping[str, int] = field(default_factory=dict)
    filled: tuple[tuple[int, int], ...] = ()
    newest_ms: int = -1
    mark: tuple[str, int, int, int, int] | tuple[()] = ()
    log_incarnation: int = 0


@dataclass(frozen=True, slots=True)
class Landing:
    """What was landed up to a night, and in it.

    as_of_ms: greatest record time, -1 none.
    partitions: of the offsets topic.
    open_commits: commits landed without the end of their transaction, by all nights.
    rows, markers: records and transaction markers that this night landed.
    holes: (partition, last hole) of this night's units.
    kinds: of its raw rows.
    raw_version: of `raw_records` with all of it, -1 where this night has landed nothing.
    topic_id: of the offsets topic, as a cluster told it, "" where none was asked.
    states_from: the night that was rebuilt first, as a date: states that older nights left are not
        read; "" where all are.
    late_until: the newest night, as a date, whose late rows this one replays, since it was rebuilt;
        "" none.
    """

    as_of_ms: int = NO_TIME_MS
    partitions: Mapping[int, PartitionLanded] = field(default_factory=dict)
    open_commits: int = 0
    rows: int = 0
    markers: int = 0
    holes: tuple[tuple[int, int], ...] = ()
    kinds: tuple[str, ...] = ()
    raw_version: int = -1
    topic_id: str = ""
    states_from: str = ""
    late_until: str = ""

    def next_night(self) -> Landing:
        """Where the night after this one begins."""
        return replace(self, rows=0, markers=0, holes=(), kinds=(), raw_version=-1, late_until="")

    def watermarks(self) -> dict[int, Landed]:
        return {
            partition: Landed(
                each.next_offset, each.files, each.missing, each.seen, each.newest_ms, each.mark
            )
            for partition, each in self.partitions.items()
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run reads.

    landing: None until it was landed.
    lines: also where no log of a broker ever was.
    live: the live topic as it was when its units were planned, None where it is not read.
    hashed: what is hidden in the tables that analysts read (`HashKeys.fingerprint`), "" nothing.
    groups: which are replayed.
    left_out: records of the others.
    staged_*: version of `replayed`, its rows, their kinds; -1, 0, none until then.
    evidence_*: the same of `evidence`, where there are lines.
    """

    units: tuple[Unit, ...]
    passed_over: int = 0
    unreadable: tuple[tuple[str, str], ...] = ()
    landing: Landing | None = None
    staged_version: int = -1
    staged_rows: int = 0
    staged_kinds: tuple[str, ...] = ()
    text_units: tuple[TextUnit, ...] = ()
    lines: LinesLanding | None = None
    evidence_version: int = -1
    evidence_kinds: tuple[str, ...] = ()
    hashed: str = ""
    groups: GroupsConfig = field(default_factory=GroupsConfig)
    left_out: int = 0
    live: LiveTopic | None = None

    def to_json(self) -> str:
        landing = self.landing and {
            **asdict(self.landing),
            "partitions": {str(key): asdict(each) for key, each in self.landing.partitions.items()},
        }
        plain = (
            "passed_over",
            "unreadable",
            "staged_version",
            "staged_rows",
            "staged_kinds",
            "evidence_version",
            "evidence_kinds",
            "hashed",
            "left_out",
        )
        content = {
            **{name: getattr(self, name) for name in plain},
            "landing": landing,
            "units": [asdict(unit) for unit in self.units],
        }
        content |= {
            "text_units": [asdict(unit) for unit in self.text_units],
            "lines": self.lines and json.loads(self.lines.to_json()),
        }
        content |= {"groups": asdict(self.groups)}
        content["live"] = self.live and json.loads(self.live.to_json())
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Plan:
        content = json.loads(text)
        return cls(
            units=tuple(Unit.from_json(json.dumps(unit)) for unit in content["units"]),
            passed_over=content["passed_over"],
            unreadable=tuple((path, why) for path, why in content["unreadable"]),
            text_units=tuple(TextUnit(**unit) for unit in content.get("text_units", ())),
            landing=landing_of(content["landing"]) if content["landing"] else None,
            lines=LinesLanding.from_json(json.dumps(content["lines"]))
            if content.get("lines")
            else None,
            staged_version=content["staged_version"],
            staged_rows=content["staged_rows"],
            staged_kinds=tuple(content["staged_kinds"]),
            evidence_version=content.get("evidence_version", -1),
            evidence_kinds=tuple(content.get("evidence_kinds", ())),
            hashed=content.get("hashed", ""),
            groups=groups_of(content.get("groups", {})),
            left_out=content.get("left_out", 0),
            live=LiveTopic.from_json(json.dumps(content["live"])) if content.get("live") else None,
        )


def landing_of(content: dict[str, Any]) -> Landing:
    """Inverse of a landing's JSON."""
    partitions = {int(key): _partition_of(each) for key, each in content.pop("partitions").items()}
    holes = tuple((partition, last_hole) for partition, last_hole in content.pop("holes"))
    return Landing(partitions=partitions, holes=holes, kinds=tuple(content.pop("kinds")), **content)


def _partition_of(content: dict[str, Any]) -> PartitionLanded:
    missing, filled = (
        tuple((first, end) for first, end in content.pop(name, ()))
        for name in ("missing", "filled")
    )
    mark = tuple(content.pop("mark", ()))
    return PartitionLanded(**content, missing=missing, filled=filled, mark=mark)


def planned_bytes(plan: Plan) -> int:
    """Of all files that the plan reads, as far as their sizes are known."""
    files = {file.path: file.size for unit in plan.units for file in unit.files} | {
        unit.path: unit.size for unit in plan.text_units
    }
    return sum(size for size in files.values() if size > 0)


def rows_expected(plan: Plan) -> int:
    """About how many records and lines the plan reads."""
    of_topic = sum(
        unit.end_offset - unit.start_offset for unit in plan.units if unit.end_offset != NO_BOUND
    )
    return max(planned_bytes(plan) // RECORD_BYTES, of_topic)


def groups_of(content: Mapping[str, list[str]]) -> GroupsConfig:
    """Inverse of the JSON of a choice of groups; {} of runs of versions that had none."""
    return GroupsConfig(
        include=tuple(content.get("include", ())), exclude=tuple(content.get("exclude", ()))
    )


# ---------------------------------------------------------------- what is there


def find_inputs(config: Config) -> Inputs:
    """All files of all sources, each once; clusters are asked elsewhere (`night.clusters`). Raises
    SourceUnreadable for a source that gives nothing.
    """
    files: dict[str, LogFile] = {}
    passed_over = 0
    unreadable: list[tuple[str, str]] = []
    texts: dict[str, TextFile] = {}
    for source in config.sources:
        if isinstance(source, ServerLogSource):
            unreadable += _find_texts(source, texts)
        if not isinstance(source, Source) or source.kind not in (SEGMENTS, DUMP_LOG):
            continue
        listing = find_files(source)
        found = (
            segments.segments(listing.files)
            if source.kind == SEGMENTS
            else dump_log.dumps(listing.files)
        )
        expected = segments.EXPECTED if source.kind == SEGMENTS else dump_log.EXPECTED
        _check(str(source), listing, [file for each in found for file in each], expected)
        passed_over += sum(not each for each in found)
        unreadable += listing.unreadable
        for each in found:
            for file in each:
                files.setdefault(
                    f"{file.kind}\0{file.offsets_partition}\0{identity(file.path)}", file
                )
    return replace(
        find_topics(config),
        files=tuple(files.values()),
        passed_over=passed_over,
        unreadable=tuple(unreadable),
        texts=tuple(texts.values()),
    )


def find_topics(config: Config) -> Inputs:
    """The given topics alone, for steps that read no log. Raises SourceUnreadable."""
    return Inputs(
        (),
        tuple(
            read_topics(
                source
                for source in config.sources
                if isinstance(source, Source) and source.kind == "topics"
            )
        ),
        0,
        (),
    )


def _find_texts(source: ServerLogSource, found: dict[str, TextFile]) -> Iterable[tuple[str, str]]:
    """Adds the logs of one source; gives directories that could not be listed. Raises
    SourceUnreadable if not one of its files can be read.
    """
    listing = find_files(source)
    files = text_files(source, listing.files)
    failures = [file for file in files if file.failure]
    if len(failures) == len(files):
        raise SourceUnreadable(
            str(source),
            f"{failures[0].path}: {failures[0].failure}"
            + (f", and {len(files) - 1} more files" if len(files) > 1 else ""),
        )
    for file in files:
        found.setdefault(f"{source.kind}\0{source.broker}\0{identity(file.path)}", file)
    return listing.unreadable


def _check(source: str, listing: Listing, found: list[LogFile], expected: str) -> None:
    if not found:
        raise SourceUnreadable(
            source,
            f"none of its {len(listing.files)} files is what it is said to be: expected {expected}",
        )
    whys = []
    for file in found:
        why = is_readable(file.path)
        if why is None:
            return
        whys.append(why)
    raise SourceUnreadable(
        source, f"{whys[0]}" + (f", and {len(whys) - 1} more files" if len(whys) > 1 else "")
    )


# ---------------------------------------------------------------- what was landed


def landed(
    before: Landing,
    units: Iterable[Unit],
    details: Iterable[tuple[int, dict[str, Any]]],
    damaged: set[int],
) -> Landing:
    """`before` and what one run landed on top of it.

    details: (offsets_partition, detail) of its `unit` rows.
    damaged: partitions with damage: their files are read again next time.
    """
    begun = {unit.offsets_partition: unit.log_incarnation for unit in units if unit.log_incarnation}
    of_topic = {unit.offsets_partition for unit in units if unit.source == KAFKA}
    last_units = {unit.offsets_partition: unit for unit in units if unit.end_offset == NO_BOUND}
    partitions, holes = dict(before.partitions), list(before.holes)
    as_of_ms, open_commits, rows, markers = (
        before.as_of_ms,
        before.open_commits,
        before.rows,
        before.markers,
    )
    for partition, detail in sorted(details, key=lambda each: (each[0], each[1]["first_offset"])):
        is_other = (
            partition in partitions
            and begun.get(partition, 0) > partitions[partition].log_incarnation
        )
        if is_other:
            del partitions[partition]
        if "filled" in detail:
            partitions[partition] = _with_late(partitions[partition], detail)
            continue
        if (
            partition not in partitions
            and not is_other
            and detail["next_offset"] == detail["first_offset"]
        ):
            continue  # A log that was empty so far: where it begins is still to be seen.
        first_offset = detail["first_offset"]
        # A live topic gives nothing late: what lies below its beginning, and what it lacks, is gone
        # for good.
        begins = ((0, first_offset),) if first_offset > 0 and partition not in of_topic else ()
        earlier = partitions.get(
            partition,
            PartitionLanded(0, NO_HOLE, "", begins, log_incarnation=begun.get(partition, 0)),
        )
        partitions[partition] = replace(
            earlier,
            next_offset=max(earlier.next_offset, detail["next_offset"]),
            last_hole=max(earlier.last_hole, detail["last_hole"]),
            files=fingerprint(last_units[partition])
            if partition in last_units and partition not in damaged
            else "",
            newest_ms=max(earlier.newest_ms, detail["last_ts_ms"]),
            missing=tuple(
                widest(
                    [*earlier.missing, *((first, end) for first, end in detail.get("missing", ()))]
                )
            ),
        )
        if detail["last_hole"] != NO_HOLE:
            holes.append((partition, detail["last_hole"]))
        as_of_ms = max(as_of_ms, detail["last_ts_ms"])
        open_commits += detail["open_commits"]
        rows += detail["kept"]
        markers += detail["control"]
    return replace(
        before,
        as_of_ms=as_of_ms,
        partitions=partitions,
        open_commits=open_commits,
        rows=rows,
        markers=markers,
        holes=tuple(holes),
    )


def _with_late(landed: PartitionLanded, detail: Mapping[str, Any]) -> PartitionLanded:
    """After a unit that looked for what was missed."""
    filled = tuple((first, end) for first, end in detail["filled"])
    missing = widest((first, end) for first, end in detail["missing"])
    return replace(landed, missing=tuple(missing), filled=tuple(sorted({*landed.filled, *filled})))


def remembered(landing: Landing, files: Iterable[LogFile], units: Iterable[Unit]) -> Landing:
    """The landing, with what need not be searched again for what was missed, and what each log is
    known by.

    files: all there are.
    units: those that were read.
    """
    by_partition: dict[int, list[LogFile]] = {}
    for file in files:
        by_partition.setdefault(file.offsets_partition, []).append(file)
    read: dict[int, list[UnitFile]] = {}
    for unit in units:
        read.setdefault(unit.offsets_partition, []).extend(unit.files)
    watermarks = landing.watermarks()
    seen = {
        partition: seen_after(
            by_partition.get(partition, ()), watermarks[partition], read.get(partition, ())
        )
        for partition in landing.partitions
    }
    marks = marks_of(units)
    after = {
        partition: replace(each, seen=seen[partition], mark=marks.get(partition, each.mark))
        for partition, each in landing.partitions.items()
    }
    return replace(landing, partitions=after)
