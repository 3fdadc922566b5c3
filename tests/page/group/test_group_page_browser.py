"""Pages of real groups in a real browser: each is clean, and those of each kind can be read by
everybody.
"""

from __future__ import annotations

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


def test_pages_of_recordings_are_clean(open_page: Open, tmp_path: Path) -> None:
    opened = open_page()
    urls = [url for each in recordings() for url in written(tmp_path, each).values()]
    for url in urls:
        check_clean(opened, url)
    assert len(urls) > 80


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
