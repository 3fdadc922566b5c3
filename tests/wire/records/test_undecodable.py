"""What decoding gives in place of a record: values, and what they still know of a commit."""

from __future__ import annotations

import pytest

from groupreplay.records.offsets import OffsetCommit, OffsetCommitValue
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from tests.wire import encode

OF_G = OffsetCommit("g", "t", 3, OffsetCommitValue(None, -1))


def test_results_are_values() -> None:
    assert UnknownType(24) == UnknownType(24)
    assert Undecodable("x") != Undecodable("y")


@pytest.mark.parametrize("key_type", [0, 1])
@pytest.mark.parametrize("value", [b"", b"\0\5" + bytes(20), b"\0\3" + bytes(5)])
def test_the_key_of_a_commit_says_what_was_committed(key_type: int, value: bytes) -> None:
    result = decode(encode.key(key_type, "g", "t", 3), value)
    assert isinstance(result, Undecodable)
    assert result.commit == OF_G


@pytest.mark.parametrize(
    "value", ["x", '{"version":"5","data":"unknown"}', '{"version":"3","data":{}}']
)
def test_so_does_the_key_that_a_dump_prints(value: str) -> None:
    key = b'{"type":"1","data":{"group":"g","topic":"t","partition":3}}'
    result = decode_json(key, value.encode())
    assert isinstance(result, Undecodable)
    assert result.commit == OF_G


def test_no_commit_is_known_where_the_key_is_not_read_or_is_none_of_a_commit() -> None:
    cut = encode.key(1, "g", "t", 3)[:-1]
    for result in (decode(cut, b"\0\3"), decode(encode.key(3, "g"), b"\0\5")):
        assert isinstance(result, Undecodable)
        assert result.commit is None
