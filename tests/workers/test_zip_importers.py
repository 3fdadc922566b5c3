"""Importers of zip files are forgotten after a task, and all others stay."""

from __future__ import annotations

import importlib
import sys
import zipfile
from pathlib import Path

import pytest

from groupreplay.workers import zip_importers
from groupreplay.workers.zip_importers import forget_zips


@pytest.fixture
def zipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A zip file on the path, with a module that was imported from it."""
    path = tmp_path / "code.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a_module_in_a_zip.py", "NAME = 'first'")
        archive.writestr("another_in_a_zip.py", "NAME = 'second'")
    monkeypatch.syspath_prepend(str(path))
    importlib.import_module("a_module_in_a_zip")
    del sys.modules["a_module_in_a_zip"]
    return str(path)


def test_an_importer_of_a_zip_file_is_forgotten_and_made_again(zipped: str) -> None:
    assert zipped in sys.path_importer_cache
    others = sys.path_importer_cache.keys() - {zipped}
    forget_zips()
    assert zipped not in sys.path_importer_cache
    assert {each for each in others if not each.endswith(".zip")} <= sys.path_importer_cache.keys()
    assert importlib.import_module("another_in_a_zip").NAME == "second"
    del sys.modules["another_in_a_zip"]


def test_where_the_shortcut_is_off_all_stay(zipped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_importers, "is_on", lambda _: False)
    forget_zips()
    assert zipped in sys.path_importer_cache
