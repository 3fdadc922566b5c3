"""The documents of this repository, and what is fenced in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent

DOCUMENTS: Final = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def schema_columns() -> dict[str, list[str]]:
    """table -> its columns, read off the indentation of schemas/*.sql."""
    return {
        path.stem: re.findall(r"^  (\w+) +[A-Z]", path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in (ROOT / "schemas").glob("*.sql")
    }


def blocks(kind: str) -> list[tuple[str, str, str]]:
    """(document, first line, rest) of every fenced block of that kind."""
    pattern = re.compile(rf"^```{kind}\n(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
    return [
        (path.name, found[1], found[2])
        for path in DOCUMENTS
        for found in pattern.finditer(path.read_text(encoding="utf-8"))
    ]
