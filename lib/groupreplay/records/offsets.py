"""Committed offsets: K0 and K1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(slots=True)
class OffsetCommitValue:
    """offset: committed position; None where the value could not be decoded.
    commit_timestamp_ms: -1 where it could not be decoded.
    topic_id: only in version 4 (4.1+), and not always there.
    """

    offset: int | None
    commit_timestamp_ms: int
    topic_id: str | None = None


@dataclass(slots=True)
class OffsetCommit:
    """K0 and K1. A tombstone: the offset expired, or it, its topic or its group was deleted."""

    KEY_TYPE: ClassVar[int] = 1
    group_id: str
    topic: str
    partition: int
    value: OffsetCommitValue | None
