"""Pages in a real browser: Debian's chromium by playwright. What cannot be had is skipped, and the
summary of the tests says how to get it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import pytest

CHROMIUM = os.environ.get("GROUPREPLAY_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
"""What a chart shows as numbers, too."""
WIDTHS = (390, 1280)
"""Of a phone, and of a screen."""

_AXE = files("axe_playwright_python") / "axe.min.js"
"""axe-core 4.12: the rules of accessibility."""
_TOLD = {"resultTypes": ["violations"], "elementRef": False}
"""Of what a page keeps to, one place of each rule: thousands are not carried over."""
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@dataclass
class Opened:
    """A page, what it asked for, and what it said."""

    page: Any
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def ready(self, url: str) -> Any:
        if self.page.url.partition("#")[0] == url.partition("#")[0]:
            # The same file with another hash would not be loaded anew.
            self.page.goto("about:blank")
        self.requests.clear()
        self.page.goto(url)
        wait_until(self.page, "document.documentElement.classList.contains('ready')")
        return self.page


Open = Callable[..., Opened]


@contextmanager
def started_browser() -> Iterator[Any]:
    """Skips where there is none."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="no page is opened: playwright is not installed (make setup)"
    )
    if CHROMIUM is None:
        pytest.skip(
            "no page is opened: there is no chromium (apt-get install chromium, or name one in"
            " GROUPREPLAY_CHROMIUM)"
        )
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield started
        started.close()


@contextmanager
def opening(browser: Any) -> Iterator[Open]:
    """Opens pages, each in a context of its own, until the end."""
    contexts = []

    def opened(**options: Any) -> Opened:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        found = Opened(context.new_page())
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.on("console", lambda line: found.said.append(line.text))
        found.page.on("pageerror", lambda error: found.said.append(str(error)))
        return found

    yield opened
    for context in contexts:
        context.close()


def wait_until(page: Any, expression: str) -> None:
    """Playwright's own way evaluates text, which the policy of the page forbids."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {expression}")


def broken_rules(page: Any, *, with_contrast: bool = True) -> list[tuple[str, list[str]]]:
    """What a page, opened with `bypass_csp`, has against everybody's reading it: (rule, where).

    with_contrast: whether colours are asked too, which takes most of the time.
    """
    page.evaluate(_AXE.read_text(encoding="utf-8"))
    rules = {"color-contrast": {"enabled": with_contrast}}
    found = page.evaluate(
        "options => axe.run(document, options)", {"runOnly": _RULES, "rules": rules, **_TOLD}
    )
    assert len(found["passes"]) > 15
    return _violations(found)


def faint_in_dark(page: Any) -> list[tuple[str, list[str]]]:
    """The rule that a colour scheme can break, alone. After `broken_rules` of the same page."""
    page.emulate_media(color_scheme="dark")
    found = page.evaluate(
        "options => axe.run(document, options)",
        {"runOnly": {"type": "rule", "values": ["color-contrast"]}, **_TOLD},
    )
    page.emulate_media(color_scheme="light")
    assert len(found["passes"]) == 1
    return _violations(found)


def _violations(found: Any) -> list[tuple[str, list[str]]]:
    return [
        (each["id"], [node["html"][:160] for node in each["nodes"][:3]])
        for each in found["violations"]
    ]


def cut_tables(page: Any) -> list[str]:
    """Tables that are wider than their place, by how they begin."""
    cut = "t => t.checkVisibility() && t.scrollWidth > t.clientWidth"
    tables = f"[...document.querySelectorAll('.tw')].filter({cut})"
    found: list[str] = page.evaluate(f"{tables}.map(t => t.innerText.slice(0, 80))")
    return found


_BROKEN = r"""() => {
    const found = new Set(), texts = [];
    for (const cell of document.querySelectorAll('th, td')) {
        const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (cell.checkVisibility() && walk.nextNode()) texts.push(walk.currentNode);
    }
    for (const text of texts.filter(text => !text.parentElement.closest('.id'))) {
        for (const word of text.data.matchAll(/[^\s\u00a0-]+/g)) {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            const lines = new Set([...range.getClientRects()].map(each => Math.round(each.top)));
            if (lines.size > 1) found.add(word[0]);
        }
    }
    return [...found];
}"""


def broken_words(page: Any) -> list[str]:
    """Words in tables that go on in another line, but for ids."""
    found: list[str] = page.evaluate(_BROKEN)
    return found


def check_clean(opened: Opened, url: str) -> None:
    """Holds of each page: it asks for its file alone, says nothing, has few nodes, and nothing but
    its timeline scrolls sideways, and no word is broken, on a phone neither.
    """
    page = opened.ready(url)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.querySelectorAll('*').length") < 10_000, url
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (url, width)
        assert cut_tables(page) == [], (url, width)
        assert broken_words(page) == [], (url, width)
    assert (opened.requests, opened.said) == ([url], []), url
