"""The exact reduction of commits, and transactions: nine tenths of a real topic never leave this
loop.

A commit (K0, K1 with a value) is kept if it is the first or the last of its key between two other
records of its group. Tombstones of K0 and K1 and all other types are such other records, and the
edges of a unit end a stretch too, as does another leader epoch. So every first commit after a
change, every last one before a change and the last at the end survive; the rest is counted.

A commit inside a transaction counts from the transaction's COMMIT marker on: it stands at the
marker's offset, and of several of one key within the transaction only the last was ever visible
(OffsetMetadataManager, pendingTransactionalOffsets). Without its marker in the unit it is kept
whole, as OPEN_COMMIT; the first marker of each producer is a row of its own, since it may end a
transaction that began in an earlier unit. A later commit of its key, or its tombstone, takes an
open commit out (`open_commits`).

One dict holds, for every key seen since its group's last other record, the latest commit that is
not kept yet, or KEPT (`stretches`). A record costs a look-up in it; its value is only looked at
when the row is kept.
"""

from __future__ import annotations

from groupreplay.wire.records.primitives import Malformed, read_varlong
from groupreplay.wire.segments.batch_records import parse_records
from groupreplay.wire.segments.batches import (
    CONTROL,
    TRANSACTIONAL,
    Batch,
    Damage,
    LogRecord,
)
from groupreplay.wire.segments.holes import MISSING_MAX, widest
from groupreplay.wire.segments.raw_rows import OPEN_COMMIT, RECORD, RowBuffer
from groupreplay.wire.segments.record_batch import OFFSET_LIMIT
from groupreplay.wire.segments.reduction.open_commits import OpenCommits
from groupreplay.wire.segments.reduction.record_keys import (
    KEY_BYTES_KEPT,
    group_of,
    hides_group,
    is_commit_key,
    names_of,
)
from groupreplay.wire.segments.reduction.stretches import Latest, Stretches
from groupreplay.wire.segments.row_origins import Origin, origin_of, value_in

_INT64_MAX = (1 << 63) - 1


