"""What decoding gives when it does not give a record: both are values, never exceptions (bad input
is a row, not a failure).
"""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    reason: str
