"""The text of `kafka-dump-log --offsets-decoder` (3.8 to 4.3, with record metadata) to batches,
streamed line by line.

    Dumping /data/__consumer_offsets-7/00000000000000000000.log
    Log starting offset: 0
    baseOffset: 0 lastOffset: 1 count: 2 .. partitionLeaderEpoch: 0 isTransactional: false
    isControl: false .. CreateTime: 17.. .. isvalid: true
    | offset: 0 CreateTime: 17.. keySize: 35 valueSize: 45 sequence: 0 headerKeys: [] key: {..}
    payload: {..}

Records keep the JSON texts as key and value; a control record gets the key that its marker has in a
segment. Lines that are none of these are damage, except what the tool is known to print beside
them. Source: tools/src/main/java/org/apache/kafka/tools/DumpLogSegments.java.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.segments.batches import (
    APPEND_TIME,
    CONTROL,
    JSON,
    RAW_CAP,
    TRANSACTIONAL,
    Batch,
    Damage,
    Late,
    LogRecord,
)
from groupreplay.wire.segments.dump_sections import BATCH, LINE_BYTES_MAX, Section
from groupreplay.wire.segments.record_batch import OFFSET_LIMIT

TAIL_BYTES_MAX = 1 << 20
"""The tool says how many bytes it could not use at a segment's end: up to a batch of the topic's
own limit was being written, more was damaged.
"""

_RECORD = re.compile(
    rb"\| offset: (\d{1,18}) \w+: (-?\d{1,18}) keySize: -?\d+ valueSize: -?\d+ sequence: -?\d+"
    rb" headerKeys: \[[^\]]*\] ?"
)
_COMMIT = re.compile(
    rb"\| offset: (\d{1,18}) \w+: (-?\d{1,18}) keySize: \d+ valueSize: \d+ sequence: -?\d+"
    rb" headerKeys: \[\]"
    rb' key: (\{"type":"1","data":\{"group":"[^"\\]*","topic":"[^"\\]*","partition":\d+\}\})'
    rb" payload:"
    rb' (\{"version":"\d","data":\{"offset":-?\d+,(?:"leaderEpoch":-?\d+,)?"metadata":"[^"\\]*","commitTimestamp":-?\d+'
    rb'(?:,"topicId":"[\w-]{22}")?\}\})'
)
"""The plain form of nine lines in ten, whole and without escapes: one match splits and proves
it.
"""
_MARKER = re.compile(rb"endTxnMarker: (COMMIT|ABORT) coordinatorEpoch: -?\d+")
_OLD_BATCH = re.compile(rb"offset: \d+ position: \d+ .* magic: ([01]) ")
_TAIL = re.compile(rb"Found (\d{1,18}) invalid bytes at the end of ")
_BESIDE = re.compile(
    rb"(?:Log starting offset: \d+|Non-consecutive offsets in .*|  -?\d+ is followed by"
    rb" -?\d+|Ignoring unknown file .*|offset: \d+ position: \d+"
    rb"|timestamp: -?\d+ offset: -?\d+|.* passed sanity check\.|.* is empty\.|)\r?"
)
_MARKER_KEYS = {b"ABORT": b"\0\0\0\0", b"COMMIT": b"\0\0\0\1"}
_OTHER_CONTROL_KEY = b"\0\0\x7f\xff"
_SENTENCES = (
    "Unknown record type ",
    "Error at offset ",
    "offset_commit::",
    "group_metadata::",
    "unknown::",
)
"""What the tool prints in place of a key that it cannot decode, or printed before 3.8: kept as the
key, `dump_json` says what it means.
"""
_record = LogRecord._make
_scan_json = json.JSONDecoder().raw_decode


class DumpReader:
    """Reads one run of sections. Iterate it once.

    start_offset, end_offset: as in SegmentReader.
    open_stream: opens the text from its beginning; what keeps it from being read to its end is
        known since it was searched for sections, and told there.
    """

    def __init__(
        self,
        open_stream: Callable[[], ByteStream],
        path: str,
        sections: list[Section],
        start_offset: int,
        end_offset: int,
    ) -> None:
        self._open_stream = open_stream
        self._path = path
        self._sections = sections
        self._start_offset = start_offset
        self._end_offset = end_offset if end_offset >= 0 else OFFSET_LIMIT
        self._expected = 0
        self._batch: Batch | None = None
        self._records: list[LogRecord] = []
        self._broken = 0
        self._is_cut = False

    def __iter__(self) -> Iterator[Batch | Damage | Late]:
        stream = self._open_stream()
        try:
            yield from self._read(stream)
        finally:
            stream.close()

    def _read(self, stream: ByteStream) -> Iterator[Batch | Damage | Late]:
        position = 0
        for section in self._sections:
            stream.skip(section.position - position)
            position = section.end
            for at, line, is_cut in lines(stream, section.position, section.end):
                self._is_cut = is_cut
                if line is None:
                    yield Damage(
                        self._path,
                        at,
                        LINE_BYTES_MAX,
                        f"a line of more than {LINE_BYTES_MAX} bytes",
                    )
                    continue
                if line.startswith(b"|"):
                    if wrong := self._add_record(line, at):
                        yield wrong
                    continue
                if line.startswith(b"baseOffset: "):
                    yield from self._finish(whole=False)
                    if self._batch is None and self._expected >= self._end_offset:
                        return
                    if wrong := self._begin(line, at):
                        yield wrong
                elif wrong := self._beside(line, at):
                    yield wrong
        yield from self._finish(whole=True)

    def _damage(self, line: bytes, at: int, reason: str, offset: int = -1) -> Damage:
        return Damage(self._path, at, len(line) + 1, reason, offset, line[:RAW_CAP])

    # ------------------------------------------------------------ batches

    def _begin(self, line: bytes, at: int) -> Damage | None:
        """A batch line: what follows belongs to it."""
        self._batch, self._records, self._broken = None, [], 0
        parsed = BATCH.fullmatch(line)
        if parsed is None or int(parsed[5]) >= 1 << 31:
            return None if self._is_cut else self._damage(line, at, "batch line cannot be read")
        (
            base,
            last,
            count,
            producer,
            epoch,
            transactional,
            control,
            time_type,
            max_ts,
            magic,
            crc,
            valid,
        ) = parsed.groups()
        if magic != b"2":
            return self._damage(
                line, at, f"record format v{int(magic)} (magic {int(magic)}) is not read"
            )
        if valid != b"true":
            return self._damage(line, at, "checksum does not match", int(base))
        if not self._expected <= int(base) <= int(last) < OFFSET_LIMIT:
            return self._damage(
                line,
                at,
                f"base offset {int(base)}, last offset {int(last)}, where {self._expected} or more"
                " was due",
            )
        if int(base) >= self._end_offset:
            self._expected = int(base)
            return None
        attributes = (
            (TRANSACTIONAL if transactional == b"true" else 0)
            | (CONTROL if control == b"true" else 0)
            | (APPEND_TIME if time_type == b"LogAppendTime" else 0)
        )
        self._batch = Batch(
            int(base), int(last), int(epoch), int(crc), attributes, int(max_ts), int(max_ts), int(producer),
            0 if count == b"null" else int(count), self._records, -1, JSON, self._path, at,
        )  # fmt: skip
        return None

    def _finish(self, whole: bool) -> Iterator[Batch | Damage | Late]:
        """Hands on the batch under way.

        whole: no batch follows, so one that lacks lines was still being printed and is left for
            another time.
        """
        batch, self._batch = self._batch, None
        if batch is None:
            return
        if batch.last_offset < self._start_offset:
            self._expected = batch.last_offset + 1
            yield Late(batch.record_count)
            return
        missing = batch.record_count - len(self._records) - self._broken
        if missing > 0:
            if whole:
                return
            reason = f"{missing} of {batch.record_count} record lines are missing"
            if not self._records and not self._broken:
                reason = "record lines are missing (print with --offsets-decoder)"
            yield Damage(self._path, batch.position, 0, reason, batch.base_offset)
        self._expected = batch.last_offset + 1
        yield batch._replace(record_count=len(self._records))

    # ------------------------------------------------------------ records

    def _add_record(self, line: bytes, at: int) -> Damage | None:
        if plain := _COMMIT.fullmatch(line):
            offset, ts_ms, key, value = plain.groups()
            return self._place(_record((int(offset), int(ts_ms), key, value)), line, at)
        parsed = _RECORD.match(line)
        if parsed is None:
            if line.startswith((b"|  key: ", b"| key: ")):
                return self._broken_line(
                    line, at, "record metadata is missing (print without --skip-record-metadata)"
                )
            return self._broken_line(line, at, "record line cannot be read")
        offset, ts_ms = parsed.groups()
        content = _content(line[parsed.end() :])
        if isinstance(content, str):
            return self._broken_line(line, at, content, int(offset))
        return self._place(LogRecord(int(offset), int(ts_ms), *content), line, at)

    def _broken_line(self, line: bytes, at: int, reason: str, offset: int = -1) -> Damage | None:
        """A record line that cannot be used; the last line of a text that is still being written is
        none.
        """
        if self._is_cut:
            return None
        self._broken += 1
        return self._damage(line, at, reason, offset)

    def _place(self, record: LogRecord, line: bytes, at: int) -> Damage | None:
        """Puts a record into its batch. One whose batch line is lost may be part of an aborted
        transaction, so it is not believed.
        """
        batch, records = self._batch, self._records
        if batch is None:
            if self._expected >= self._end_offset:
                return None
            return self._broken_line(
                line, at, "record of a batch that cannot be used", record.offset
            )
        if (
            not max(batch.base_offset, records[-1].offset + 1 if records else 0)
            <= record.offset
            <= batch.last_offset
        ):
            return self._broken_line(
                line,
                at,
                f"offset {record.offset} in a batch of {batch.base_offset} to {batch.last_offset}",
                record.offset,
            )
        records.append(record)
        return None

    def _beside(self, line: bytes, at: int) -> Damage | None:
        """Everything that is neither batch nor record."""
        if line.startswith(b"Dumping ") or _BESIDE.fullmatch(line):
            return None
        if tail := _TAIL.match(line):
            size = int(tail[1])
            return (
                None
                if size <= TAIL_BYTES_MAX
                else self._damage(
                    line, at, f"kafka-dump-log could not use the last {size} bytes of the segment"
                )
            )
        if old := _OLD_BATCH.match(line):
            self._batch = None
            return self._damage(
                line, at, f"record format v{int(old[1])} (magic {int(old[1])}) is not read"
            )
        return None if self._is_cut else self._damage(line, at, "not a line of kafka-dump-log")


def lines(stream: ByteStream, position: int, end: int) -> Iterator[tuple[int, bytes | None, bool]]:
    """Lines up to `end`: position, the line without its end (None: above the bound), and whether it
    is a last one that lacks its end.
    """
    rest = b""
    overlong = False
    left = end - position
    while left > 0 and (chunk := stream.read(min(left, 1 << 20))):
        left -= len(chunk)
        parts = (rest + chunk).split(b"\n")
        rest = parts.pop()
        for part in parts:
            if overlong:
                overlong = False
            else:
                yield position, part[:-1] if part.endswith(b"\r") else part, False
            position += len(part) + 1
        if len(rest) > LINE_BYTES_MAX:
            if not overlong:
                yield position, None, False
            overlong = True
            position += len(rest)
            rest = b""
    if rest and not overlong:
        yield position, rest, True


def _content(rest: bytes) -> tuple[bytes | None, bytes | None] | str:
    """Key and payload of what follows a record's metadata, or what is wrong. A JSON text is
    scanned, never searched: it may hold any words.
    """
    if not rest.startswith(b"key: "):
        if rest.startswith(b"endTxnMarker: "):
            marker = _MARKER.fullmatch(rest)
            return (_MARKER_KEYS[marker[1]], None) if marker else "marker line is cut"
        if rest.startswith((b"LeaderChange", b"Snapshot", b"KRaft", b"controlType")):
            return _OTHER_CONTROL_KEY, None
        return (
            "record line is cut"
            if rest
            else "record line has no key (print with --offsets-decoder)"
        )
    text = str(rest[5:], "utf-8", "backslashreplace")
    if text.startswith(_SENTENCES):
        return text.encode("utf-8", "backslashreplace"), None
    if not text.startswith("{"):
        return "key is no JSON (print with --offsets-decoder)" if text else "record line is cut"
    try:
        _, key_end = _scan_json(text)
        if not text.startswith(" payload: ", key_end):
            return "record line is cut"
        payload = text[key_end + 10 :]
        if payload != "<DELETE>" and _scan_json(payload)[1] != len(payload):
            return "record line is cut"
    except (ValueError, RecursionError):
        return "record line is cut"
    key = text[:key_end].encode("utf-8", "backslashreplace")
    return key, None if payload == "<DELETE>" else payload.encode("utf-8", "backslashreplace")
