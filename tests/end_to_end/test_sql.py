"""The tables of the demo where people already have SQL: in files, in a catalog, in other engines.

One worker of the suite runs all files that begin with `test_sql`, and the night of the demo once.

Holds tables/export.py, tables/finished_night.py.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import Row, SparkSession

from groupreplay.config.model import CatalogConfig, Config
from groupreplay.config.sources import Source
from groupreplay.errors import ConfigError, NotReady
from groupreplay.night.maintain import maintain
from groupreplay.night.run import run_night
from groupreplay.tables.export import CSV, JSON, PARQUET, chosen, export
from groupreplay.tables.finished_night import FinishedNight
from groupreplay.tables.registration import check_lasting, register
from groupreplay.tables.schemas import PUBLIC, table_schema
from groupreplay.tables.views import VIEWS
from groupreplay.tables.warehouse import Warehouse
from tests.end_to_end.conftest import ROOT
from tests.end_to_end.demo_decisions import statements_say, views_say
from tests.end_to_end.logs import RECORDINGS
from tests.end_to_end.printed import printed
from tests.support.duckdb_views import EXTENSION, duckdb_views
from tests.support.engines import ENGINES, QUESTIONS, Engine, Question, rows, types
from tests.support.temporary_views import views_made_by

NIGHT = date(2026, 11, 21)
SCHEMA = "groupreplay_test"

# ---------------------------------------------------------------- files


def test_an_export_is_one_file_with_the_rows_of_the_night(
    demo: FinishedNight, tmp_path: Path
) -> None:
    rows = demo.read("migration_progress")
    for form in (CSV, JSON, PARQUET):
        assert export(rows, form, str(tmp_path / f"progress.{form}")) == 11
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "progress.csv",
        "progress.json",
        "progress.parquet",
    ]
    with (tmp_path / "progress.csv").open(newline="", encoding="utf-8") as file:
        in_csv = {row["group_id"]: row for row in csv.DictReader(file)}
    lines = (tmp_path / "progress.json").read_text(encoding="utf-8").splitlines()
    in_json = {row["group_id"]: row for row in map(json.loads, lines)}
    in_parquet = pq.ParquetFile(tmp_path / "progress.parquet").read().to_pylist()
    assert in_csv.keys() == in_json.keys() == {row["group_id"] for row in in_parquet}
    assert list(in_csv["mixed-stall"]) == list(in_json["mixed-stall"]) == rows.columns
    for row in in_parquet:
        as_json, as_csv = in_json[row["group_id"]], in_csv[row["group_id"]]
        assert as_json["blockers"] == json.loads(as_csv["blockers"]) == row["blockers"]
        for name, value in row.items():
            if value is None:
                assert (as_json[name], as_csv[name]) == (None, "")
            elif name.endswith("_at"):
                at = f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03}Z"
                assert as_json[name] == as_csv[name] == at
            elif name != "blockers":
                assert str(as_json[name]).lower() == as_csv[name].lower() == str(value).lower()


def test_an_export_chooses_rows_by_sql_and_keeps_texts_whole(
    spark: SparkSession, demo: FinishedNight, tmp_path: Path
) -> None:
    stuck = demo.read("stuck_members")
    longest = "stuck_ms = (SELECT max(stuck_ms) FROM stuck_members)"
    assert export(chosen(stuck, "stuck_members", longest), JSON, str(tmp_path / "one.json")) == 1
    assert json.loads((tmp_path / "one.json").read_text())["reason"] == "NOT_HEARTBEATING"
    texts = 'a "b", c\n\\"d', "", None
    odd = spark.createDataFrame([texts], "x STRING, y STRING, z STRING")
    export(odd, CSV, str(tmp_path / "odd.csv"))
    with (tmp_path / "odd.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["x", "y", "z"], [texts[0], "", ""]]
    assert (tmp_path / "odd.csv").read_text().endswith(',"",\n'), "NULL is no empty text"
    assert export(demo.read("stuck_now"), CSV, str(tmp_path / "view.csv")) == 3
    assert export(stuck, PARQUET, f"{tmp_path}/folder/") == 3
    assert list((tmp_path / "folder").glob("*.parquet"))


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("nope = 1", "UNRESOLVED_COLUMN"),
        ("is_open = )", "PARSE_SYNTAX_ERROR"),
        ("stuck_ms", "FILTER_NOT_BOOLEAN"),
        ("group_id = 5", "CAST_INVALID_INPUT"),
    ],
)
def test_a_condition_that_cannot_be_is_blamed(
    demo: FinishedNight, tmp_path: Path, where: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        export(
            chosen(demo.read("stuck_members"), "stuck_members", where),
            CSV,
            str(tmp_path / "x.csv"),
        )
    assert str(caught.value).startswith("--where: ")
    assert list(tmp_path.iterdir()) == []


def test_an_export_never_replaces_what_is_there(demo: FinishedNight, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("mine")
    with pytest.raises(ConfigError, match="mine.csv is there already; remove it, or name another"):
        export(demo.read("topics"), CSV, str(tmp_path / "mine.csv"))
    assert (tmp_path / "mine.csv").read_text() == "mine"
    (tmp_path / "file").touch()
    with pytest.raises(NotReady, match="Parent path is not a directory"):
        export(demo.read("topics"), CSV, str(tmp_path / "file/x.csv"))


def test_what_is_read_is_the_newest_night_that_is_finished(
    spark: SparkSession, demo: FinishedNight
) -> None:
    assert demo.logical_date == NIGHT
    root = demo.warehouse.root
    with pytest.raises(NotReady, match="no night of cluster other in .* is done yet; run run_nigh"):
        FinishedNight.newest(spark, root, "other")
    older = FinishedNight(demo.warehouse, NIGHT, {})
    with pytest.raises(NotReady, match="by a version that has no table topics"):
        older.read("topics")
    assert demo.read("runs").count() == 1
    assert FinishedNight(demo.warehouse, NIGHT, {"topics": 0}).read("topics").count() == 0


# ---------------------------------------------------------------- names


@pytest.fixture(scope="module")
def names(spark: SparkSession, demo: FinishedNight) -> Iterator[str]:
    """The schema in which tables and views of the demo are registered, and which is in use."""
    registered = register(demo, SCHEMA)
    assert registered.tables == PUBLIC
    assert registered.views == tuple(VIEWS)
    spark.sql(f"USE {SCHEMA}")
    yield SCHEMA
    spark.sql("USE default")
    spark.sql(f"DROP SCHEMA {SCHEMA} CASCADE")


def answer(spark: SparkSession, statement: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in spark.sql(statement).collect()]


def described(spark: SparkSession, name: str) -> dict[str, str]:
    """Column or property -> its comment or value."""
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    return {row["col_name"]: row["comment"] or row["data_type"] for row in rows}


def test_tables_have_names_and_their_comments(
    spark: SparkSession, demo: FinishedNight, names: str
) -> None:
    assert answer(spark, f"SELECT count(*) FROM {names}.group_epochs") == [
        (demo.read("group_epochs").count(),)
    ]
    told = described(spark, f"{names}.stuck_members")
    assert told["Location"].endswith("/stuck_members")
    assert "; ms" in told["stuck_ms"]
    assert told["Comment"] == table_schema(spark, "stuck_members").comment
    view = described(spark, f"{names}.stuck_now")
    assert view["Comment"].startswith("Which members and groups are stuck now")
    assert view["Comment"].endswith("Cluster demo.")
    assert view["stuck_ms"] == told["stuck_ms"], "a column keeps its comment"


@pytest.fixture(scope="module")
def answers(spark: SparkSession, names: str) -> dict[str, list[Row]]:
    """View -> its rows, asked once."""
    return {name: spark.sql(f"SELECT * FROM {names}.{name}").collect() for name in VIEWS}


def test_views_answer_what_the_recording_shows(answers: dict[str, list[Row]]) -> None:
    """By hand from the stories of tests/recordings/README.md and the demo's summary."""

    def told(view: str, *columns: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(row[column] for column in columns) for row in answers[view])

    assert told("fleet_now", "phase", "groups_count", "members_consumer") == [
        ("CLASSIC", 1, 0),
        ("MIGRATED", 4, 12),
        ("MIGRATING", 2, 3),
        ("NOT_APPLICABLE", 1, 0),
        ("ROLLED_BACK", 3, 0),
    ]
    assert [who for who in told("blockers_now", "phase", "client_id") if who[0] == "MIGRATING"] == [
        ("MIGRATING", "mixed-stall-c2"),
        ("MIGRATING", "upgrade-slow-c0"),
        ("MIGRATING", "upgrade-slow-c1"),
    ]
    stuck = [
        ("mixed-stall", "MIGRATION_STALLED", None),
        ("refused", "UPGRADE_REFUSED", None),
        ("upgrade-slow", "MIGRATION_STALLED", None),
    ]
    assert told("stuck_now", "group_id", "reason", "member_id") == stuck
    slow = [row for row in answers["hand_overs_7d"] if row["revoke_ms_max"] > 999]
    assert [(row["client_id"], row["revoke_ms_p50"]) for row in slow] == [("upgrade-slow-c0", 6009)]
    assert sum(row["partitions_count"] for row in answers["hand_overs_7d"]) == 23
    of_groups = [row["group_id"] for row in answers["groups_now"] if row["stuck_groups_count"]]
    assert sorted(of_groups) == [group for group, *_ in stuck]
    absences = told("static_absences_7d", "group_id", "absences_count", "absorbed", "duplicates")
    assert absences == [("static-upgrade", 3, 3, 0)]
    assert told("streams_now", "group_id", "tasks") == [("refused", 3)]
    assert sum(row["epochs_count"] for row in answers["rebalance_causes_7d"]) == 61
    assert len(answers["inputs_now"]) == 11
    assert sum(row["holes"] + row["undecoded"] for row in answers["inputs_now"]) == 0
    assert answers["anomalies_7d"] == []


