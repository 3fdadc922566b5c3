"""The log of a new table is the same wherever it is, and whoever writes its files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from groupreplay.tables.delta.delta_log import DeltaLog
from groupreplay.tables.delta.first_version import write_first_version
from groupreplay.tables.schemas import table_schema

FIRST = "00000000000000000000"
NAMES = {f"{FIRST}.json", f"{FIRST}.crc", "_staged_commits"}


def _refused(*_: Any) -> None:
    raise PermissionError("links are not known here")


def _none(_: DeltaLog) -> None:
    """`DeltaLog.local_folder` of a log on another file system."""


@pytest.mark.parametrize("way", ["local", "without links", "by Delta"])
def test_a_table_begins_the_same_by_every_way(
    way: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "without links":
        monkeypatch.setattr(os, "link", _refused)
    elif way == "by Delta":
        monkeypatch.setattr(DeltaLog, "local_folder", _none)
    log, schema = DeltaLog(spark, str(tmp_path / "topics")), table_schema(spark, "topics")
    write_first_version(log, schema)
    snapshot = log.snapshot()
    assert (snapshot.version, snapshot.struct) == (0, schema.struct)
    assert snapshot._snapshot.checksumOpt().isDefined()
    folder = tmp_path / "topics/_delta_log"
    visible = {name for name in os.listdir(folder) if not name.startswith(".")}
    assert visible == NAMES
    assert (folder / f".{FIRST}.json.crc").exists() == (way != "local"), "Hadoop's own checksum"


@pytest.mark.parametrize("is_local", [True, False])
def test_a_table_that_another_process_made_stays_as_it_is(
    is_local: bool, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_local:
        monkeypatch.setattr(DeltaLog, "local_folder", _none)
    log, folder = DeltaLog(spark, str(tmp_path / "topics")), tmp_path / "topics/_delta_log"
    folder.mkdir(parents=True)
    (folder / f"{FIRST}.json").write_text("theirs")
    write_first_version(log, table_schema(spark, "topics"))
    assert (folder / f"{FIRST}.json").read_text() == "theirs"
    assert not (folder / f"{FIRST}.crc").exists(), "a checksum of ours would not be that of theirs"
