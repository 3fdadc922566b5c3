"""Pages of real groups in a real browser: each is clean, and those of each kind can be read by
everybody.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from groupreplay.page.drawing.document import slug
from groupreplay.page.group.group_page import group_page
from tests.page.group.test_group_page_recordings import lives
from tests.support.browser import (
    OPEN_ALL,
    WIDTHS,
    Open,
    broken_rules,
    check_clean,
    faint_in_dark,
)
from tests.support.recordings import recordings

pytestmark = [pytest.mark.browser, pytest.mark.long]

READ = {
    ("classic-3.9", "classic-fenced-instance"),
    ("consumer-4.3", "stuck-revoker"),
    ("compacted-4.3", "churn"),
    ("migration-4.3", "static-upgrade"),
    ("streams-classic-4.3", "streams-restart"),
    ("streams-protocol-4.3", "kstreams-standby"),
}
"""One of each kind: its recording and its group."""


def written(folder: Path, recording: str) -> dict[str, str]:
    """Group -> the address of its page."""
    found = {}
    for life in lives(recording):
        path = folder / f"{slug(recording, life.group_id)}.html"
        path.write_text(group_page(life), encoding="utf-8")
        found[life.group_id] = path.as_uri()
    return found


@cache
def drawn() -> dict[tuple[str, str], str]:
    """Recording and group -> its page."""
    return {
        (each, life.group_id): group_page(life) for each in recordings() for life in lives(each)
    }


def telling() -> list[str]:
    """The longest page of each recording, that with the longest id, and what shows what none of
    these does: whatever any page is drawn with is on one of them.
    """
    pages = sorted(drawn(), key=lambda of: -len(drawn()[of]))
    chosen = {recording: (recording, group) for recording, group in reversed(pages)}
    first = [*chosen.values(), max(pages, key=lambda of: len(of[1]))]
    found: dict[str, None] = {}
    seen: set[tuple[str, str]] = set()
    for of in [*first, *pages]:
        page = drawn()[of]
        looks = set(re.findall(r'class="([^"]+)"|<h2[^>]*>([^<]+)', page))
        if of in first or not looks <= seen:
            found[page] = None
            seen |= looks
    return list(found)


def every() -> list[str]:
    return list(drawn().values())


@pytest.mark.parametrize(
    ("chosen", "least"), [(telling, 12), pytest.param(every, 80, marks=pytest.mark.soak)]
)
def test_pages_of_recordings_are_clean(
    open_page: Open, tmp_path: Path, chosen: Callable[[], list[str]], least: int
) -> None:
    opened, pages = open_page(), chosen()
    for number, page in enumerate(pages):
        path = tmp_path / f"{number}.html"
        path.write_text(page, encoding="utf-8")
        check_clean(opened, path.as_uri())
    assert len(pages) > least


UNSEEN_ENDS = """[...document.querySelectorAll('.lane .l1, .tp')].filter(place => {
    const name = place.querySelector('bdi').firstChild, end = document.createRange();
    end.setStart(name, name.length - 1);
    end.setEnd(name, name.length);
    const last = end.getBoundingClientRect(), room = place.getBoundingClientRect();
    return last.left < room.left - 1 || last.right > room.right + 1;
}).map(place => place.textContent)"""


def test_names_that_are_too_long_show_their_ends(open_page: Open, tmp_path: Path) -> None:
    """Clients of this group are told apart by nothing else."""
    url = written(tmp_path, "scala-3.9")["classic-slow-join-s"]
    page = open_page().ready(url)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        assert page.locator(".lane .l1").count() == 4
        assert page.evaluate(UNSEEN_ENDS) == [], width


def test_everybody_can_read_pages_of_recordings(open_page: Open, tmp_path: Path) -> None:
    pages = {
        (each, group): url
        for each in sorted({recording for recording, _ in READ})
        for group, url in written(tmp_path, each).items()
    }
    opened = open_page(color_scheme="light", bypass_csp=True)
    for each in sorted(READ):
        page = opened.ready(pages[each])
        page.evaluate(OPEN_ALL)
        assert broken_rules(page) == [], each
        assert faint_in_dark(page) == [], each
