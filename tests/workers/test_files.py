"""Files by path or URI: which are local, what is said where one cannot be read, and where a remote
one leads.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pyarrow import fs

from groupreplay.workers import files
from groupreplay.workers.files import (
    identity,
    is_local,
    is_readable,
    local_path,
    open_file,
    read_start,
    reason,
    remote,
)


@pytest.mark.parametrize(
    ("path", "local"),
    [
        ("/data/a.log", True),
        ("relative/a.log", True),
        ("c:relative", True),
        ("file:/data/a.log", True),
        ("FILE:///data/a.log", True),
        ("s3a://bucket/a.log", False),
        ("hdfs://nn:8020/a.log", False),
    ],
)
def test_a_path_is_local_unless_it_names_another_file_system(path: str, local: bool) -> None:
    assert is_local(path) is local


def test_a_uri_of_a_file_is_its_path() -> None:
    assert local_path("file:///data/a%20b.log") == "/data/a b.log"
    assert local_path("/data/../data/a%20b.log") == "/data/a%20b.log"


def test_a_file_is_itself_by_every_path(tmp_path: Path) -> None:
    real, link = tmp_path / "a.log", tmp_path / "b.log"
    real.write_bytes(b"x")
    link.symlink_to(real)
    assert identity(str(link)) == identity(f"file://{real}") == str(real)
    assert identity("s3a://bucket/a") == "s3a://bucket/a"


def test_the_start_of_a_file_is_read_unpacked(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.log", tmp_path / "a.log.gz"
    plain.write_bytes(b"0123456789")
    packed.write_bytes(gzip.compress(b"0123456789"))
    for path in (plain, packed):
        assert read_start(str(path), 4) == b"0123"
        assert read_start(str(path), 99) == b"0123456789"


def test_a_file_that_is_broken_before_that_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 40)[:60])
    with pytest.raises(OSError, match="gzip"):
        read_start(str(path), 10_000)


def test_why_a_file_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    missing = tmp_path / "missing.log"
    assert is_readable(str(missing)) == f"{missing}: no such file or directory"
    missing.write_bytes(b"")
    assert is_readable(str(missing)) is None
    assert reason(ValueError("two\n lines")) == "two lines"
    assert reason(ValueError()) == "ValueError"


def test_a_stream_gives_the_bytes_as_they_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(b"x"))
    with open_file(str(path)) as stream:
        assert stream.read() == path.read_bytes()


def test_hadoops_names_of_file_systems_are_those_of_pyarrow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Options of the URI belong to the file system."""
    asked: list[str] = []

    class Systems:
        @staticmethod
        def from_uri(uri: str) -> tuple[str, str]:
            asked.append(uri)
            return f"system of {uri.partition('?')[0]}", "inside"

    monkeypatch.setattr(fs, "FileSystem", Systems)
    files._file_system.cache_clear()
    assert remote("s3a://bucket/a/b.log?region=eu") == ("system of s3://bucket/", "inside")
    assert asked == ["s3://bucket/?region=eu", "s3://bucket/a/b.log?region=eu"]
    files._file_system.cache_clear()
