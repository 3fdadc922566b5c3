"""What decoding gives when it does not give a record: both are values, never exceptions (bad input
is a row, not a failure).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from groupreplay.records.offsets import OffsetCommit, OffsetCommitValue


@dataclass(frozen=True, slots=True)
class UnknownType:
    """A key type no release up to 4.4 writes. Brokers skip such records, so does the replay; they
    are counted.
    """

    key_type: int


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Bytes that cannot be read as any layout known for their type.

    reason: one clause in English, for people; not a contract.
    commit: what the key says, where it is that of a commit and the value alone cannot be read.
    """

    reason: str
    commit: OffsetCommit | None = None


def undecodable_value(
    key_type: int, record: Callable[..., Any], names: Sequence[Any], reason: str
) -> Undecodable:
    """A value that cannot be read. The key of a commit (K0, K1) still says what was committed.

    record, names: what makes a record of the type, and what its key holds.
    """
    commit = record(*names, OffsetCommitValue(None, -1)) if key_type <= 1 else None
    return Undecodable(reason, commit)
