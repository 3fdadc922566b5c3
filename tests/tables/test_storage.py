"""Small files beside the tables, and whether a warehouse can be written at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from groupreplay.errors import NotReady
from groupreplay.tables.storage import check_writable, file_system, write_text


def test_a_file_is_written_in_place_of_the_one_that_is_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "folder" / "a.txt"
    for text in ("first, longer", "caf\u00e9\n"):
        write_text(spark, str(path), text)
        assert path.read_text(encoding="utf-8") == text
    system, place = file_system(spark, str(path))
    assert system.exists(place)


def test_asking_leaves_nothing_behind(spark: SparkSession, tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "not there yet"):
        check_writable(spark, str(root))
    assert list(tmp_path.iterdir()) == []


def test_a_warehouse_that_cannot_be_written_is_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    root = str(tmp_path / "file" / "below")
    with pytest.raises(NotReady) as caught:
        check_writable(spark, root)
    assert str(caught.value).startswith(f"the warehouse {root} cannot be written: ")
    assert "\n" not in str(caught.value)
