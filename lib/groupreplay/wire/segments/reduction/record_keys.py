"""What the reduction of commits must know of a key without decoding it: is it a commit's, and of
which group?
"""

from __future__ import annotations

from functools import lru_cache

from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json, load_json
from groupreplay.wire.records.primitives import Malformed, text
from groupreplay.wire.records.undecodable import UnknownType
from groupreplay.wire.segments.batches import BINARY

KEY_BYTES_KEPT = 512

_JSON_COMMITS = (b'{"type":"1",', b'{"type":"0",')


@lru_cache(maxsize=1 << 12)
def names_of(key: bytes, encoding: str) -> tuple[str | None, bool]:
    """(`group_of`, `is_commit_key`), kept for the keys last asked for: a group's keys come again
    and again. For keys of up to KEY_BYTES_KEPT.
    """
    return group_of(key, encoding), is_commit_key(key, encoding)


def is_commit_key(key: bytes, encoding: str) -> bool:
    """K0 and K1 as every writer writes them: int16 0 or 1 first; `type` first in JSON."""
    if encoding == BINARY:
        return len(key) >= 2 and key[0] == 0 and key[1] <= 1
    return key.startswith(_JSON_COMMITS)


def group_of(key: bytes, encoding: str) -> str | None:
    """The group that a key names; None: it is too short or broken to name one. Every key begins
    with its group, as int16 length and text.
    """
    if encoding != BINARY:
        return _group_of_json(key)
    if len(key) < 4:
        return None
    length = key[2] << 8 | key[3]
    if length >= 0x8000 or 4 + length > len(key):
        return None
    return text(key[4 : 4 + length])


def hides_group(key: bytes, encoding: str) -> bool:
    """Whether a key that names no group is of some group all the same: all but those of a type that
    no release writes.
    """
    said = decode(key, None) if encoding == BINARY else decode_json(key, None)
    return not isinstance(said, UnknownType)


def _group_of_json(key: bytes) -> str | None:
    try:
        document = load_json(key)
    except Malformed:
        return None
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict):
        return None
    group = data.get("group", data.get("groupId"))
    return group if isinstance(group, str) else None
