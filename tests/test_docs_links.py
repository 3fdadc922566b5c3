"""Links of documents lead somewhere, those to elsewhere have a form that can be trusted, the files
that they name exist, and their lines are short.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

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

HOSTS: Final = frozenset(
    {
        "cwiki.apache.org",
        "delta-io.github.io",
        "docs.pola.rs",
        "duckdb.org",
        "github.com",
    }
)
"""Where a text may lead outside of this repository: a new host is a choice, not an accident."""

_KIP: Final = re.compile(r"/confluence/display/KAFKA/KIP-\d+(?:[%+].+)?")
_PINNED: Final = re.compile(r"/(?:blob|tree)/(?:[0-9a-f]{40}|v?\d+\.\d+[\w.-]*)/")
_MOVING: Final = re.compile(r"/(?:blob|tree|blame|raw)/")

KIPS: Final = frozenset({62, 345, 394, 429, 441, 848, 881, 932, 1071, 1251, 1263, 1282})
"""KIPs that texts and sources name, so that no number is mistyped."""


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


def wrong_with(url: str) -> str:
    """What a link to elsewhere has wrong by its form, "" for nothing. No test asks a network, so
    whether it is there is not known.
    """
    parts = urlsplit(url)
    if parts.scheme != "https":
        return "not https"
    if parts.netloc not in HOSTS:
        return "not a host that is named here"
    if parts.netloc == "cwiki.apache.org" and not _KIP.fullmatch(parts.path):
        return "not the page of a KIP by its name"
    if _MOVING.search(parts.path) and not _PINNED.search(parts.path):
        return "a source without a commit or a tag: what it shows moves"
    return ""


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("https://duckdb.org/docs/stable/core_extensions/delta", ""),
        ("http://duckdb.org/", "https"),
        ("https://duckdb.org.example/", "host"),
        ("https://user@duckdb.org/", "host"),
        ("https://cwiki.apache.org/confluence/display/KAFKA/KIP-848", ""),
        ("https://cwiki.apache.org/confluence/display/KAFKA/KIP-848%3A+The+Next+Generation", ""),
        ("https://cwiki.apache.org/confluence/pages/viewpage.action?pageId=217387038", "KIP"),
        ("https://cwiki.apache.org/confluence/display/KAFKA/KIP-848-next", "KIP"),
        ("https://github.com/apache/kafka/blob/4.3.1/README.md#L3", ""),
        (f"https://github.com/apache/kafka/blob/{'0a' * 20}/README.md", ""),
        ("https://github.com/apache/kafka/pull/1", ""),
        ("https://github.com/apache/kafka/blob/trunk/README.md#L3", "moves"),
        ("https://github.com/apache/kafka/tree/4.3/core", ""),
    ],
)
def test_form_of_a_link_to_elsewhere(url: str, wrong: str) -> None:
    found = wrong_with(url)
    assert bool(found) == bool(wrong)
    assert wrong in found


@pytest.mark.parametrize("path", CITING, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_elsewhere_are_well_formed(path: Path) -> None:
    urls = re.findall(r"\bhttps?://[^\s)>\]\"'`]+", path.read_text(encoding="utf-8"))
    assert {url: wrong for url in urls if (wrong := wrong_with(url))} == {}


def test_kips_are_named_in_one_form() -> None:
    """And each that is named is one of `KIPS`, and the other way round."""
    sources = [
        path
        for folder in ("lib", "jobs", "tests")
        for kind in ("py", "yaml")
        for path in (ROOT / folder).rglob(f"*.{kind}")
        if path != Path(__file__)
    ]
    named = [
        (path, found)
        for path in {*CITING, *sources}
        for found in re.findall(r"\bKIP[ -]?\d+", path.read_text(encoding="utf-8"))
    ]
    assert [each for each in named if not re.fullmatch(r"KIP-\d+", each[1])] == []
    assert {int(found[4:]) for _, found in named} == KIPS


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_paragraphs_have_lines_of_100_columns(path: Path) -> None:
    """Tables are rows, and what is fenced is quoted: both may be longer."""
    prose = re.sub(
        r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    lines = [line for line in prose.splitlines() if not line.startswith("|")]
    assert [line for line in lines if len(line) > 100] == []


@pytest.mark.parametrize("folder", ["schemas", "conf"])
def test_schemas_and_configurations_have_lines_of_100_columns(folder: str) -> None:
    paths = [*(ROOT / folder).rglob("*.sql"), *(ROOT / folder).rglob("*.yaml")]
    assert paths
    long = [
        (path.name, number)
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 100
    ]
    assert long == []


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
