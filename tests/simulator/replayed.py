"""A recording's segments through the product's own parser and machines, in pure Python: what
workers do, without Spark."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from groupreplay.records.entries import Entry
from groupreplay.replay.facts import Fact, TopicSeen
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from groupreplay.wire.segments.raw_rows import DAMAGE, RECORD, UNIT
from groupreplay.wire.segments.read_unit import read_unit
from groupreplay.wire.segments.units import SEGMENTS, Unit, UnitFile
from groupreplay.workers.codecs import Codecs
from tests.support.replaying import replayed

F = TypeVar("F", bound=Fact)

_FOLDER: Final = re.compile(r"__consumer_offsets-(\d+)")


@dataclass(frozen=True, slots=True)
class Undecoded:
    """A row of `undecoded`. offset: -1 where unknown."""

    offsets_partition: int
    offset: int
    group_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """A row of `coverage`: numbers of records, and of offsets that are missing. first_at, last_at:
    None of a log without records."""

    input: str
    first_offset: int
    next_offset: int
    first_at: int | None
    last_at: int | None
    landed: int
    decoded: int
    unknown: int
    undecoded: int
    reduced: int
    control: int
    aborted: int
    open_commits: int
    duplicates: int
    holes: int
    late: int


@dataclass(slots=True)
class Replayed:
    """What a recording's log says. names: topic id -> name, given or learnt. given: topic id ->
    (name, partitions). as_of_ms: time of the newest record."""

    names: dict[str, str]
    given: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    as_of_ms: int = 0
    facts: dict[type[Fact], list[Fact]] = field(default_factory=lambda: defaultdict(list))
    undecoded: list[Undecoded] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)

    def of(self, kind: type[F]) -> Sequence[F]:
        """The facts of one kind."""
        return self.facts.get(kind, [])  # type: ignore[return-value]  # they are kept by their type


def replay_recording(recording: Path) -> Replayed:
    """Every fact of a recording, those of open rows included."""
    topics = json.loads((recording / "topics.json").read_text())
    given = {topic["topic_id"]: topic["topic"] for topic in topics}
    counted = {topic["topic_id"]: (topic["topic"], topic["partitions"]) for topic in topics}
    result = Replayed(given, counted)
    for unit in _units(recording):
        _replay_unit(unit, given, result)
    learnt = {fact.topic_id: fact.topic for fact in result.of(TopicSeen)}
    result.names = learnt | given
    return result


def _units(recording: Path) -> Iterator[Unit]:
    """One unit a partition: all its segments, of every broker."""
    files: dict[int, list[UnitFile]] = defaultdict(list)
    for path in sorted(recording.glob("segments/*/__consumer_offsets-*/*.log")):
        folder = _FOLDER.fullmatch(path.parent.name)
        assert folder is not None, path
        files[int(folder[1])].append(
            UnitFile(SEGMENTS, str(path), path.stat().st_size, path.parent.parent.name)
        )
    for partition, found in sorted(files.items()):
        yield Unit(partition, -1, -1, tuple(found), SEGMENTS, f"__consumer_offsets-{partition}")


def _open(path: str) -> BinaryIO:
    return Path(path).open("rb")


def _replay_unit(unit: Unit, given: Mapping[str, str], result: Replayed) -> None:
    partition = unit.offsets_partition
    entries: dict[str, list[Entry]] = defaultdict(list)
    told: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    for row in _rows(unit):
        kind, offset, detail = row["kind"], row["offset"], row["detail"]
        if kind == UNIT:
            told = json.loads(detail)
        elif kind == DAMAGE:
            counts["undecoded"] += 1
            result.undecoded.append(
                Undecoded(partition, offset, None, json.loads(detail)["reason"])
            )
        elif kind == RECORD:
            outcome = decode(row["key"], row["value"])
            if isinstance(outcome, UnknownType):
                counts["unknown"] += 1
            elif isinstance(outcome, Undecodable):  # Kafka writes none: nothing follows from it
                counts["undecoded"] += 1
                result.undecoded.append(
                    Undecoded(partition, offset, row["group_id"], outcome.reason)
                )
            else:
                counts["decoded"] += 1
                entry = Entry(
                    offset,
                    row["ts_ms"],
                    row["leader_epoch"],
                    row["batch_base_offset"],
                    row["last_hole"],
                    outcome,
                )
                entries[row["group_id"]].append(entry)
    result.as_of_ms = max(result.as_of_ms, told["last_ts_ms"])
    result.coverage.append(_coverage(unit, told, counts))
    for group_id, of_group in entries.items():
        of_group.sort(key=lambda entry: entry.offset)
        for fact in replayed(of_group, given, (), group_id, partition):
            result.facts[type(fact)].append(fact)


def _rows(unit: Unit) -> Iterator[dict[str, Any]]:
    for columns in read_unit(unit, _open, Codecs()):
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(columns, values, strict=True))


def _coverage(unit: Unit, told: Mapping[str, Any], counts: Mapping[str, int]) -> Coverage:
    outcomes = {name: counts[name] for name in ("decoded", "unknown", "undecoded")}
    alike = (
        "first_offset",
        "next_offset",
        "reduced",
        "control",
        "aborted",
        "open_commits",
        "duplicates",
        "holes",
        "late",
    )
    return Coverage(
        input=unit.input,
        first_at=told["first_ts_ms"] if told["first_ts_ms"] >= 0 else None,
        last_at=told["last_ts_ms"] if told["last_ts_ms"] >= 0 else None,
        landed=sum(outcomes.values()),
        **outcomes,
        **{name: told[name] for name in alike},
    )