def test_views_of_decisions_answer_what_the_recording_shows(
    demo: FinishedNight, answers: dict[str, list[Row]]
) -> None:
    views_say(answers, demo)


def test_views_hold_to_the_night_that_they_were_made_for(
    spark: SparkSession, demo: FinishedNight, names: str
) -> None:
    """Version 0 of a table is what it was before its first night: empty."""
    stuck = ("stuck_groups", "stuck_members")
    older = FinishedNight(demo.warehouse, NIGHT, dict.fromkeys(stuck, 0))
    newer = FinishedNight(demo.warehouse, NIGHT, {name: demo.versions[name] for name in stuck})
    try:
        assert register(older, SCHEMA).views == ("stuck_now",), "those whose tables are there"
        assert answer(spark, f"SELECT * FROM {names}.stuck_now") == []
        counted = answer(spark, f"SELECT count(*) FROM {names}.stuck_groups")
        assert counted == [(3,)], "tables go on"
    finally:
        register(newer, SCHEMA)
    assert len(answer(spark, f"SELECT * FROM {names}.stuck_now")) == 3
    assert register(newer, SCHEMA, "eu_").views == ("eu_stuck_now",)
    assert len(answer(spark, f"SELECT * FROM {names}.eu_stuck_now")) == 3


def test_names_that_are_taken_or_would_be_lost_are_refused(
    spark: SparkSession, demo: FinishedNight, names: str, tmp_path: Path
) -> None:
    shutil.copytree(f"{demo.warehouse.root}/runs", tmp_path / "runs")
    other = Warehouse(spark, str(tmp_path), "demo")
    with pytest.raises(
        ConfigError, match=r"catalog: schema: .*`runs` is another table, at .*/demo"
    ):
        register(FinishedNight(other, NIGHT, {}), SCHEMA)
    with pytest.raises(NotReady, match=r"in no_such\.schema: .*; see to the catalog, then run"):
        register(demo, "no_such.schema")
    with pytest.raises(NotReady, match="Spark keeps its catalog in memory"):
        check_lasting(spark, "groupreplay")
    check_lasting(spark, "lake.groupreplay")
    config = Config(
        cluster="demo",
        warehouse=demo.warehouse.root,
        sources=(Source(kind="segments", path=str(RECORDINGS / "migration-4.3/segments")),),
        catalog=CatalogConfig(schema="groupreplay"),
    )
    with pytest.raises(NotReady, match="Spark keeps its catalog in memory"):
        run_night(spark, config)
    with pytest.raises(NotReady, match="Spark keeps its catalog in memory"):
        maintain(spark, config)


