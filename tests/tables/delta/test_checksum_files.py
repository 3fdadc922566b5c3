"""Ranges of a table that are replaced, and read, by what its checksum names: anybody reads what
Spark's writer leaves, and what others did to the table meanwhile stays.

Holds tables/delta/delta_log.py.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from delta.exceptions import ConcurrentAppendException
from deltalake import DeltaTable

from groupreplay import shortcuts
from groupreplay.tables.delta import checksum_files
from groupreplay.tables.delta.committed_files import PATHS_MAX
from groupreplay.tables.delta.damage import damaged_table
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.schemas import table_schema
from groupreplay.tables.warehouse import Warehouse
from tests.support.filled_rows import filled_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CLUSTER = "a b%3A=ü"
"""Folders of partitions are named after it, escaped, and the log escapes their names once more."""
TABLE = "refusals"
"""One of the tables that have rows which are not final."""
FIRST, SECOND = date(2026, 1, 1), date(2026, 1, 2)


def _rows(spark: SparkSession, night: date, *kinds: bool, cluster: str = CLUSTER) -> DataFrame:
    """A row for each of these values of is_final."""
    struct = table_schema(spark, TABLE).struct
    (full, *_) = [dict(zip(struct.names, row, strict=True)) for row in filled_rows(struct)]
    labels = {"cluster": cluster, "logical_date": night}
    rows = [
        tuple({**full, **labels, "is_final": is_final}[name] for name in struct.names)
        for is_final in kinds
    ]
    return spark.createDataFrame(rows, struct)


def _made(spark: SparkSession, root: Path) -> Warehouse:
    warehouse = Warehouse(spark, str(root), CLUSTER)
    warehouse.create_all([TABLE])
    return warehouse


def _replace(warehouse: Warehouse, night: date, *kinds: bool, cluster: str = CLUSTER) -> int:
    rows = _rows(warehouse.spark, night, *kinds, cluster=cluster)
    return warehouse.replace(TABLE, rows, RowRange(cluster, night, with_open=True), {"run_id": "r"})


def _held(warehouse: Warehouse) -> list[tuple[str, date, bool]]:
    rows = warehouse.read(TABLE).collect()
    return sorted((row["cluster"], row["logical_date"], row["is_final"]) for row in rows)


def _actions(warehouse: Warehouse, version: int) -> list[dict[str, Any]]:
    return list(warehouse.log(TABLE).commit_actions(version) or ())


def test_nights_leave_what_sparks_writer_leaves(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not final is replaced by each night, final rows by their own; rows of another cluster
    stay.
    """
    states = []
    for name, on in (("quick", shortcuts.ALL), ("spark", ())):
        monkeypatch.setenv(shortcuts.VARIABLE, ",".join(on))
        warehouse = _made(spark, tmp_path / name)
        versions = [
            _replace(warehouse, FIRST, True, False, False),
            _replace(warehouse, FIRST, True, True, cluster="other"),
            _replace(warehouse, SECOND, True, False),
            _replace(warehouse, SECOND, True, True, False),
        ]
        last = _actions(warehouse, 4)
        info = next(action["commitInfo"] for action in last if "commitInfo" in action)
        kept = ("operation", "isolationLevel", "isBlindAppend", "userMetadata")
        parameters = info["operationParameters"]
        states.append(
            (
                versions,
                _held(warehouse),
                {name: info.get(name) for name in kept},
                (parameters["mode"], parameters["predicate"].count("is_final")),
                sorted(next(iter(action)) for action in last),
                DeltaTable(warehouse.path(TABLE)).to_pyarrow_table().num_rows,
            )
        )
    assert states[0] == states[1]
    assert states[0][1] == [
        *[(CLUSTER, FIRST, True)],
        *[(CLUSTER, SECOND, False), (CLUSTER, SECOND, True), (CLUSTER, SECOND, True)],
        *[("other", FIRST, True)] * 2,
    ]


