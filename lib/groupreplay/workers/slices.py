"""Replay of one slice: all groups of one hash bucket, one after another, each in the order of its
partition's log.

This is the function that the grouped map runs, in its iterator form: rows come in batches, one
machine lives at a time, and facts leave as soon as there are enough of them. So memory is one batch
and one group's state, however large the group is.

Rows come sorted by (group_id, offsets_partition, offset); Spark promises no order, so it is
checked. A group's state from the night before is its first row: offset STATE_OFFSET, encoding
STATE_ENCODING, the state as value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.entries import Entry
from groupreplay.replay.facts import Anomaly, Fact
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.rules.rule_table import OTHER_RULES
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from groupreplay.workers.fact_frames import RAW_BYTES_KEPT, REPLAYED, Counts, GroupState, Undecoded
from groupreplay.workers.packed import PackedFacts
from groupreplay.workers.task import worker_task

STATE_OFFSET: Final = -1
STATE_ENCODING: Final = "state"
JSON_ENCODING: Final = "json"
ENDED_ENCODING: Final = "ended state"
"""Encoding of a state whose log is no more: the group's rows end unobserved, and records that
follow are of the log that took its place.
"""

INPUT: Final = (
    "group_id",
    "offsets_partition",
    "offset",
    "ts_ms",
    "leader_epoch",
    "batch_base_offset",
    "last_hole",
    "encoding",
    "key",
    "value",
)
"""Columns of the rows, beside `slice`."""

ROWS_AT_ONCE: Final = 2_500
"""After so many rows of input the machine's facts are taken: a row of a group of thousands of
members can give thousands of them.
"""

FRAME_ROWS: Final = 20_000
"""Facts leave when there are so many: 5,000 to 50,000 cost the same, and memory grows with it."""

_tuple: Final = tuple.__new__
"""Makes an Entry for a third of the price of calling it; there is one a row."""


class LogIncarnations(NamedTuple):
    """How often the offsets topic had been created again when a log began, by partition.

    now: partition -> this number for the log that the night reads; 0 where it is missing.
    ended: partition -> this number for the log that the states are of, where that is another.
    """

    now: Mapping[int, int] = {}
    ended: Mapping[int, int] = {}


FIRST_LOGS: Final = LogIncarnations()
"""Logs of a topic that was never created again."""


class SliceReplay:
    """Rows in, facts out (`facts`).

    names: topic id -> name as a topics source gave it.
    """

    def __init__(self, names: Mapping[str, str], logs: LogIncarnations = FIRST_LOGS) -> None:
        self.facts = PackedFacts(REPLAYED)
        self._names = names
        self._logs = logs
        self._group_id: str | None = None
        self._partition = -1
        self._offset = STATE_OFFSET - 1
        self._machine: GroupReplay | None = None
        self._first: Entry | None = None
        self._restored: bytes | None = None
        self._has_ended = self._has_lost = False
        self._lives: list[tuple[int, Entry | None]] = []
        self._counts: dict[int, Counts] = {}
        self._counted = Counts(offsets_partition=-1)

    def feed(self, frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
        """Replays one batch; yields facts, packed, when there are enough of them."""
        columns = [frame[name].tolist() for name in INPUT]
        for start in range(0, len(frame), ROWS_AT_ONCE):
            self._replay_rows(
                zip(*(column[start : start + ROWS_AT_ONCE] for column in columns), strict=True)
            )
            if self._machine is not None:
                self._add(self._machine.take_facts(), self._logs.now)
            if self.facts.rows >= FRAME_ROWS:
                yield self.facts.take()

    def finish(self) -> Iterator[pd.DataFrame]:
        self._end_partition()
        self._end_group()
        self.facts.add([*self._counts.values()])
        if self.facts.rows:
            yield self.facts.take()

    def _replay_rows(self, rows: Iterator[tuple[Any, ...]]) -> None:
        # What a row needs is in local names, as far as it can be: there are millions of them.
        counted, machine, last = self._counted, self._machine, self._offset
        for (
            group_id,
            partition,
            offset,
            ts_ms,
            leader_epoch,
            batch_base_offset,
            last_hole,
            encoding,
            key,
            value,
        ) in rows:
            if group_id != self._group_id or partition != self._partition:
                self._begin(group_id, partition)
                counted, machine, last = self._counted, self._machine, STATE_OFFSET
            if offset < last:
                raise AssertionError(
                    f"rows of group {group_id!r}, partition {partition} are out of order: {offset}"
                    f" after {last}"
                )
            last = offset
            if offset == STATE_OFFSET:
                machine = self._restore(group_id, partition, encoding, value)
                continue
            outcome = decode(key, value) if encoding != JSON_ENCODING else decode_json(key, value)
            if isinstance(outcome, UnknownType):
                counted.unknown += 1
                continue
            if isinstance(outcome, Undecodable):
                counted.undecoded += 1
                self._quarantine(offset, outcome.reason, key, value, encoding)
                if outcome.commit is None:
                    machine = self._lose(offset)
                    continue
                outcome = outcome.commit
            else:
                counted.decoded += 1
                if type(outcome) is GroupMetadata and (reason := _streams_error(outcome)):
                    self._quarantine(offset, reason, key, value, encoding)
            entry = _tuple(
                Entry, (offset, ts_ms, leader_epoch, batch_base_offset, last_hole, outcome)
            )
            if self._first is None:
                machine = self._first_entry(entry)
            # There is one since the first entry.
            machine.replay(entry)  # type: ignore[union-attr]
        self._offset = last

    def _restore(self, group_id: str, partition: int, encoding: str, state: bytes) -> GroupReplay:
        """The group as the night before left it."""
        self._restored, self._has_ended = state, encoding == ENDED_ENCODING
        self._machine = GroupReplay.restore(group_id, partition, self._names, state)
        if self._has_ended:
            self._machine.end_log()
            self._add(self._machine.take_facts(), self._logs.ended)
        return self._machine

    def _add(self, facts: Sequence[Fact], logs: Mapping[int, int]) -> None:
        """Facts of the group and partition at hand.

        logs: partition -> log incarnation, `now` or `ended` of `LogIncarnations`.
        """
        log_incarnation = logs.get(self._partition)
        if log_incarnation:
            for fact in facts:
                fact.log_incarnation = log_incarnation
        self.facts.add(facts)

    def _first_entry(self, entry: Entry) -> GroupReplay:
        """The machine that is to take the first record of the night."""
        self._first = entry
        if self._machine is None:
            self._machine = GroupReplay(self._group_id or "", self._partition, self._names)
        return self._machine

    def _lose(self, offset: int) -> GroupReplay:
        """A record that cannot be decoded is a hole for its group."""
        if self._machine is None:
            self._machine = GroupReplay(self._group_id or "", self._partition, self._names)
        self._machine.lose(offset)
        self._has_lost = True
        return self._machine

    def _begin(self, group_id: str, partition: int) -> None:
        self._end_partition()
        if group_id != self._group_id:
            if self._group_id is not None and group_id <= self._group_id:
                raise AssertionError(
                    f"groups are out of order: {group_id!r} after {self._group_id!r}"
                )
            self._end_group()
        elif partition <= self._partition:
            raise AssertionError(
                f"partitions of group {group_id!r} are out of order: {partition} after"
                f" {self._partition}"
            )
        self._group_id, self._partition, self._offset = group_id, partition, STATE_OFFSET
        if partition not in self._counts:
            self._counts[partition] = Counts(offsets_partition=partition)
        self._counted = self._counts[partition]

    def _end_partition(self) -> None:
        machine = self._machine
        if self._first is None and self._restored is None:
            self._machine, self._has_lost = None, False  # nothing of the group was decoded, ever
            return
        if machine is None or self._group_id is None:
            return
        machine.flush()
        self._add(machine.take_facts(), self._logs.now)
        self._add(machine.open_facts(), self._logs.now)
        if self._first is not None or self._has_ended or self._has_lost:
            state = machine.state()
            if state != self._restored:
                self.facts.add(
                    [
                        GroupState(
                            group_id=self._group_id,
                            offsets_partition=self._partition,
                            state_bytes=state,
                        )
                    ]
                )
        self._lives.append((self._partition, None if self._restored is not None else self._first))
        self._machine = self._first = self._restored = None
        self._has_ended = self._has_lost = False

    def _end_group(self) -> None:
        """A group lives in one partition of the offsets topic; in two after a change of their
        number, or when logs of two clusters were mixed.
        """
        begun = sorted(
            (first.ts_ms, partition, first.offset)
            for partition, first in self._lives
            if first is not None
        )
        if len(self._lives) > 1 and self._group_id is not None:
            for ts_ms, partition, offset in begun[1:] if len(begun) == len(self._lives) else begun:
                self.facts.add([self._in_two_partitions(partition, offset, ts_ms)])
        self._lives = []

    def _in_two_partitions(self, partition: int, offset: int, ts_ms: int) -> Anomaly:
        others = ", ".join(str(other) for other, _ in self._lives if other != partition)
        rule, params = OTHER_RULES["GROUP_IN_TWO_PARTITIONS"], {"partitions": others}
        return Anomaly(
            group_id=self._group_id or "",
            incarnation=offset,
            log_incarnation=self._logs.now.get(partition) or None,
            offsets_partition=partition,
            from_offset=offset,
            to_offset=offset,
            is_final=True,
            rule=rule.name,
            severity=rule.severity,
            detected_at=ts_ms,
            evidence_offset=offset,
            detail_code="IN_TWO_PARTITIONS",
            detail_names=list(params),
            detail_values=list(params.values()),
        )

    def _quarantine(
        self, offset: int, reason: str, key: bytes, value: bytes | None, encoding: str
    ) -> None:
        """Keeps the row as one of `undecoded`."""
        raw = key + (value or b"")
        self.facts.add(
            [
                Undecoded(
                    group_id=self._group_id or "",
                    offsets_partition=self._partition,
                    offset=offset,
                    reason=reason,
                    raw=raw[:RAW_BYTES_KEPT],
                    raw_bytes=len(raw),
                    encoding=encoding,
                )
            ]
        )


def _streams_error(record: GroupMetadata) -> str | None:
    """Why user data of members of Kafka Streams was not decoded: one row for all of them. The
    record itself is replayed, and counted as decoded.
    """
    members = record.value.members if record.value is not None else ()
    errors = [one.streams_error for one in members if one.streams_error is not None]
    if not errors:
        return None
    how_many = "1 member" if len(errors) == 1 else f"{len(errors)} members"
    return f"streams user data of {how_many}, {errors[0]}"


def slice_replay(
    names: Mapping[str, str], logs: LogIncarnations = FIRST_LOGS
) -> Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """The function of the grouped map. Spark takes its iterator form by the type hints, and from a
    plain function only.
    """

    def replay_slice(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        with worker_task():
            replay = SliceReplay(names, logs)
            for frame in frames:
                yield from replay.feed(frame)
            yield from replay.finish()

    return replay_slice
