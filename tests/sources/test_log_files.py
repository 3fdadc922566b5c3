"""Which files are segments, which are dumps, and of which partition.

Holds sources/dump_log.py, sources/segments.py.
"""

import gzip
from pathlib import Path

import pytest

from groupreplay.sources.dump_log import dumps
from groupreplay.sources.found_files import FoundFile
from groupreplay.sources.segments import segment

BASE = "00000000000000001234"


@pytest.mark.parametrize(
    ("path", "replica", "partition"),
    [
        (f"/logs/broker-1/__consumer_offsets-17/{BASE}.log", "/logs/broker-1", 17),
        (f"/logs/__consumer_offsets-0/{BASE}.log.gz", "/logs", 0),
        (f"s3://bucket/a/__consumer_offsets-49/{BASE}.log?region=x", "s3:/bucket/a", 49),
        (f"__consumer_offsets-5/{BASE}.log", ".", 5),
    ],
)
def test_segment_says_replica_partition_and_offset(path: str, replica: str, partition: int) -> None:
    found = segment(FoundFile(path, 10))
    assert found is not None
    assert (found.path, found.replica, found.offsets_partition, found.base_offset) == (
        path,
        replica,
        partition,
        1234,
    )


@pytest.mark.parametrize(
    "path",
    [
        f"/logs/__consumer_offsets-1/{BASE}.index",
        f"/logs/__consumer_offsets-1/{BASE}.timeindex",
        f"/logs/__consumer_offsets-1/{BASE}.snapshot",
        f"/logs/__consumer_offsets-1/{BASE}.log.deleted",
        f"/logs/__consumer_offsets-1/{BASE}.log.swap",
        f"/logs/__consumer_offsets-1/{BASE}.log.cleaned",
        f"/logs/__consumer_offsets-1.0123456789abcdef-delete/{BASE}.log",
        f"/logs/__consumer_offsets-1-future/{BASE}.log",
        f"/logs/my__consumer_offsets-1/{BASE}.log",
        f"/logs/__transaction_state-1/{BASE}.log",
        "/logs/__consumer_offsets-1/123.log",
        "/logs/__consumer_offsets-1/leader-epoch-checkpoint",
        "/logs/server.log",
    ],
)
def test_everything_else_of_a_log_directory_is_passed_over(path: str) -> None:
    assert segment(FoundFile(path, 10)) is None


def found_dumps(path: Path | str) -> list[tuple[str, int]]:
    size = Path(path).stat().st_size if Path(path).exists() else 10
    (found,) = dumps([FoundFile(str(path), size)])
    assert all(file.replica == file.path and file.base_offset == -1 for file in found)
    return [(file.path, file.offsets_partition) for file in found]


def test_dump_is_known_by_its_name() -> None:
    path = "/dumps/broker-1/__consumer_offsets-13.txt.gz"
    assert found_dumps(path) == [(path, 13)]


@pytest.mark.parametrize("packed", [False, True])
def test_dump_is_known_by_what_it_says_it_dumped(tmp_path: Path, packed: bool) -> None:
    text = "a wrapper's greeting\n" + "".join(
        f"Dumping /var/lib/kafka/{name}/{BASE}.log\nLog starting offset: 0\n"
        for name in (
            "__consumer_offsets-8",
            "__consumer_offsets-21",
            "orders-3",
            "__consumer_offsets-8",
        )
    )
    path = tmp_path / ("dump.gz" if packed else "dump.txt")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert found_dumps(path) == [(str(path), 8), (str(path), 21)]


@pytest.mark.parametrize(
    "content", [b"", b"Dumping /logs/other-1/00000000000000000000.log\n", b"\xff\x00" * 100_000]
)
def test_file_that_is_no_dump_is_passed_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "notes.txt").write_bytes(content)
    assert found_dumps(tmp_path / "notes.txt") == []
    assert found_dumps(tmp_path / "gone.txt") == []
