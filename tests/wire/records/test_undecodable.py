"""What decoding gives in place of a record is compared by value."""

from __future__ import annotations

from groupreplay.wire.records.undecodable import Undecodable, UnknownType


def test_results_are_values() -> None:
    assert UnknownType(24) == UnknownType(24)
    assert Undecodable("x") != Undecodable("y")
