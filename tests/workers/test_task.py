"""What a worker does around a task: nothing of it shows in a row, all of it in what a task
costs.

Holds workers/loading.py.
"""

from __future__ import annotations

import gc
import importlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from zipimport import zipimporter

import pytest

from groupreplay.workers.loading import load
from groupreplay.workers.task import keep_loaded, worker_task


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A zip file with a package of two modules, on sys.path as PySpark puts --py-files there."""
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("zipped/__init__.py", "")
        archive.writestr("zipped/first.py", "NUMBER = 1")
        archive.writestr("zipped/second.py", "NUMBER = 2")
    monkeypatch.syspath_prepend(str(path))
    yield path
    for name in [name for name in sys.modules if name.partition(".")[0] == "zipped"]:
        del sys.modules[name]


def _zips() -> list[str]:
    return [
        path
        for path, importer in sys.path_importer_cache.items()
        if isinstance(importer, zipimporter)
    ]


def test_after_a_task_there_is_no_importer_of_a_zip_file_that_would_read_its_listing_anew(
    bundle: Path,
) -> None:
    with worker_task():
        importlib.import_module("zipped.first")
        assert {str(bundle), f"{bundle}/zipped"} <= set(_zips())
    assert not _zips()


def test_modules_of_a_zip_file_can_still_be_imported_after_a_task(bundle: Path) -> None:
    with worker_task():
        importlib.import_module("zipped.first")
    importlib.invalidate_caches()  # as PySpark does before the next task
    with worker_task():
        assert importlib.import_module("zipped.second").NUMBER == 2


def test_loading_ahead_leaves_no_importer_of_a_zip_file_either(bundle: Path) -> None:
    importlib.import_module("zipped.first")
    assert _zips()
    assert list(load([])) == []
    assert not _zips()


def test_the_collector_is_put_back_as_it_was() -> None:
    gc.disable()
    try:
        with worker_task():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.fixture
def new_worker() -> Iterator[None]:
    """As if this process had run no task yet."""
    keep_loaded.cache_clear()
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("new_worker")
def test_what_is_loaded_is_left_out_of_later_collections_once() -> None:
    """Else garbage of a task would be kept, too."""
    with worker_task():
        loaded = gc.get_freeze_count()
    made_since: list[object] = [[], []]
    with worker_task():
        assert gc.get_freeze_count() <= loaded
    assert loaded > 10_000
    assert any(each is made_since for each in gc.get_objects())


@pytest.mark.usefixtures("new_worker")
def test_loading_ahead_leaves_what_it_loaded_out_of_collections() -> None:
    assert list(load([])) == []
    assert gc.get_freeze_count() > 10_000