class CommitReducer:
    """Takes the batches of one unit in offset order and puts the rows that are kept into a
    RowBuffer.

    start_offset, end_offset: bounds of the unit, NO_BOUND for none. Records below the start are
        passed over (`below`), so are those at or above the end: a batch that spans the edge of two
        units is shared out between them.
    next_offset: one past the last offset seen; before the first the start, NO_BOUND for none.
    missing: [first, end) of the widest holes, in order.
    """

    def __init__(self, buffer: RowBuffer, start_offset: int, end_offset: int) -> None:
        self._buffer = buffer
        self._start_offset = start_offset
        self._end_offset = end_offset if end_offset >= 0 else OFFSET_LIMIT
        self._stretches = Stretches()
        self._open = OpenCommits()
        self._marked: set[int] = set()
        self._leader_epoch: int | None = None
        self.next_offset = start_offset
        self.last_hole = -1
        self.records = self.kept = self.control = self.aborted = self.open_commits = (
            self.unusable
        ) = self.holes = self.below = 0
        self.missing: list[tuple[int, int]] = []

    def counts(self) -> dict[str, int]:
        """What became of the records. records = kept + reduced + aborted + open_commits + unusable;
        the others stand beside them.
        """
        names = (
            *("records", "kept", "control", "aborted", "open_commits", "unusable", "holes"),
            *("last_hole", "below"),
        )
        counts: dict[str, int] = {name: getattr(self, name) for name in names}
        counts["reduced"] = (
            self.records - self.kept - self.aborted - self.open_commits - self.unusable
        )
        return counts

    def feed(self, batch: Batch) -> None:
        """Takes the next batch."""
        base_offset = batch.base_offset
        if self.next_offset < 0:
            self.next_offset = base_offset
        if batch.leader_epoch != self._leader_epoch:
            self._leader_epoch = batch.leader_epoch
            self._end_stretches()
        if (
            batch.start < 0
            or batch.attributes & (CONTROL | TRANSACTIONAL)
            or batch.record_count != batch.last_offset - base_offset + 1
            or base_offset < self._start_offset
            or batch.last_offset >= self._end_offset
        ):
            self._feed_parsed(batch)
            return
        if base_offset != self.next_offset:
            self._pass_hole(base_offset)
        fault = self._feed_whole(batch)
        self.records += self.next_offset - base_offset
        if fault is not None or self.next_offset <= batch.last_offset:
            self._add_fault(batch, fault or "fewer records than the batch says")
            self._pass_hole(batch.last_offset + 1)

    # ------------------------------------------------------------ the hot path

    def _feed_whole(self, batch: Batch) -> str | None:
        """A plain batch without holes, straight from its bytes (layout:
        `record_batch._parse_record`). Moves next_offset past what it read.
        """
        data, pos = batch.data, batch.start
        assert isinstance(data, bytes)
        origin = origin_of(batch, self.last_hole, True)
        pending, size, offset, zigzag_delta = self._stretches.plain, len(data), batch.base_offset, 0
        seen_before = pending.get
        try:
            while pos < size:
                length = data[pos]
                pos += 1
                if length > 0x7F:
                    more = data[pos]
                    length = length & 0x7F | more << 7
                    if more > 0x7F:
                        length, pos = read_varlong(data, pos - 1)
                        length <<= 1
                    else:
                        pos += 1
                end = pos + (length >> 1)
                ts_delta = data[pos + 1]
                if ts_delta > 0x7F:
                    ts_delta, pos = read_varlong(data, pos + 1)
                else:
                    ts_delta = ts_delta >> 1 ^ -(ts_delta & 1)
                    pos += 2
                if zigzag_delta < 0x80 and data[pos] == zigzag_delta:
                    pos += 1
                else:
                    delta, pos = read_varlong(data, pos)
                    if delta << 1 != zigzag_delta:
                        break
                key_size = data[pos]
                pos += 1
                if key_size > 0x7F:
                    key_size, pos = read_varlong(data, pos - 1)
                    key_size <<= 1
                key_end = pos + (key_size >> 1)
                if key_end >= end:
                    break
                key = data[pos:key_end]
                if seen_before(key) is None or data[key_end] == 1:
                    self.next_offset = offset
                    value = value_in(data[key_end:end])
                    self._meet(origin, offset, ts_delta, key, value, pending)
                else:
                    pending[key] = (origin, offset, ts_delta, data[key_end:end])
                pos = end
                offset += 1
                zigzag_delta += 2
        except (IndexError, Malformed):
            pos = -1
        self.next_offset = min(offset, batch.last_offset + 1)
        return (
            None
            if pos == size and offset == self.next_offset
            else f"record {offset - batch.base_offset} of the batch cannot be read"
        )

    # ------------------------------------------------------------ everything else

    def _feed_parsed(self, batch: Batch) -> None:
        """Batches with holes, of transactions, of text, or that begin below the start."""
        records, fault = parse_records(batch)
        origin = origin_of(batch, self.last_hole, False)
        base_ts_ms, is_plain, pending = (
            origin[0],
            not batch.attributes & (CONTROL | TRANSACTIONAL),
            self._stretches.plain,
        )
        for record in records:
            offset, ts_ms, key, value = record
            if offset != self.next_offset:
                if offset < self._start_offset:
                    self.below += 1
                    continue
                self._pass_hole(min(offset, self._end_offset))
                origin = origin_of(batch, self.last_hole, False)
            if offset >= self._end_offset:
                break
            self.next_offset = offset + 1
            if is_plain and value is not None and key in pending:
                self.records += 1
                pending[key] = (origin, offset, ts_ms - base_ts_ms, value)
            elif batch.attributes & CONTROL:
                self.control += 1
                self._end_transaction(origin, record)
            else:
                self.records += 1
                self._take(origin, record, is_plain)
        if fault is not None:
            self._add_fault(batch, fault)
        elif batch.attributes & CONTROL and not records:
            self._pass_marker(batch)
        self._pass_hole(min(batch.last_offset + 1, self._end_offset))

    def _pass_marker(self, batch: Batch) -> None:
        """A batch whose marker the cleaner took: it held nothing of a group, so it is no hole."""
        end = min(batch.last_offset + 1, self._end_offset)
        self._pass_hole(min(batch.base_offset, end))
        self.control += max(0, end - self.next_offset)
        self.next_offset = max(self.next_offset, end)

    def _take(self, origin: Origin, record: LogRecord, is_plain: bool) -> None:
        """Any record but a control record; not plain where its batch was of a transaction."""
        key, value, latest = record.key or b"", record.value, self._stretches.plain
        ts_delta = record.ts_ms - origin[0]
        if not is_plain and value is not None and is_commit_key(key, origin[6]):
            self._open.add((origin, record.offset, ts_delta, key, value))
            self._stretches.watch(key)
        elif value is not None and key in latest:
            latest[key] = (origin, record.offset, ts_delta, value)
        else:
            self._meet(origin, record.offset, ts_delta, key, value, latest)

    def _meet(
        self,
        origin: Origin,
        offset: int,
        ts_delta: int,
        key: bytes,
        value: bytes | Malformed | None,
        latest: Latest,
    ) -> None:
        """A record that is kept at sight: the first commit of a stretch, or one that ends the
        stretches of its group. Also any commit of a watched key, which may outdo an open one.
        latest: of the stretches that a commit is of.
        """
        if isinstance(value, Malformed):
            self._add_unusable(origin, offset, key)
            return
        encoding = origin[6]
        group, is_commit = (
            names_of(key, encoding)
            if len(key) <= KEY_BYTES_KEPT
            else (group_of(key, encoding), is_commit_key(key, encoding))
        )
        if group is not None:
            if key in self._open.keys:
                own_offset = origin[8] if origin[8] >= 0 else offset
                self.aborted += self._open.outdo(key, encoding, own_offset)
            if is_commit and value is not None:
                last = (*origin[:7], False, origin[8]), offset, ts_delta, value
                if not self._stretches.meet(group, key, latest, last, key in self._open.keys):
                    return
            else:
                self._end_stretch(group)
        self._add_row(RECORD, origin, offset, ts_delta, group or "", key, value)
        self.kept += 1
        if group is None and hides_group(key, encoding):
            self.last_hole = offset

    def _end_stretches(self) -> None:
        """Keeps the last commits of all groups."""
        for group in self._stretches.groups():
            self._end_stretch(group)

    def _end_stretch(self, group: str) -> None:
        """Keeps the last commits of a group."""
        for key, last in self._stretches.end(group):
            self._keep(group, key, *last)

    def _keep(
        self,
        group: str,
        key: bytes,
        origin: Origin,
        offset: int,
        ts_delta: int,
        tail: bytes | None,
    ) -> None:
        is_raw = origin[7]
        value = value_in(tail) if is_raw and tail is not None else tail
        if isinstance(value, Malformed):
            self._add_unusable(origin, offset, key)
            return
        self._add_row(RECORD, origin, offset, ts_delta, group, key, value)
        self.kept += 1

    def _end_transaction(self, origin: Origin, marker: LogRecord) -> None:
        """A control record. Its key is int16 version, int16 type: 0 ABORT, 1 COMMIT. Other types
        end nothing.
        """
        kind = int.from_bytes((marker.key or b"")[2:4], "big")
        if len(marker.key or b"") < 4 or kind > 1:
            return
        producer_id = origin[5]
        if producer_id not in self._marked:
            self._marked.add(producer_id)
            self._buffer.add_marker(origin, marker.offset, marker.ts_ms, kind == 1)
        commits = self._open.end(producer_id)
        if kind == 0:
            self.aborted += len(commits)
            return
        last = {(key, one[6]): (offset, value) for one, offset, _, key, value in commits}
        latest, offset, ts_delta = self._stretches.marked, marker.offset, marker.ts_ms - origin[0]
        for (key, encoding), (own_offset, value) in last.items():
            of_commit = (*origin[:6], encoding, False, own_offset)
            if key in latest:
                latest[key] = (of_commit, offset, ts_delta, value)
            else:
                self._meet(of_commit, offset, ts_delta, key, value, latest)

    def finish(self) -> None:
        """The end of the unit: keeps what is pending. Where the end is known, offsets up to it that
        were not seen are holes.
        """
        if self._end_offset < OFFSET_LIMIT and self.next_offset >= 0:
            seen = self.next_offset
            self._pass_hole(self._end_offset)
            self.next_offset = seen
        self._end_stretches()
        for origin, offset, ts_delta, key, value in self._open.take():
            group = group_of(key, origin[6]) or ""
            self._add_row(OPEN_COMMIT, origin, offset, ts_delta, group, key, value)
            self.open_commits += 1

    # ------------------------------------------------------------ rows and holes

    def _pass_hole(self, offset: int) -> None:
        """Offsets from the next one to `offset` (exclusive) are missing."""
        if offset > self.next_offset:
            self.holes += offset - self.next_offset
            self.missing.append((self.next_offset, offset))
            if len(self.missing) >= 2 * MISSING_MAX:
                self.missing = widest(self.missing)
            self.last_hole = offset - 1
            self.next_offset = offset

    def _add_row(
        self,
        kind: str,
        origin: Origin,
        offset: int,
        ts_delta: int,
        group: str,
        key: bytes,
        value: bytes | None,
    ) -> None:
        base_ts_ms, ts_scale, leader_epoch, base_offset, last_hole, producer_id = origin[:6]
        encoding, own_offset = origin[6], origin[8]
        if self.last_hole < offset:  # its batch may have begun before the hole
            last_hole = self.last_hole
        ts_ms = base_ts_ms + ts_delta * ts_scale
        if not -_INT64_MAX <= ts_ms <= _INT64_MAX:
            ts_ms = -1
        self._buffer.rows.append(
            (
                kind,
                offset,
                ts_ms,
                leader_epoch,
                base_offset,
                last_hole,
                encoding,
                group,
                key,
                value,
                producer_id,
                None if own_offset < 0 else f'{{"own_offset":{own_offset}}}',
            )
        )
        self._buffer.size += len(key) + len(value or b"") + 64

    def _add_unusable(self, origin: Origin, offset: int, key: bytes) -> None:
        self.unusable += 1
        self.last_hole = max(self.last_hole, offset)
        self._buffer.add_damage(
            Damage("", -1, 0, "value does not fit into its record", offset, key), origin[4]
        )

    def _add_fault(self, batch: Batch, fault: str) -> None:
        raw = batch.data[batch.start :] if isinstance(batch.data, bytes) else b""
        self._buffer.add_damage(
            Damage(batch.path, batch.position, 0, fault, batch.base_offset, raw), self.last_hole
        )
