"""Each shortcut has a switch, and what it is a shortcut for does the same."""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from pyspark.sql import SparkSession

from groupreplay import shortcuts
from groupreplay.tables.warehouse import Warehouse
from groupreplay.workers.zip_importers import forget_zips


def test_all_are_on_unless_some_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(shortcuts.VARIABLE, raising=False)
    assert all(map(shortcuts.is_on, shortcuts.ALL))
    monkeypatch.setenv(shortcuts.VARIABLE, "")
    assert not any(map(shortcuts.is_on, shortcuts.ALL))
    monkeypatch.setenv(shortcuts.VARIABLE, "java-members, compiled-zips")
    on = {name for name in shortcuts.ALL if shortcuts.is_on(name)}
    assert on == {shortcuts.JAVA_MEMBERS, shortcuts.COMPILED_ZIPS}


def test_importers_of_zips_are_dropped_where_that_is_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("module_of_a_zip.py", "")
    monkeypatch.syspath_prepend(str(path))
    for named, is_kept in (("", True), ("zip-importers", False)):
        __import__("module_of_a_zip")
        sys.modules.pop("module_of_a_zip")
        monkeypatch.setenv(shortcuts.VARIABLE, named)
        forget_zips()
        assert (str(path) in sys.path_importer_cache) == is_kept


def test_a_table_is_the_same_by_either_way(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for place, named in (("written", "first-version"), ("asked", "")):
        monkeypatch.setenv(shortcuts.VARIABLE, named)
        warehouse = Warehouse(spark, str(tmp_path / place), "c")
        warehouse.create_all(["group_epochs"])
        warehouse.check_all(["group_epochs"])
        snapshot = warehouse.log("group_epochs").snapshot()
        found.append(
            (snapshot.version, snapshot.struct, snapshot.partition_columns, snapshot.protocol)
        )
    assert found[0] == found[1]
