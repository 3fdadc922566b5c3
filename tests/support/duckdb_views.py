"""The statements of `_sql/duckdb.sql`, run by DuckDB."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import duckdb
import pytest
from deltalake import DeltaTable

EXTENSION, ARROW = "delta extension", "delta-rs and Arrow"
WAYS = (EXTENSION, ARROW)
"""How the tables are read: as users do, or with the function of the extension replaced by a scan of
the same version of the same table. Everything else of the statements is as it stands in the file.
"""

_SCAN = re.compile(r"delta_scan\('((?:[^']|'')*)', version => (\d+)\)")


def duckdb_views(text: str, way: str) -> duckdb.DuckDBPyConnection:
    """A connection that has the views. Skips where DuckDB's Delta extension cannot be had."""
    connection = delta_connection() if way == EXTENSION else duckdb.connect()
    connection.execute(text if way == EXTENSION else _with_arrow(connection, text))
    return connection


def delta_connection() -> duckdb.DuckDBPyConnection:
    """A connection with the Delta extension. Skips where that cannot be had."""
    connection = duckdb.connect()
    connection.execute(f"LOAD '{_extension()}'")
    return connection


def _extension() -> Path:
    """The file that `INSTALL delta` would fetch."""
    version = f"v{duckdb.__version__}"
    path = Path(str(files("duckdb_extension_delta"))) / "extensions" / version
    path /= "delta.duckdb_extension"
    if not path.exists():
        pytest.skip(f"no Delta extension for DuckDB {version}: {path}")
    return path


def _with_arrow(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """The statements with each scan replaced by a dataset of Arrow."""
    assert text.count("LOAD delta;") == 1
    scans = list(_SCAN.finditer(text))
    for index, scan in enumerate(scans):
        path, version = scan[1].replace("''", "'"), int(scan[2])
        dataset = DeltaTable(path, version=version).to_pyarrow_dataset()
        connection.register(f"scan_{index}", dataset)
        text = text.replace(scan[0], f"scan_{index}")
    return text.replace("LOAD delta;", "")
