"""How far a log was read: what planning, landing and history share of it, from night to night."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, NamedTuple

NO_TIME_MS: Final = -1
NO_HOLE: Final = -1


class Mark(NamedTuple):
    """The first batch of a segment, by which a partition's log is known again.

    segment: `planning.key_of` its name, without its folder.
    """

    segment: str
    base_offset: int
    crc: int
    leader_epoch: int
    max_ts_ms: int


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far one log was read.

    next_position: where to go on: an offset of a partition's log, or a byte of a text log, counted
        in its unpacked text.
    newest_ms: time of its newest record or line, NO_TIME_MS for none.
    """

    next_position: int
    _: KW_ONLY
    newest_ms: int = NO_TIME_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionWatermark(Watermark):
    """How far the log of one partition of the offsets topic was read.

    last_hole: greatest offset that the log lacks so far, NO_HOLE for none.
    files: fingerprint of the files of its last unit, "" where they are to be read again.
    missing: [first, end) of each stretch below next_position that was not found.
    seen: `planning.key_of` of segments that were searched for what is missing -> their size then.
    filled: [first, end) of each stretch that came late.
    filled_ms: first offset of such a stretch -> greatest record time of the hole that it was in;
        not of stretches that earlier releases landed.
    mark: first batch of its newest segment, None where it is not known.
    log_incarnation: how often the topic was created again since the first night.
    read_until_ms: when its end was taken, where a live topic was read to it and held nothing behind
        it; NO_TIME_MS else.
    """

    last_hole: int = NO_HOLE
    files: str = ""
    missing: tuple[tuple[int, int], ...] = ()
    seen: Mapping[str, int] = field(default_factory=dict)
    filled: tuple[tuple[int, int], ...] = ()
    filled_ms: Mapping[int, int] = field(default_factory=dict)
    mark: Mark | None = None
    log_incarnation: int = 0
    read_until_ms: int = NO_TIME_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWatermark(Watermark):
    """How far one log of a broker was read.

    size: bytes stored when it was read to its end, -1 where it is to be read again.
    last_seen: logical date of the last night in which the file was there, ISO.
    """

    size: int
    last_seen: str
