"""Nights over growing files, in pure Python: what the product plans, lands, carries and tells.

Planning, reading and replay are the product's own. Only what Spark does between them is done here
again: rows get the holes of earlier units, and commits in transactions find the marker that a later
unit or night landed (night/frames/transactions.py, night/frames/replay.py).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.night.landing.landed_records import after_units
from groupreplay.records.entries import Entry
from groupreplay.replay.facts import Fact, TopicSeen
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.sources.planning import plan_units
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from groupreplay.wire.segments.raw_rows import MARKER, OPEN_COMMIT, RECORD, UNIT
from groupreplay.wire.segments.read_unit import read_unit
from groupreplay.wire.segments.units import Unit
from groupreplay.workers.codecs import Codecs
from tests.simulator.growing import GrowingFiles, PartitionLog
from tests.support.replaying import FactKey, fact_keys


class GroupKey(NamedTuple):
    """A group in one partition of the offsets topic."""

    offsets_partition: int
    group_id: str


class Raw(NamedTuple):
    """A row of `raw_records`. own_offset: where a commit in a transaction stood itself."""

    offset: int
    own_offset: int
    ts_ms: int
    leader_epoch: int
    batch_base_offset: int
    last_hole: int
    key: bytes
    value: bytes | None

    def entry(self) -> Entry:
        record = decode(self.key, self.value)
        assert not isinstance(record, (Undecodable, UnknownType)), (self.offset, record)
        place = (self.offset, self.ts_ms, self.leader_epoch, self.batch_base_offset)
        return Entry(*place, self.last_hole, record)


@dataclass(slots=True)
class Transactions:
    """Of one partition's log: what waits for its marker. open: producer -> commits, in order."""

    open: dict[int, list[tuple[str, Raw]]] = field(default_factory=lambda: defaultdict(list))

    def settle(self, rows: Sequence[tuple[str, str, Raw, int, str | None]]) -> dict[str, list[Raw]]:
        """Takes one night's rows (kind, group, row, producer, detail); group -> those to replay."""
        found: dict[str, list[Raw]] = defaultdict(list)
        for kind, group_id, raw, producer_id, detail in sorted(rows, key=_place):
            if kind == RECORD:
                own_offset = json.loads(detail or "{}").get("own_offset", raw.offset)
                self._outdo(raw.key, own_offset)
                found[group_id].append(raw)
            elif kind == OPEN_COMMIT:
                self.open[producer_id].append((group_id, raw))
            elif kind == MARKER:
                commits = self.open.pop(producer_id, [])
                if not json.loads(detail or "{}")["committed"]:
                    continue
                # Of several commits of one key in a transaction only the last was ever visible.
                last = {commit.key: (group, commit) for group, commit in commits}
                for group, commit in last.values():
                    self._outdo(commit.key, commit.offset)
                    found[group].append(_at_marker(commit, raw))
        return found

    def _outdo(self, key: bytes, own_offset: int) -> None:
        """A record that counts takes out what is open of its key and was written before it."""
        for commits in self.open.values():
            commits[:] = [
                (group, each)
                for group, each in commits
                if each.key != key or each.offset > own_offset
            ]


def _place(row: tuple[str, str, Raw, int, str | None]) -> tuple[int, bool]:
    """Commits whose marker is in their own unit stand at its offset, and were written later than
    open ones.
    """
    return row[2].offset, row[0] == MARKER


def _at_marker(commit: Raw, marker: Raw) -> Raw:
    return marker._replace(
        own_offset=commit.offset,
        batch_base_offset=marker.offset,
        key=commit.key,
        value=commit.value,
    )


