"""Views that answer what people ask in the morning, each a SELECT in schemas/views/<view>.sql.

The statements name tables as they are called and no cluster: whoever runs one says which rows these
names stand for, so that all tables are of one finished night. They are in words that Spark and
DuckDB share, but for `explode`, which is a macro there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final

from groupreplay.tables.schemas import PUBLIC

_FOLDER: Final = resources.files("groupreplay").joinpath("_schemas", "views")


@dataclass(frozen=True, slots=True)
class View:
    """comment: what it answers, and its grain.
    select: the statement, without the comment.
    tables: names of the tables that it reads, sorted.
    """

    name: str
    comment: str
    select: str
    tables: tuple[str, ...]


def _view(name: str, text: str) -> View:
    lines = text.splitlines()
    said = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
    select = "\n".join(line for line in lines if not line.startswith("--")).strip()
    named = set(re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", select))
    return View(name, " ".join(said), select, tuple(sorted(named.intersection(PUBLIC))))


VIEWS: Final[Mapping[str, View]] = {
    file.name.removesuffix(".sql"): _view(
        file.name.removesuffix(".sql"), file.read_text(encoding="utf-8")
    )
    for file in sorted(_FOLDER.iterdir(), key=lambda file: file.name)
    if file.name.endswith(".sql")
}
"""View -> what it is, in order of the alphabet."""


TABLES_OF_VIEWS: Final = frozenset(name for view in VIEWS.values() for name in view.tables)


def over(view: View, rows: Mapping[str, str]) -> str:
    """The statement over these rows.

    rows: table -> the SELECT that its name stands for, for all tables that the view reads.
    """
    tables = ", ".join(f"{name} AS ({rows[name]})" for name in view.tables)
    return f"WITH {tables} SELECT * FROM (\n{view.select}\n) AS {view.name}"


def temporary_views() -> str:
    """Statements that make all views, over tables or views that are called as the tables are."""
    return "\n".join(
        f"-- {view.comment}\nCREATE OR REPLACE TEMPORARY VIEW {name} AS\n{view.select};\n"
        for name, view in VIEWS.items()
    )
