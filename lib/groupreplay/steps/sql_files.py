"""`<warehouse>/_sql/*.sql`: statements that read one consistent set of tables, with the versions of the newest night filled in.

Each table is committed by itself, so a reader by path may see one table of this night beside one of the last. These files name what belongs together.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date


def sql_files(root: str, cluster: str, logical_date: date, versions: Mapping[str, int]) -> dict[str, str]:
    """File name -> text. root: of the warehouse, without a slash at its end."""
    header = f"-- Tables of cluster {cluster} as the night {logical_date} left them, at versions that belong together."
    return {
        "spark.sql": "\n".join([header, "-- spark-sql -i spark.sql", *[_spark(root, cluster, *each) for each in sorted(versions.items())], ""]),
        "duckdb.sql": "\n".join(
            [header, "-- duckdb -init duckdb.sql", "LOAD delta;", *[_duckdb(root, cluster, *each) for each in sorted(versions.items())], ""]
        ),
        "trino.sql": "\n".join([header, *_TRINO_WORDS, *[_trino(root, cluster, *each) for each in sorted(versions.items())], ""]),
    }


_TRINO_WORDS = (
    "-- Once for each table, in a schema of a Delta Lake catalog; afterwards the SELECTs, or views of them:",
    "-- CALL system.register_table(schema_name => CURRENT_SCHEMA, table_name => 'NAME', table_location => 'LOCATION');",
)


def _spark(root: str, cluster: str, name: str, version: int) -> str:
    path = f"{root}/{name}".replace("`", "``")
    return f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM delta.`{path}` VERSION AS OF {version} WHERE cluster = '{cluster}';"


def _duckdb(root: str, cluster: str, name: str, version: int) -> str:
    path = _quoted(f"{root}/{name}")
    return f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM delta_scan({path}, version => {version}) WHERE cluster = '{cluster}';"


def _trino(root: str, cluster: str, name: str, version: int) -> str:
    return f"SELECT * FROM {name} FOR VERSION AS OF {version} WHERE cluster = '{cluster}'; -- {root}/{name}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
