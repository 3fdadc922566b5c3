"""Whether a partition's log is the one that earlier nights read, or that of a topic created again:
the first batch of one segment shows it.

One header, 61 bytes, is read for each replica of a partition with news. The same batch has the same
CRC. Compaction, which rewrites segments, takes records out of batches: it changes neither base
offset nor leader epoch, and never makes a batch newer. So a batch at a known offset is of another
log if it is newer than it was, or of a lower leader epoch. So is a batch below the watermark that
is newer than everything that was read. An older copy of the log, or one that retention made
shorter, has none of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from groupreplay.sources.log_files import LogFile
from groupreplay.sources.planning import key_of
from groupreplay.sources.watermark import Mark, PartitionWatermark
from groupreplay.wire.segments.other_logs import (
    LEADER_EPOCH,
    LOWER_OFFSET_LATER,
    SAME_OFFSET_LATER,
    shown,
)
from groupreplay.wire.segments.record_batch import HEADER_BYTES, first_header
from groupreplay.wire.segments.units import SEGMENTS, Unit, UnitFile
from groupreplay.workers.files import read_start

CLOCKS_MS: Final = 60_000
"""How far the clocks of two leaders of one partition may be apart."""

THREADS: Final = 16


class OtherLog(NamedTuple):
    """A log that took the place of the one that was read.

    replicas: names of the replicas that hold it.
    found: what shows it (`wire.segments.other_logs`).
    """

    replicas: frozenset[str]
    found: str


def marks_of(units: Iterable[Unit]) -> dict[int, Mark]:
    """By partition, of the newest segment of its last unit: what the next night knows the log
    by.
    """
    newest: dict[int, UnitFile] = {}
    for unit in units:
        segments = [file for file in unit.files if file.kind == SEGMENTS]
        if segments and not unit.holes:
            newest[unit.offsets_partition] = max(
                segments, key=lambda file: (_name(file.path), file.path)
            )
    with ThreadPoolExecutor(THREADS) as threads:
        found = dict(
            zip(newest, threads.map(lambda file: _mark(file.path), newest.values()), strict=True)
        )
    return {partition: mark for partition, mark in found.items() if mark is not None}


def other_logs(
    files: Iterable[LogFile], watermarks: Mapping[int, PartitionWatermark]
) -> dict[int, OtherLog]:
    """Partition -> the other log that its files hold, where they do.

    watermarks: partition -> its watermark, for the partitions that have news, and for no other.
    """
    chosen = {
        (partition, replica): _telling(segments, watermarks[partition])
        for (partition, replica), segments in _by_replica(files).items()
        if partition in watermarks
    }
    with ThreadPoolExecutor(THREADS) as threads:
        marks = dict(
            zip(chosen, threads.map(lambda file: _mark(file.path), chosen.values()), strict=True)
        )
    found: dict[int, OtherLog] = {}
    for (partition, replica), mark in sorted(marks.items()):
        why = _difference(mark, watermarks[partition]) if mark is not None else ""
        if why:
            known = found.get(partition)
            found[partition] = (
                OtherLog(known.replicas | {replica}, known.found)
                if known
                else OtherLog(frozenset({replica}), why)
            )
    return found


def _difference(mark: Mark, watermark: PartitionWatermark) -> str:
    """What shows that a batch is of another log, "" where nothing does."""
    known = watermark.mark
    if known is not None and mark.base_offset == known.base_offset:
        if mark.crc == known.crc:
            return ""
        if mark.leader_epoch < known.leader_epoch:
            return shown(
                LEADER_EPOCH,
                offset=mark.base_offset,
                leader_epoch=mark.leader_epoch,
                known_leader_epoch=known.leader_epoch,
            )
        if mark.max_ts_ms > known.max_ts_ms:
            return shown(
                SAME_OFFSET_LATER,
                offset=mark.base_offset,
                ts_ms=mark.max_ts_ms,
                known_ts_ms=known.max_ts_ms,
            )
    if (
        mark.base_offset < watermark.next_position
        and 0 <= watermark.newest_ms < mark.max_ts_ms - CLOCKS_MS
    ):
        return shown(
            LOWER_OFFSET_LATER,
            offset=mark.base_offset,
            ts_ms=mark.max_ts_ms,
            next_offset=watermark.next_position,
            newest_ms=watermark.newest_ms,
        )
    return ""


def _telling(segments: list[LogFile], watermark: PartitionWatermark) -> LogFile:
    """The segment of the mark, else the one that reaches to the watermark or, where none does,
    comes nearest.
    """
    known = watermark.mark.segment if watermark.mark else None
    same = [file for file in segments if key_of(_name(file.path)) == known]
    below = [file for file in segments if file.base_offset < watermark.next_position]
    return (same or below[-1:] or segments[:1])[0]


def _by_replica(files: Iterable[LogFile]) -> dict[tuple[int, str], list[LogFile]]:
    found: dict[tuple[int, str], list[LogFile]] = {}
    for file in sorted(files, key=lambda file: (file.base_offset, file.path)):
        if file.kind == SEGMENTS:
            found.setdefault((file.offsets_partition, file.replica), []).append(file)
    return found


def _mark(path: str) -> Mark | None:
    """None where the file begins with no batch: whoever reads it reports what is wrong."""
    try:
        header = first_header(read_start(path, HEADER_BYTES))
    except (OSError, ValueError):
        return None
    return (
        Mark(
            key_of(_name(path)),
            header.base_offset,
            header.crc,
            header.leader_epoch,
            header.max_ts_ms,
        )
        if header is not None
        else None
    )


def _name(path: str) -> str:
    return path.partition("?")[0].rpartition("/")[2].removesuffix(".gz")
