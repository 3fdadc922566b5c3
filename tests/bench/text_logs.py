"""Logs of brokers: how fast landing reads them, on all cores, with the product's own reader and its
splits.

    .venv/bin/python -m tests.bench.text_logs [--mb 600]

Three logs, made by repeating recorded lines: a request log of other APIs (Fetch, with a group
request in a thousand lines), one of group APIs alone, and a server log. Prints MB/s and lines/s of
each, plain, and of the first one packed by gzip, and the memory of the largest worker.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from pathlib import Path

from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN
from groupreplay.wire.text.read_text_unit import read_text_unit
from groupreplay.wire.text.text_units import END_OF_FILE, TextUnit
from groupreplay.workers.files import open_file

HOME = Path(__file__).resolve().parents[2]
CACHE = HOME / ".cache" / "bench" / "text"
RECORDING = HOME / "tests" / "recordings" / "consumer-4.3"
CORES = 2
SPLIT_BYTES = 128 << 20
GROUP_LINE_EVERY = 1000

_PARTITIONS = [
    {
        "partition": p,
        "fetchOffset": 81234567 + p,
        "currentLeaderEpoch": 7,
        "partitionMaxBytes": 1048576,
    }
    for p in range(12)
]
_FETCH = {
    "isForwarded": False,
    "requestHeader": {
        "requestApiKey": 1,
        "requestApiVersion": 17,
        "correlationId": 55,
        "clientId": "orders-7",
        "requestApiKeyName": "FETCH",
    },
    "request": {
        "maxWaitMs": 500,
        "minBytes": 1,
        "maxBytes": 52428800,
        "topics": [{"topicId": "2f_Ei9H8RHOY1hfyF15Tjg", "partitions": _PARTITIONS}],
    },
    "response": {"throttleTimeMs": 0, "errorCode": 0, "sessionId": 1804289383, "responses": []},
    "connection": "10.0.0.1:9092-10.0.3.7:42328-1-6",
    "totalTimeMs": 501.12,
}
FETCH_LINE = (
    f"[2026-11-21 06:12:05,655] DEBUG Completed request:{json.dumps(_FETCH, separators=(',', ':'))}"
    " (kafka.request.logger)\n".encode()
)


def recorded(name: str) -> list[bytes]:
    with gzip.open(RECORDING / name) as lines:
        return lines.readlines()


def other_apis() -> Iterator[bytes]:
    group = cycle(recorded("broker-1.request.log.gz"))
    for number in range(1 << 62):
        yield next(group) if number % GROUP_LINE_EVERY == 0 else FETCH_LINE


def write(name: str, lines: Iterator[bytes], size: int) -> Path:
    """At least `size` bytes of whole lines; kept for the next time."""
    path = CACHE / f"{name}-{size}"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            while out.tell() < size:
                out.write(b"".join(islice(lines, 10_000)))
    return path


def units(kind: str, path: Path) -> list[TextUnit]:
    """A plain request log in splits, as the plan cuts it; else one unit."""
    size = path.stat().st_size
    starts = (
        [0] if path.suffix == ".gz" or kind == SERVER_LOG else list(range(0, size, SPLIT_BYTES))
    )
    whole = TextUnit(kind, str(path), size, 1, "UTC", DEFAULT_PATTERN, None, None, "i")
    ends = [*starts[1:], END_OF_FILE]
    return [
        TextUnit.from_json(
            json.dumps({**json.loads(whole.to_json()), "start_position": s, "end_position": e})
        )
        for s, e in zip(starts, ends, strict=True)
    ]


def land(unit: TextUnit) -> tuple[int, int, int]:
    """(lines, rows, greatest memory of this process in KiB)."""
    lines = rows = 0
    for columns in read_text_unit(unit, open_file):
        rows += len(columns["kind"])
        lines += sum(
            json.loads(counts)["lines"]
            for kind, counts in zip(columns["kind"], columns["counts"], strict=True)
            if kind == "file"
        )
    return lines, rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(title: str, kind: str, path: Path, text_bytes: int) -> None:
    started = time.monotonic()
    with ProcessPoolExecutor(CORES) as workers:
        found = list(workers.map(land, units(kind, path)))
    seconds = time.monotonic() - started
    lines, rows, memory = (
        sum(each[0] for each in found),
        sum(each[1] for each in found),
        max(each[2] for each in found),
    )
    print(
        f"{title:<34}{text_bytes / 1e6:>7,.0f} MB {text_bytes / 1e6 / seconds:>8,.0f} MB/s"
        f" {lines / seconds:>11,.0f} lines/s {rows:>9,} rows {memory / 1024:>6,.0f} MB worker",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", type=int, default=600, help="size of each log, MB")
    size = parser.parse_args().mb * 1_000_000
    others = write("others", other_apis(), size)
    measure("request log, other APIs", REQUEST_LOG, others, others.stat().st_size)
    packed = others.with_suffix(".gz")
    if not packed.exists():
        with others.open("rb") as plain, gzip.open(packed, "wb", compresslevel=1) as out:
            shutil.copyfileobj(plain, out)
    measure("request log, other APIs, one .gz", REQUEST_LOG, packed, others.stat().st_size)
    groups = write("groups", cycle(recorded("broker-1.request.log.gz")), size // 4)
    measure("request log, group APIs alone", REQUEST_LOG, groups, groups.stat().st_size)
    server = write("server", cycle(recorded("broker-1.server.log.gz")), size // 4)
    measure("server log", SERVER_LOG, server, server.stat().st_size)


if __name__ == "__main__":
    main()
