"""Files by path, directory, glob and URI."""

import gzip
import os
from pathlib import Path

import pytest

from groupreplay.config.sources import Source
from groupreplay.errors import SourceUnreadable
from groupreplay.sources.found_files import find_files
from groupreplay.workers.files import open_file, read_start


def paths(path: str | Path) -> list[str]:
    return [file.path for file in find_files(Source(kind="segments", path=str(path))).files]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in ("a/x.log", "a/y.txt", "b/deep/x.log", "b/with space & %25.log"):
        file = tmp_path / "logs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(name.encode())
    return tmp_path / "logs"


def relative(found: list[str], root: Path) -> list[str]:
    return [os.path.relpath(path, root) for path in found]


def test_directory_is_walked_and_a_file_is_itself(logs: Path) -> None:
    assert relative(paths(logs), logs) == [
        "a/x.log",
        "a/y.txt",
        "b/deep/x.log",
        "b/with space & %25.log",
    ]
    assert relative(paths(logs / "a/x.log"), logs) == ["a/x.log"]
    assert [
        file.size for file in find_files(Source(kind="segments", path=str(logs / "a"))).files
    ] == [7, 7]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*/x.log", ["a/x.log"]),
        ("?", ["a/x.log", "a/y.txt", "b/deep/x.log", "b/with space & %25.log"]),
        ("[ab]/*.log", ["a/x.log", "b/with space & %25.log"]),
        ("**/x.log", ["a/x.log", "b/deep/x.log"]),
        ("b/*", ["b/deep/x.log", "b/with space & %25.log"]),
    ],
)
def test_glob_takes_files_and_walks_directories(logs: Path, glob: str, found: list[str]) -> None:
    assert relative(paths(logs / glob), logs) == found


def test_path_that_looks_like_a_glob_but_exists_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "logs[1]").mkdir()
    (tmp_path / "logs[1]" / "x.log").touch()
    (tmp_path / "logs1").touch()
    assert relative(paths(tmp_path / "logs[1]"), tmp_path) == ["logs[1]/x.log"]


def test_file_under_two_names_is_found_once(logs: Path) -> None:
    (logs / "again").symlink_to(logs / "a")
    (logs / "a" / "circle").symlink_to(logs)
    assert len(paths(logs)) == 4


@pytest.mark.parametrize("uri", ["file://{}", "file:{}"])
def test_file_uris_are_local(logs: Path, uri: str) -> None:
    found = paths(uri.format(logs / "a"))
    assert relative(found, logs) == ["a/x.log", "a/y.txt"]
    with open_file(uri.format(found[0])) as stream:
        assert stream.read() == b"a/x.log"


@pytest.mark.parametrize("path", ["nothing", "*.nothing", "nothing/*", "a/x.log/below"])
def test_nothing_there_is_told_with_path_and_reason(logs: Path, path: str) -> None:
    with pytest.raises(SourceUnreadable, match="no "):
        paths(logs / path)


def test_unknown_file_system_is_an_unreadable_source() -> None:
    with pytest.raises(SourceUnreadable, match="nosuch"):
        paths("nosuch://host/path")


def test_start_of_a_file_is_read_inflated_if_it_is_gzip(tmp_path: Path) -> None:
    content = os.urandom(1 << 20)
    (tmp_path / "x").write_bytes(content)
    (tmp_path / "x.gz").write_bytes(gzip.compress(content[:1000]) + gzip.compress(content[1000:]))
    for name in ("x", "x.gz"):
        assert read_start(str(tmp_path / name), 5000) == content[:5000]
        assert read_start(str(tmp_path / name), 1 << 21) == content


def test_start_of_a_damaged_file_is_an_os_error_only_where_it_is_needed(tmp_path: Path) -> None:
    content = os.urandom(300_000)
    (tmp_path / "x.gz").write_bytes(gzip.compress(content)[:200_000])
    assert read_start(str(tmp_path / "x.gz"), 1000) == content[:1000]
    with pytest.raises(OSError, match="gzip"):
        read_start(str(tmp_path / "x.gz"), 300_000)


def test_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_file(str(tmp_path / "gone.log"))
    with pytest.raises(OSError, match="cannot be opened"):
        read_start(str(tmp_path / "gone.log"), 10)