@dataclass(slots=True)
class Nights:
    """Night after night over the same files. told: of every group the facts that became final."""

    files: GrowingFiles
    names: Mapping[str, str]
    landing: RecordsLanding = field(default_factory=RecordsLanding)
    states: dict[GroupKey, bytes] = field(default_factory=dict)
    transactions: dict[int, Transactions] = field(default_factory=lambda: defaultdict(Transactions))
    told: dict[GroupKey, list[Fact]] = field(default_factory=lambda: defaultdict(list))

    def run(self, sizes: Mapping[PartitionLog, int]) -> dict[GroupKey, list[Fact]]:
        """One night; gives the facts that are open after it."""
        planned = plan_units(self.files.at(sizes), self.landing.watermarks)
        # A unit with holes looks for what came late: here nothing does.
        units = [unit for unit in planned if not unit.holes]
        rows: dict[int, list[tuple[str, str, Raw, int, str | None]]] = defaultdict(list)
        details: list[tuple[int, dict[str, Any]]] = []
        for unit in units:
            self._read(unit, rows[unit.offsets_partition], details)
        before = self.landing.next_night()
        self.landing = after_units(before, units, details, set())
        tonight: dict[GroupKey, list[Raw]] = {}
        for partition, of_log in rows.items():
            entries = self.transactions[partition].settle(
                self._with_holes(before, partition, of_log)
            )
            tonight |= {GroupKey(partition, group): own for group, own in entries.items()}
        return self._replay(tonight)

    def _read(
        self,
        unit: Unit,
        rows: list[tuple[str, str, Raw, int, str | None]],
        details: list[tuple[int, dict[str, Any]]],
    ) -> None:
        wanted = ("offset", "offset", "ts_ms", "leader_epoch", "batch_base_offset", "last_hole")
        for columns in read_unit(unit, self.files.open, Codecs()):
            raws = zip(*(columns[name] for name in (*wanted, "key", "value")), strict=True)
            others = (columns[name] for name in ("kind", "group_id", "producer_id", "detail"))
            for raw, kind, group_id, producer_id, detail in zip(raws, *others, strict=True):
                if kind == UNIT:
                    details.append((unit.offsets_partition, json.loads(detail)))
                else:
                    assert kind in (RECORD, OPEN_COMMIT, MARKER), (kind, detail)
                    rows.append((kind, group_id, Raw(*raw), producer_id, detail))

    def _with_holes(
        self,
        before: RecordsLanding,
        partition: int,
        rows: Iterable[tuple[str, str, Raw, int, str | None]],
    ) -> list[tuple[str, str, Raw, int, str | None]]:
        """A row knows the last hole of its own unit alone; here it learns of earlier ones too."""
        earlier = before.watermarks.get(partition)
        holes = [hole for place, hole in self.landing.holes if place == partition]
        holes += [earlier.last_hole] if earlier is not None else []
        found = []
        for kind, group_id, raw, producer_id, detail in rows:
            hole = max([raw.last_hole, *(each for each in holes if each < raw.offset)])
            found.append((kind, group_id, raw._replace(last_hole=hole), producer_id, detail))
        return found

    def _replay(self, tonight: Mapping[GroupKey, list[Raw]]) -> dict[GroupKey, list[Fact]]:
        still_open: dict[GroupKey, list[Fact]] = {}
        for group in sorted({*tonight, *self.states}):
            machine = self._machine(group)
            own = sorted(
                tonight.get(group, ()), key=lambda raw: (raw.offset, raw.own_offset, raw.key)
            )
            for raw in own:
                machine.replay(raw.entry())
            machine.flush()
            self.told[group] += machine.take_facts()
            still_open[group] = machine.open_facts()
            state = machine.state()
            self.states.pop(group, None)
            if state is not None:
                self.states[group] = state
        return still_open

    def _machine(self, group: GroupKey) -> GroupReplay:
        place = (group.group_id, group.offsets_partition, self.names)
        state = self.states.get(group)
        return GroupReplay(*place) if state is None else GroupReplay.restore(*place, state)


def facts_after(
    files: GrowingFiles, names: Mapping[str, str], nights: Sequence[Mapping[PartitionLog, int]]
) -> dict[GroupKey, list[Fact]]:
    """Of every group the final facts of all nights and the open ones of the last."""
    job, still_open = Nights(files, names), dict[GroupKey, list[Fact]]()
    for sizes in nights:
        still_open = job.run(sizes)
    for group, facts in still_open.items():
        job.told[group] += facts
    return dict(job.told)


def in_one_night(files: GrowingFiles, names: Mapping[str, str]) -> dict[GroupKey, list[Fact]]:
    return facts_after(files, names, [{log: len(log.data) for log in files.logs}])


def counted(facts: Mapping[GroupKey, Iterable[Fact]]) -> dict[GroupKey, Counter[FactKey]]:
    """Facts as things that can be compared, of the groups that have any.

    Of what a record taught of a topic's name only the name itself: a commit at the edge of a night
    is kept, and may teach it earlier (docs/measures.md).
    """
    found = {}
    for group, own in facts.items():
        bag = fact_keys(fact for fact in own if not isinstance(fact, TopicSeen))
        bag += Counter(
            {
                ("topic", f"{fact.topic_id} {fact.topic}"): 1
                for fact in own
                if isinstance(fact, TopicSeen)
            }
        )
        if bag:
            found[group] = bag
    return found