def test_temporary_views_are_in_the_statements_of_the_night(
    spark: SparkSession, demo: FinishedNight, answers: dict[str, list[Row]]
) -> None:
    """_sql/spark.sql and _sql/views.sql, for who has no catalog."""
    folder = Path(demo.warehouse.root, "_sql")
    texts = ((folder / file).read_text(encoding="utf-8") for file in ("spark.sql", "views.sql"))
    with views_made_by(spark, *texts) as made:
        assert set(VIEWS) <= set(made)
        for name in ("fleet_now", "blockers_now"):
            found = spark.table(name).collect()
            assert sorted(found, key=str) == sorted(answers[name], key=str)
        statements_say(spark, folder / "decisions")


# ---------------------------------------------------------------- what docs/sql.md prints

DOCUMENT = ROOT / "docs/sql.md"
QUESTION = re.compile(r"^```sql\n(.*?)\n```\n```text\n(.*?)```$", re.MULTILINE | re.DOTALL)
REWRITE = bool(os.environ.get("REWRITE_GOLDEN"))
"""REWRITE_GOLDEN=1 writes the answers anew; look at the difference before you keep it."""


def test_the_document_shows_what_its_statements_print(spark: SparkSession, names: str) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")

    def asked(found: re.Match[str]) -> str:
        answer = spark.sql(found[1])
        said = printed(answer.columns, answer.collect())
        return f"```sql\n{found[1]}\n```\n```text\n{said}```"

    answered, count = QUESTION.subn(asked, text)
    assert count == 20
    if REWRITE:
        DOCUMENT.write_text(answered, encoding="utf-8")
    assert answered.splitlines() == text.splitlines()


