"""Text as `kafka-dump-log --offsets-decoder` prints it, for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence

Printed = tuple[str, str | None]
"""Key text, payload text (None: nothing is printed)."""


def commit(group: str, offset: int = 0, topic: str = "t", metadata: str = "") -> Printed:
    key = {"type": "1", "data": {"group": group, "topic": topic, "partition": 0}}
    value = {
        "version": "3",
        "data": {"offset": offset, "leaderEpoch": 0, "metadata": metadata, "commitTimestamp": 5},
    }
    return compact(key), compact(value)


def epoch(group: str, number: int = 1) -> Printed:
    return compact({"type": "3", "data": {"groupId": group}}), compact(
        {"version": "0", "data": {"epoch": number}}
    )


def deleted(printed: Printed) -> Printed:
    return printed[0], "<DELETE>"


def compact(document: object) -> str:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def head(path: str = "/d/__consumer_offsets-0/00000000000000000000.log") -> str:
    return f"Dumping {path}\nLog starting offset: 0\n"


def batch_line(
    base: int,
    last: int,
    count: int,
    *,
    crc: int = 1,
    valid: str = "true",
    transactional: str = "false",
    control: str = "false",
    producer: int = -1,
    epoch: int = 0,
    time: str = "CreateTime",
    ts: int = 100,
) -> str:
    return (
        f"baseOffset: {base} lastOffset: {last} count: {count} baseSequence: 0 lastSequence: 0"
        f" producerId: {producer} producerEpoch: -1 partitionLeaderEpoch: {epoch} isTransactional:"
        f" {transactional} isControl: {control} deleteHorizonMs: OptionalLong.empty position: 0"
        f" {time}: {ts} size: 100 magic: 2 compresscodec: none crc: {crc} isvalid: {valid}"
    )


def record_line(offset: int, printed: Printed, ts: int = 100) -> str:
    key, payload = printed
    text = (
        f"| offset: {offset} CreateTime: {ts} keySize: 1 valueSize: 1 sequence: 0 headerKeys: []"
        f" key: {key}"
    )
    return text if payload is None else f"{text} payload: {payload}"


def batch(base: int, records: Sequence[Printed], **more: object) -> str:
    lines = [batch_line(base, base + len(records) - 1, len(records), **more)]  # type: ignore[arg-type]
    lines += [record_line(base + number, one) for number, one in enumerate(records)]
    return "\n".join(lines) + "\n"


def marker(offset: int, producer: int, kind: str) -> str:
    line = batch_line(offset, offset, 1, transactional="true", control="true", producer=producer)
    return (
        f"{line}\n| offset: {offset} CreateTime: 100 keySize: 4 valueSize: 6 sequence: -1"
        f" headerKeys: [] endTxnMarker: {kind} coordinatorEpoch: 0\n"
    )
