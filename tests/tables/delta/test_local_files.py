"""Text files of a local folder: whole or not there, whoever else writes the same."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from groupreplay.tables.delta.local_files import make_text, replace_text


def test_a_file_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "0.json"
    make_text(str(path), "first")
    with pytest.raises(FileExistsError):
        make_text(str(path), "second")
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["0.json"], "no other file is left"


def test_of_many_that_make_a_file_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "0.json"

    def make(number: int) -> bool:
        try:
            make_text(str(path), str(number))
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(make, range(64)))
    assert won.count(True) == 1
    assert path.read_text() == str(won.index(True))
    assert os.listdir(tmp_path) == ["0.json"]


def test_a_file_is_replaced_with_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "0.json"
    path.write_text("old")
    (tmp_path / ".0.json.crc").write_bytes(b"of the old text")
    replace_text(str(path), "new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["0.json"]


@pytest.mark.parametrize(("work", "call"), [(make_text, "link"), (replace_text, "replace")])
def test_what_fails_leaves_nothing(
    work: Any, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError(call)

    monkeypatch.setattr(os, call, refused)
    with pytest.raises(PermissionError):
        work(str(tmp_path / "0.json"), "text")
    assert not os.listdir(tmp_path)