# ---------------------------------------------------------------- other engines


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "polars":
        pytest.importorskip("polars")
    found: Engine = ENGINES[request.param]()
    return found


@pytest.fixture(scope="module")
def as_spark(spark: SparkSession, demo: FinishedNight) -> dict[str, tuple[Any, Any]]:
    """Public table -> its types and rows as Spark reads them."""
    found = {name: demo.read(name).toArrow() for name in PUBLIC}
    return {name: (types(table), rows(table)) for name, table in found.items()}


def test_an_engine_reads_every_table_as_spark_does(
    demo: FinishedNight, as_spark: dict[str, tuple[Any, Any]], engine: Engine
) -> None:
    """Values, NULLs, types and time zones."""
    for name, (of_columns, of_rows) in as_spark.items():
        table = engine.read(demo.warehouse.path(name))
        assert types(table) == of_columns, name
        assert rows(table) == of_rows, name
    assert sum(len(of_rows) for _, of_rows in as_spark.values()) > 500


@pytest.fixture(scope="module")
def questions(spark: SparkSession, demo: FinishedNight) -> list[tuple[Question, Any]]:
    """Questions with what Spark answers."""
    found = []
    for question in QUESTIONS:
        demo.read(question.table).createOrReplaceTempView("asked")
        found.append((question, rows(spark.sql(question.sql("asked")).toArrow())))
    spark.catalog.dropTempView("asked")
    return found


def test_an_engine_answers_as_spark_does(
    demo: FinishedNight, questions: list[tuple[Question, Any]], engine: Engine
) -> None:
    for question, expected in questions:
        found = rows(engine.answer(question, demo.warehouse.path(question.table)))
        assert found == expected, question.table
        assert expected, question.table


def test_duckdb_has_the_views_of_spark(demo: FinishedNight, answers: dict[str, list[Row]]) -> None:
    """_sql/duckdb.sql and _sql/views.sql."""
    folder = Path(demo.warehouse.root, "_sql")
    connection = duckdb_views((folder / "duckdb.sql").read_text(encoding="utf-8"), EXTENSION)
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute((folder / "views.sql").read_text(encoding="utf-8"))
    for name, expected in answers.items():
        found = connection.execute(f"SELECT * FROM {name}").to_arrow_table()
        asked = [{**row.asDict(recursive=True), **_times(row)} for row in expected]
        # Of types that Python's own values say, not of those that DuckDB found.
        assert rows(found) == rows(pa.Table.from_pylist(asked)), name


def _times(row: Row) -> dict[str, datetime]:
    """Times of a row with their zone: Spark gives them in that of the process, which is UTC here."""
    return {
        name: value.replace(tzinfo=UTC)
        for name, value in row.asDict().items()
        if isinstance(value, datetime)
    }
