"""Replicas of one partition's log as one log, in offset order, a batch of each replica in memory.

* Batches that begin at one offset and have one CRC are one batch, read once.
* Where batches differ (one replica was compacted further, or the logs parted after a leader died)
  the records are compared one by one. Equal ones are duplicates. One that a single replica has
  belongs to the log. Different ones are a conflict, which the higher leader epoch wins.

Nothing depends on the order in which the files are given: replicas are ranked by encoding (bytes
before text), name and path.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.records.undecodable import Undecodable
from groupreplay.wire.segments.batch_records import parse_records
from groupreplay.wire.segments.batches import (
    BINARY,
    CONTROL,
    Batch,
    Conflict,
    Damage,
    Duplicates,
    Item,
    LogRecord,
)

_NEVER = 1 << 63


class Log(NamedTuple):
    """One stretch of log to merge.

    rank: breaks ties, the lowest wins.
    first_offset: no batch of it begins below (0: not known, it is opened at once).
    read: opens it and gives its items, batches in rising order and without overlap.
    """

    rank: tuple[str, ...]
    first_offset: int
    read: Callable[[], Iterator[Item]]


class _Cursor:
    """One log that is being read: its next batch, and within it the next record while batches are
    compared.
    """

    def __init__(self, log: Log) -> None:
        self.rank = log.rank
        self.items = iter(log.read())
        self.batch: Batch | None = None
        self.records: list[LogRecord] = []
        self.index = 0

    def advance(self) -> Iterator[Item]:
        """Moves to the next batch; what lies between (damage, late records) is handed on."""
        for item in self.items:
            if isinstance(item, Batch):
                self.batch = item
                return
            yield item
        self.batch = None

    def open(self) -> Iterator[Item]:
        """Parses the batch to be read record by record."""
        assert self.batch is not None
        self.records, fault = parse_records(self.batch)
        self.index = 0
        if fault is not None:
            yield Damage(self.batch.path, self.batch.position, 0, fault, self.batch.base_offset)


def merge(logs: Sequence[Log]) -> Iterator[Item]:
    """All items of all logs, batches in offset order, each record once."""
    return _Merge(logs).run()


class _Merge:
    def __init__(self, logs: Sequence[Log]) -> None:
        self._waiting = sorted(logs, key=lambda log: (log.first_offset, log.rank))
        self._cursors: list[_Cursor] = []

    def run(self) -> Iterator[Item]:
        while True:
            while self._waiting and self._waiting[0].first_offset <= self._lowest():
                yield from self._open_next()
            self._sort()
            if not self._cursors:
                return
            first = self._cursors[0]
            assert first.batch is not None
            limit = self._next_offset(first)
            if first.batch.last_offset < limit:
                yield from self._run_alone(first, limit)
            elif self._waiting and self._waiting[0].first_offset <= first.batch.last_offset:
                yield from self._open_next()
            else:
                yield from self._meet(first.batch)

    def _open_next(self) -> Iterator[Item]:
        cursor = _Cursor(self._waiting.pop(0))
        yield from cursor.advance()
        self._cursors.append(cursor)

    def _lowest(self) -> int:
        return min(
            (cursor.batch.base_offset for cursor in self._cursors if cursor.batch is not None),
            default=_NEVER,
        )

    def _sort(self) -> None:
        live = [cursor for cursor in self._cursors if cursor.batch is not None]
        live.sort(
            key=lambda cursor: (cursor.batch.base_offset if cursor.batch else _NEVER, cursor.rank)
        )
        self._cursors = live

    def _next_offset(self, first: _Cursor) -> int:
        """Where the next log but the first may begin."""
        others = (
            cursor.batch.base_offset
            for cursor in self._cursors
            if cursor is not first and cursor.batch is not None
        )
        return min(
            min(others, default=_NEVER), self._waiting[0].first_offset if self._waiting else _NEVER
        )

    def _run_alone(self, cursor: _Cursor, limit: int) -> Iterator[Item]:
        """The common case: no other replica has anything below `limit`."""
        assert cursor.batch is not None
        yield cursor.batch
        for item in cursor.items:
            if type(item) is Batch and item.last_offset >= limit:
                cursor.batch = item
                return
            yield item
        cursor.batch = None

    def _meet(self, first: Batch) -> Iterator[Item]:
        """Several replicas have batches here: the same one, or not."""
        involved = [
            cursor
            for cursor in self._cursors
            if cursor.batch is not None and cursor.batch.base_offset <= first.last_offset
        ]
        if not _are_one(involved):
            yield from self._compare(first)
            return
        others = (
            cursor.batch.base_offset
            for cursor in self._cursors
            if cursor.batch is not None and cursor not in involved
        )
        limit = min(
            min(others, default=_NEVER), self._waiting[0].first_offset if self._waiting else _NEVER
        )
        involved.sort(key=lambda cursor: cursor.rank)
        yield from self._run_together(involved, limit)

    def _run_together(self, cursors: list[_Cursor], limit: int) -> Iterator[Item]:
        """As long as all these have the same batches, and no other log has anything below
        `limit`.
        """
        best, others, records = cursors[0], len(cursors) - 1, 0
        batch = best.batch
        while batch is not None:
            yield batch
            records += batch.record_count
            for cursor in cursors:
                for item in cursor.items:
                    if type(item) is Batch:
                        cursor.batch = item
                        break
                    yield item
                else:
                    cursor.batch = None
            batch = best.batch
            if batch is None or batch.last_offset >= limit or not _are_one(cursors):
                break
        yield Duplicates(records * others)

    def _compare(self, first: Batch) -> Iterator[Item]:
        """Record by record, until every replica stands between two batches."""
        end = first.last_offset
        opened: list[_Cursor] = []
        run: list[LogRecord] = []
        owner = first
        while True:
            end = yield from self._open_reached(opened, end)
            if not opened:
                yield owner._replace(last_offset=end, data=run, start=-1, record_count=len(run))
                return
            offset = min(cursor.records[cursor.index].offset for cursor in opened)
            holders = [cursor for cursor in opened if cursor.records[cursor.index].offset == offset]
            winner = min(
                holders,
                key=lambda cursor: (-cursor.batch.leader_epoch if cursor.batch else 0, cursor.rank),
            )
            assert winner.batch is not None
            record = winner.records[winner.index]
            if winner.batch is not owner:
                if run:
                    yield owner._replace(
                        last_offset=run[-1].offset, data=run, start=-1, record_count=len(run)
                    )
                owner, run = winner.batch, []
            run.append(record)
            yield from _verdicts(winner, holders)
            for cursor in holders:
                cursor.index += 1

    def _open_reached(self, opened: list[_Cursor], end: int) -> Generator[Item, None, int]:
        """Closes batches that are used up, opens those that begin at or below `end`; returns the
        new end.
        """
        while True:
            for cursor in opened[:]:
                if cursor.index >= len(cursor.records):
                    opened.remove(cursor)
                    yield from cursor.advance()
            while self._waiting and self._waiting[0].first_offset <= end:
                yield from self._open_next()
            reached = [
                cursor
                for cursor in self._cursors
                if cursor.batch is not None
                and cursor not in opened
                and cursor.batch.base_offset <= end
            ]
            if not reached:
                return end
            for cursor in reached:
                assert cursor.batch is not None
                yield from cursor.open()
                end = max(end, cursor.batch.last_offset)
                opened.append(cursor)


def _are_one(cursors: list[_Cursor]) -> bool:
    """Do all stand before the same batch?"""
    first = cursors[0].batch
    for cursor in cursors:
        batch = cursor.batch
        if batch is None or first is None or batch.crc != first.crc:
            return False
        if batch.base_offset != first.base_offset or batch.last_offset != first.last_offset:
            return False
    return True


def _verdicts(winner: _Cursor, holders: list[_Cursor]) -> Iterator[Item]:
    for loser in holders:
        if loser is winner or loser.batch is None or winner.batch is None:
            continue
        record = winner.records[winner.index]
        if _same(winner.batch, record, loser.batch, loser.records[loser.index]):
            yield Duplicates(1)
        else:
            yield Conflict(
                record.offset,
                record.ts_ms,
                winner.batch.leader_epoch,
                loser.batch.leader_epoch,
                loser.batch.path,
            )


def _same(a: Batch, one: LogRecord, b: Batch, other: LogRecord) -> bool:
    """Equal bytes; across bytes and text, equal meaning (text that the tool could not decode says
    nothing against the bytes).
    """
    if a.attributes & CONTROL != b.attributes & CONTROL:
        return False
    if a.encoding == b.encoding:
        return one.key == other.key and one.value == other.value
    if a.attributes & CONTROL:
        return (one.key or b"")[2:4] == (other.key or b"")[2:4]
    if a.encoding != BINARY:
        one, other = other, one
    said = decode_json(other.key or b"", other.value)
    return isinstance(said, Undecodable) or decode(one.key or b"", one.value) == said
