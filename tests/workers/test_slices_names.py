"""Names that no client of Kafka's own gives, from bytes to facts, in one night or two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from groupreplay.workers.fact_frames import REPLAYED
from groupreplay.workers.packed import unpacking
from groupreplay.workers.slices import INPUT, STATE_ENCODING, STATE_OFFSET, slice_replay
from tests.wire import encode
from tests.wire.reading import of_kind, read

HOLDER = "name-of-ten"
"""Stands for a name while records are encoded: bytes that are no UTF-8 have no text."""

NAMES = [
    (b"", ""),
    ("\u202eturned\u2069 \u200bunseen".encode(), "\u202eturned\u2069 \u200bunseen"),
    (b"nul\0in it", "nul\0in it"),
    ("\U0001f980\U0010fffd".encode(), "\U0001f980\U0010fffd"),
    (b"no \xff\xfe\xc0\x80 text", "no \\xff\\xfe\\xc0\\x80 text"),
    (b"x" * 32_000, "x" * 32_000),
]


def log_of(name: bytes) -> bytes:
    """A group, its only member and the member's client, all of one name: it joins, commits, goes."""
    none: dict[str, Any] = {"instanceId": None, "rackId": None, "subscribedTopicRegex": None}
    client: dict[str, Any] = {"clientId": HOLDER, "clientHost": "/h"}
    member = encode.value(
        5,
        **none,
        **client,
        subscribedTopicNames=["t"],
        rebalanceTimeoutMs=300_000,
        serverAssignor=None,
    )
    current: dict[str, Any] = {"memberEpoch": 1, "previousMemberEpoch": 0, "state": 0}
    of_member = [encode.key(kind, HOLDER, HOLDER) for kind in (8, 7, 5)]
    joined = [
        (of_member[2], member),
        encode.epoch(HOLDER, 1),
        (of_member[1], encode.value(7, topicPartitions=[])),
        (encode.key(6, HOLDER), encode.value(6, assignmentEpoch=1)),
        (
            of_member[0],
            encode.value(8, **current, assignedPartitions=[], partitionsPendingRevocation=[]),
        ),
    ]
    left = [*((key, None) for key in of_member), encode.epoch(HOLDER, 2)]
    at, content = 0, b""
    for pairs in (joined, [encode.commit(HOLDER)], left):
        named = [(_named(key, name), _named(value, name)) for key, value in pairs]
        content += encode.batch(at, named, ts=1_000 + 10 * at)
        at += len(pairs)
    return content


def _named(raw: bytes | None, name: bytes) -> bytes | None:
    """With the name in place of HOLDER, in both forms that a text has: fixed and compact length."""
    if raw is None:
        return None
    holder = HOLDER.encode()
    fixed = len(holder).to_bytes(2, "big") + holder
    compact = encode.uvarint(len(holder) + 1) + holder
    raw = raw.replace(fixed, len(name).to_bytes(2, "big") + name)
    return raw.replace(compact, encode.uvarint(len(name) + 1) + name)


def replayed(rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    def frames() -> Iterator[pd.DataFrame]:
        yield pd.DataFrame.from_records(rows, columns=[*INPUT]).assign(slice=0)

    packed = [pa.RecordBatch.from_pandas(frame) for frame in slice_replay({})(frames())]
    return [row for batch in unpacking(REPLAYED)(packed) for row in batch.to_pylist()]


def final(rows: list[dict[str, Any]]) -> list[str]:
    facts = [row for row in rows if row["is_final"] and row["kind"] != "group_snapshot"]
    return sorted(map(repr, facts))


@pytest.mark.parametrize(
    ("raw", "name"), NAMES, ids=["empty", "bidi", "nul", "astral", "bytes", "long"]
)
def test_a_name_is_kept_from_its_bytes_to_its_facts(raw: bytes, name: str) -> None:
    landed = of_kind(read({"a": log_of(raw)}), "record")
    assert [row["group_id"] for row in landed] == [name] * 10
    rows = [tuple(row[column] for column in INPUT) for row in landed]
    told = replayed(rows)
    (counted,) = [row for row in told if row["kind"] == "counts"]
    assert (counted["decoded"], counted["unknown"], counted["undecoded"]) == (10, 0, 0)
    assert {row["rule"] for row in told} == {None}
    (life,) = [row for row in told if row["kind"] == "member_state"]
    assert (life["group_id"], life["member_id"], life["client_id"]) == (name, name, name)
    first = replayed(rows[:6])
    (state,) = [row["state_bytes"] for row in first if row["kind"] == "group_state"]
    place = (name, 0, STATE_OFFSET, -1, -1, -1, -1, STATE_ENCODING, b"", state)
    assert final(first) + final(replayed([place, *rows[6:]])) == final(told)