def test_spark_is_asked_where_no_checksum_names_the_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    warehouse = _made(spark, tmp_path)
    _replace(warehouse, FIRST, True, False)
    checksum = tmp_path / TABLE / "_delta_log/00000000000000000001.crc"
    for damage in ("", "[", "[]", "{}", None):
        checksum.unlink(missing_ok=True)
        (checksum.parent / f".{checksum.name}.crc").unlink(missing_ok=True)
        if damage is not None:
            checksum.write_text(damage)
        assert checksum_files.listed_files(warehouse.log(TABLE), 1) is None
        assert not warehouse.is_known(TABLE, 1, for_rows=False)
        assert warehouse.rows(TABLE, RowRange(CLUSTER)).count() == 2
    _replace(warehouse, SECOND, True)
    assert _held(warehouse) == [(CLUSTER, FIRST, True), (CLUSTER, SECOND, True)]


def test_a_commit_of_another_process_to_these_rows_is_a_conflict(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One to another cluster's is none."""
    listed = checksum_files.listed_files

    def overtaken_by(warehouse: Warehouse, cluster: str) -> None:
        def overtaken(*arguments: Any) -> Any:
            found = listed(*arguments)
            monkeypatch.setattr(checksum_files, "listed_files", listed)
            _replace(warehouse, FIRST, False, cluster=cluster)
            return found

        monkeypatch.setattr(checksum_files, "listed_files", overtaken)
        _replace(warehouse, SECOND, True)

    warehouse = _made(spark, tmp_path / "other")
    _replace(warehouse, FIRST, True, False)
    overtaken_by(warehouse, "other")
    expected = [(CLUSTER, FIRST, True), (CLUSTER, SECOND, True), ("other", FIRST, False)]
    assert _held(warehouse) == expected
    warehouse = _made(spark, tmp_path / "own")
    _replace(warehouse, FIRST, True, False)
    with pytest.raises(ConcurrentAppendException):
        overtaken_by(warehouse, CLUSTER)
    assert _held(warehouse) == [(CLUSTER, FIRST, False)]


def test_rows_outside_the_range_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = _made(spark, tmp_path)
    with pytest.raises(ValueError, match="are not in cluster = 'c'"):
        warehouse.replace(TABLE, _rows(spark, FIRST, True), RowRange("c", FIRST), {})
    assert warehouse.version(TABLE) == 0


def test_no_rows_in_place_of_none_make_no_commit(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = _made(spark, tmp_path)
    assert _replace(warehouse, FIRST) == 0
    assert _replace(warehouse, FIRST, True) == 1
    assert _replace(warehouse, FIRST) == 2
    assert (_replace(warehouse, FIRST), _held(warehouse)) == (2, [])


def test_rows_are_those_that_delta_reads(spark: SparkSession, tmp_path: Path) -> None:
    """Of any range and version; of a table of more files than Spark lists without a job, too."""
    warehouse = _made(spark, tmp_path)
    _replace(warehouse, FIRST, True, False)
    _replace(warehouse, FIRST, False, cluster="other")
    ranges = [RowRange(CLUSTER), RowRange("other", FIRST), RowRange(CLUSTER, SECOND)]
    parts = PATHS_MAX + 8
    many = _rows(spark, SECOND, *[True] * 2 * parts).repartition(parts)
    warehouse.replace(TABLE, many, RowRange(CLUSTER, SECOND), {})
    for version in (1, 2, 3, None):
        for each in ranges:
            by_delta = warehouse.read(TABLE, version).where(each.sql)
            quick = warehouse.rows(TABLE, each, version)
            assert quick.schema.simpleString() == by_delta.schema.simpleString()
            assert sorted(map(str, quick.collect())) == sorted(map(str, by_delta.collect()))
    assert warehouse.log(TABLE).checksum(3)["numFiles"] > PATHS_MAX
    assert warehouse.is_known(TABLE, 2, for_rows=True)
    assert not warehouse.is_known(TABLE, 3, for_rows=True)


def test_a_file_that_is_gone_is_damage(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = _made(spark, tmp_path)
    _replace(warehouse, FIRST, True)
    for file in (tmp_path / TABLE).rglob("*.parquet"):
        file.unlink()
    with pytest.raises(Exception) as caught:
        warehouse.rows(TABLE, RowRange(CLUSTER)).collect()
    damage = damaged_table(caught.value)
    assert damage is not None
    assert damage.table == TABLE
