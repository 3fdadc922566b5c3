"""Evidence of a group to bytes and back, so that the next night goes on where this one ended: zlib over JSON, as `replay.state` lays it out."""

from __future__ import annotations

import json
import typing
import zlib

from groupreplay.evidence import facts, life
from groupreplay.evidence.life import Evidence
from groupreplay.replay.state import Convert, StateError, converters, layout

KEPT: tuple[type[typing.Any], ...] = (life.Evidence, *facts.EVIDENCE_FACTS)
"""Every class that a state can hold."""

FINGERPRINT = layout(KEPT)

_ENCODE, _DECODE = typing.cast("tuple[Convert, Convert]", converters(Evidence))


def to_bytes(evidence: Evidence) -> bytes:
    """Equal evidence gives equal bytes."""
    return zlib.compress(json.dumps([FINGERPRINT, _ENCODE(evidence)], separators=(",", ":"), ensure_ascii=True).encode(), 1)


def from_bytes(data: bytes) -> Evidence:
    """The evidence that `to_bytes` wrote. Raises StateError."""
    try:
        fingerprint, encoded = json.loads(zlib.decompress(data))
        if fingerprint == FINGERPRINT:
            restored: Evidence = _DECODE(encoded)
            return restored
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error) as e:
        raise StateError(f"damaged state of evidence: {e}") from e
    raise StateError(f"state of evidence of layout {fingerprint}, expected {FINGERPRINT}")
