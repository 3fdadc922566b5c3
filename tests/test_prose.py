"""Sources and documents are in plain English, as far as a rule without exceptions can hold it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.documents import DOCUMENTS

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*(ROOT / "lib").rglob("*.py"), *(ROOT / "jobs").glob("*.py")])

UNPLAIN_WORDS = re.compile(r"\b(?:anew|as it were|what of it|tells?|telling)\b", re.IGNORECASE)
"""Words that a reader of plain English stumbles over; `tell` stands for show, say, emit, notify."""
BARE_OF = re.compile(r"(?:\A|\n\s*\n)\s*Of\b|^\s*[\w, `]+: Of\b", re.MULTILINE)
"""A docstring, a paragraph of it, or what a field is, that begins with whose it is."""


def _docstrings(text: str) -> Iterator[tuple[int, str]]:
    """(line, text) of docstrings, and of what explains the name above it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.lineno, str(node.value.value)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _unplain(text: str) -> list[tuple[int, str]]:
    """(line of the docstring or the comment, what is not plain) of a module."""
    docstrings = [*_docstrings(text)]
    return [
        *((n, f[0]) for n, said in docstrings for f in UNPLAIN_WORDS.finditer(said)),
        *((n, f[0].strip()) for n, said in docstrings for f in BARE_OF.finditer(said)),
        *((n, f[0]) for n, said in _comments(text) for f in UNPLAIN_WORDS.finditer(said)),
    ]


@pytest.mark.parametrize(
    "folder",
    sorted({path.parent for path in SOURCES}),
    ids=lambda folder: str(folder.relative_to(ROOT)),
)
def test_prose_is_plain(folder: Path) -> None:
    for path in folder.glob("*.py"):
        assert _unplain(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_are_plain(path: Path) -> None:
    assert UNPLAIN_WORDS.findall(path.read_text(encoding="utf-8")) == []


def test_what_is_not_plain_is_found() -> None:
    assert _unplain(
        """
def f(group):
    \"\"\"Tells it anew. Of two groups the first counts.

    group: Of this night.
    \"\"\"
    # Of two groups it tells one.
    return "tell"  # what was told
"""
    ) == [(3, "Tells"), (3, "anew"), (3, "group: Of"), (7, "tells")]
