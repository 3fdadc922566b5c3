"""Links of documents lead somewhere, the files that they name exist, and their lines are short."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.support.documents import DOCUMENTS, ROOT

CITING: Final = sorted(
    [
        *DOCUMENTS,
        *(ROOT / "tests").rglob("README.md"),
        *(ROOT / "schemas").rglob("*.sql"),
        *(path for path in (ROOT / "conf").iterdir() if path.suffix in {".yaml", ".conf"}),
    ]
)
"""Files whose text names other files of this repository."""

ROOMS: Final = frozenset(
    path.name
    for place in (ROOT, ROOT / "lib" / "groupreplay")
    for path in place.iterdir()
    if path.is_dir() and not path.name.startswith((".", "_")) and path.name not in ("build", "dist")
)
"""Folders of the top level and of the package, but for those that commands make."""


def anchors(document: str) -> set[str]:
    """What a heading is linked by: lower case, without punctuation, spaces as dashes."""
    prose = re.sub(r"^```.*?^```", "", document, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.replace("`", "")).lower().replace(" ", "-")
        for heading in headings
    }


def links(path: Path) -> list[str]:
    """What a document links to in this repository, as it stands there."""
    prose = re.sub(
        r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def linked(path: Path, target: str) -> Path:
    name = target.partition("#")[0]
    return (path.parent / name).resolve() if name else path


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_resolve(path: Path) -> None:
    broken = []
    for target in links(path):
        found, anchor = linked(path, target), target.partition("#")[2]
        if not found.exists() or (
            anchor and anchor not in anchors(found.read_text(encoding="utf-8"))
        ):
            broken.append(target)
    assert broken == []


def test_every_page_is_two_clicks_from_the_readme() -> None:
    def clicked(pages: set[Path]) -> set[Path]:
        documents = [page for page in pages if page.suffix == ".md"]
        return {linked(page, target) for page in documents for target in links(page)}

    first = clicked({ROOT / "README.md"})
    pages = set((ROOT / "docs").rglob("*.md"))
    assert sorted(pages - first - clicked(first)) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_paragraphs_have_lines_of_100_columns(path: Path) -> None:
    """Tables are rows, and what is fenced is quoted: both may be longer."""
    prose = re.sub(
        r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    lines = [line for line in prose.splitlines() if not line.startswith("|")]
    assert [line for line in lines if len(line) > 100] == []


def cited(path: Path) -> set[str]:
    """Paths of this repository that a file names: in backticks, or anywhere where they begin with
    a folder of its top level. `<table>` stands for any name.
    """
    text = path.read_text(encoding="utf-8")
    in_backticks = re.findall(r"`([\w-][\w.<>-]*(?:/[\w.<>-]+)*/[\w.<>-]*)`", text)
    suffixes = r"py|sql|yaml|md|sh|conf|properties|sha256"
    return {
        name
        for name in in_backticks
        if re.search(rf"\.({suffixes})$", name) or name.partition("/")[0] in ROOMS
    } | set(
        re.findall(
            rf"(?<![\w./>-])((?:conf|docs|jobs|lib|schemas|tests)/[\w./-]+\.(?:{suffixes}))\b", text
        )
    )


@pytest.mark.parametrize("path", CITING, ids=lambda path: str(path.relative_to(ROOT)))
def test_cited_files_exist(path: Path) -> None:
    """From the top of the repository, from the citing file, or from the package."""
    places = (ROOT, path.parent, ROOT / "lib" / "groupreplay")
    missing = {
        name
        for name in cited(path)
        if not any(list(place.glob(re.sub(r"<\w+>", "*", name.rstrip("/")))) for place in places)
    }
    assert missing == set()
