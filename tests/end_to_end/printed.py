"""Rows as a document prints them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pyspark.sql import Row


def printed(columns: list[str], rows: list[Row]) -> str:
    """Columns as wide as they must be, two blanks apart; nothing at the ends of lines."""
    cells = [columns, *([_cell(value) for value in row] for row in rows)]
    wide = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    lines = ["  ".join(f"{cell:<{wide[n]}}" for n, cell in enumerate(line)) for line in cells]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}.{value.microsecond // 1000:03}"
    return str(value).lower() if isinstance(value, bool) else str(value)
