"""`<warehouse>/_sql/*.sql`: statements that read one consistent set of tables, with the versions of
the newest night filled in.

Each table is committed by itself, so a reader by path may see one table of this night beside one of
the last. These files name what belongs together: they are written when the newest night is DONE,
each in one go, and a run that finds others than its ledger says, because one died in between, mends
them first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from groupreplay.tables.views import TABLES_OF_VIEWS, temporary_views
from groupreplay.tables.warehouse import Warehouse

FOLDER: Final = "_sql"
_VIEWS_WORDS: Final = (
    "-- What people ask in the morning, over the views of spark.sql or of duckdb.sql, whichever was"
    " read before.\n"
)
NO_STATEMENTS: Final[Mapping[str, tuple[Sequence[str], str]]] = {}


def write_sql(
    warehouse: Warehouse,
    logical_date: date,
    versions: Mapping[str, int],
    statements: Mapping[str, tuple[Sequence[str], str]] = NO_STATEMENTS,
) -> None:
    """Writes the statements by which readers open the tables of a night.

    versions: table -> version, for all tables; those that lie elsewhere are none of the reader's
        business.
    statements: file name -> the tables that its text reads by the views, and the text.
    """
    public = {
        name: version
        for name, version in versions.items()
        if warehouse.root_of(name) == warehouse.root
    }
    for name, text in sql_files(warehouse.root, warehouse.cluster, logical_date, public).items():
        _replace(warehouse, name, text)
    if public.keys() >= TABLES_OF_VIEWS:
        _replace(warehouse, "views.sql", _VIEWS_WORDS + temporary_views())
    for name, (tables, text) in statements.items():
        if public.keys() >= set(tables):
            _replace(warehouse, name, text)


def _replace(warehouse: Warehouse, name: str, text: str) -> None:
    if warehouse.read_text(f"{FOLDER}/{name}") != text:
        warehouse.replace_text(f"{FOLDER}/{name}", text)


def mend_sql(
    warehouse: Warehouse,
    logical_date: date,
    versions: Mapping[str, int],
    statements: Mapping[str, tuple[Sequence[str], str]] = NO_STATEMENTS,
) -> None:
    """Writes what a run that died after it was DONE left to write.

    logical_date, versions: date of the newest night that was published, and table -> version as it
        left them.
    """
    if _is_of(warehouse.read_text(f"{FOLDER}/spark.sql"), warehouse.cluster):
        write_sql(warehouse, logical_date, versions, statements)


def _is_of(text: str, cluster: str) -> bool:
    """Whether the statements are this cluster's, or nobody's: clusters that share a warehouse share
    the files.
    """
    return not text or text.startswith(_header(cluster))


def _header(cluster: str) -> str:
    return f"-- Tables of cluster {cluster} as the night "


def sql_files(
    root: str, cluster: str, logical_date: date, versions: Mapping[str, int]
) -> dict[str, str]:
    """File name -> text.

    root: directory or URI of the warehouse, without a slash at its end.
    """
    header = f"{_header(cluster)}{logical_date} left them, at versions that belong together."
    return {
        "spark.sql": "\n".join(
            [
                header,
                "-- spark-sql -i spark.sql",
                *[_spark(root, cluster, *each) for each in sorted(versions.items())],
                "",
            ]
        ),
        "duckdb.sql": "\n".join(
            [
                header,
                "-- duckdb -init duckdb.sql",
                "LOAD delta;",
                *[_duckdb(root, cluster, *each) for each in sorted(versions.items())],
                "CREATE OR REPLACE TEMPORARY MACRO explode(list) AS unnest(list);",
                "",
            ]
        ),
        "trino.sql": "\n".join(
            [
                header,
                *_TRINO_WORDS,
                *[_trino(root, cluster, *each) for each in sorted(versions.items())],
                "",
            ]
        ),
    }


_TRINO_WORDS = (
    "-- No test of groupreplay runs these statements: they follow Trino's documentation.",
    (
        "-- Once for each table, in a schema of a Delta Lake catalog; afterwards the SELECTs, or"
        " views of them:"
    ),
    (
        "-- CALL system.register_table(schema_name => CURRENT_SCHEMA, table_name => 'NAME',"
        " table_location => 'LOCATION');"
    ),
)


def _spark(root: str, cluster: str, name: str, version: int) -> str:
    path = f"{root}/{name}".replace("`", "``")
    return (
        f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM delta.`{path}` VERSION AS OF"
        f" {version} WHERE cluster = '{cluster}';"
    )


def _duckdb(root: str, cluster: str, name: str, version: int) -> str:
    path = _quoted(f"{root}/{name}")
    return (
        f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM delta_scan({path}, version =>"
        f" {version}) WHERE cluster = '{cluster}';"
    )


def _trino(root: str, cluster: str, name: str, version: int) -> str:
    return (
        f"SELECT * FROM {name} FOR VERSION AS OF {version} WHERE cluster = '{cluster}'; --"
        f" {root}/{name}"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
