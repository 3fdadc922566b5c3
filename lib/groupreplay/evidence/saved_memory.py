"""Evidence of a group to bytes and back, so that the next night goes on where this one ended."""

from __future__ import annotations

import json
from typing import Final

from groupreplay.evidence.memory import Evidence
from groupreplay.evidence.memory_version_1 import FIRST
from groupreplay.state_codec import Codec, Converter

RENAMED: Final[dict[str, str]] = {}
"""Class as earlier code called it -> as it is called now."""

CONVERTERS: Final[dict[tuple[str, str, int], Converter]] = {}
"""(class, field, version that was written) -> to what the field means now."""

_FAILURE: Final = '"epoch","reason","first_at","last_at","attempts","until_at"'
_FIRST_NAMES: Final = json.dumps(FIRST.names, separators=(",", ":"))
_NAMES: Final = (_FAILURE + _FIRST_NAMES.replace('"outage"', '"outage","failure"')).encode()
"""What states name: never to change, for every state is read with it."""

_WORDS: Final = (
    b'"LEAVE_GROUP","LEFT","JOIN","NEW_MEMBER","PreparingRebalance","confluent-kafka-python",'
    b'"server_log","classic","User:ANONYMOUS","apache-kafka-java","consumer","request_log"'
)
"""What states are likely to have: never to change either."""

_CODEC: Final = Codec(Evidence, FIRST, _NAMES, _WORDS, RENAMED, CONVERTERS)


def to_bytes(evidence: Evidence) -> bytes:
    """Equal evidence gives equal bytes."""
    return _CODEC.to_bytes(evidence)


def from_bytes(data: bytes) -> Evidence:
    """The evidence that `to_bytes` wrote, of this version or of one before. Raises StateError."""
    evidence = _CODEC.from_bytes(data)
    if evidence.rebalance is not None:
        evidence.rebalances.setdefault(evidence.rebalance.broker, evidence.rebalance)
        evidence.rebalance = None
    return evidence
