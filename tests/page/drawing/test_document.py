"""A whole page: its policy, its packed data, and the names of the pages of groups."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from datetime import date
from html.parser import HTMLParser
from typing import Any

import pytest

from groupreplay.page.drawing.document import CSS, JS, document, footer, pack, slug, top
from groupreplay.page.drawing.markup import el
from tests.support.page_rows import AS_OF_MS, HOSTILE, NIGHT


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text, validate=True)))


def test_data_comes_back_and_can_be_no_markup() -> None:
    data = {"id": list(HOSTILE), "n": [1, None]}
    text = pack(data)
    assert unpacked(text) == data
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", text)
    assert pack(data) == text, "no time of packing is in it"


def test_the_policy_lets_this_script_and_this_stylesheet_act() -> None:
    page = document("title", el("p", "body"), cls="overview")
    for asset, element in ((JS, "script"), (CSS, "style")):
        assert f"<{element}>{asset}</{element}>" in page
        digest = base64.b64encode(hashlib.sha256(asset.encode()).digest()).decode()
        assert f"{element}-src &#x27;sha256-{digest}&#x27;" in page.replace("&#39;", "&#x27;")
    assert "default-src" in page


def test_a_page_asks_nothing_of_anybody() -> None:
    page = document("title", el("p", "body"), {"id": ["g"]}, cls="overview")
    outside = page.replace(JS, "").replace(CSS, "")
    assert not re.search(r"(?:https?:)?//[a-z]", outside)
    assert outside.startswith("<!doctype html>")


def test_data_is_there_only_where_it_is_given() -> None:
    without = document("t", el("p", "b"), cls="overview")
    assert 'id="data"' not in without.replace(JS, "")
    assert 'id="data"' in document("t", el("p", "b"), {}, cls="overview").replace(JS, "")


@pytest.mark.parametrize("group_id", HOSTILE)
def test_no_id_is_ever_a_path(group_id: str) -> None:
    assert re.fullmatch(r"[0-9a-f]{20}", slug("c", group_id))


def test_pages_of_two_groups_have_two_names() -> None:
    pairs = [("c", "g"), ("cg", ""), ("", "cg"), ("d", "g")]
    assert len({slug(*each) for each in pairs}) == 4


class Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str | None] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(markup: object) -> Texts:
    found = Texts()
    found.feed(str(markup))
    return found


def test_the_head_says_which_night_of_which_cluster_it_is() -> None:
    overview, group = (
        parsed(top("prod-eu", NIGHT, AS_OF_MS, home)) for home in (None, "../index.html")
    )
    assert (overview.links, group.links) == ([], ["../index.html"])
    assert "prod-eu" in overview.texts
    assert f"night of 21 Nov {NIGHT.year}" in [
        text.replace("\u00a0", " ") for text in overview.texts
    ]


def test_the_foot_says_what_wrote_it() -> None:
    (text,) = parsed(footer("0.9", "prod-eu", str(date(2026, 11, 21)))).texts
    assert text.startswith("Written by groupreplay 0.9 for cluster prod-eu, night 2026-11-21.")
