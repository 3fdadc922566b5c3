"""Pages as a real browser shows them: it asks for nothing but the file, says nothing, runs nothing
of what ids try, and can be read by everybody. Debian's chromium by playwright; `make browser`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from groupreplay.page.drawing.document import CSS, slug
from groupreplay.page.drawing.markup import seen
from groupreplay.page.group.group_page import group_page
from groupreplay.page.overview.overview import overview
from tests.support.browser import (
    OPEN_ALL,
    Open,
    Opened,
    broken_rules,
    broken_words,
    cut_tables,
    faint_in_dark,
    opening,
    wait_until,
)
from tests.support.life_rows import made_life
from tests.support.page_rows import AS_OF_MS, HOSTILE, made_fleet
from tests.support.streams_life_rows import streams_life

pytestmark = pytest.mark.browser

FINDABLE = [each for each in HOSTILE if each.encode("utf-8", "replace").decode() == each]
"""A lone surrogate can be no part of a link."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fleet of 500 with pages of eight hostile groups and of one that is plain, and a fleet of 60
    that has the hostile ones too.
    """
    folder = tmp_path_factory.mktemp("pages")
    fleet = made_fleet(500, pages=8)
    (folder / "g").mkdir()
    (folder / "index.html").write_text(overview(fleet), encoding="utf-8")
    (folder / "few.html").write_text(overview(made_fleet(60, pages=8)), encoding="utf-8")
    for name in (*fleet.has_pages, "payments.settlement"):
        path = folder / "g" / f"{slug('prod-eu', name)}.html"
        path.write_text(group_page(made_life(name)), encoding="utf-8")
    streams = folder / "g" / f"{slug('prod-eu', 'streams')}.html"
    streams.write_text(group_page(streams_life()), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def index(folder: Path) -> str:
    return (folder / "index.html").as_uri()


@pytest.fixture(scope="module")
def group(folder: Path) -> str:
    return (folder / "g" / f"{slug('prod-eu', 'payments.settlement')}.html").as_uri()


@pytest.fixture(scope="module")
def streams(folder: Path) -> str:
    return (folder / "g" / f"{slug('prod-eu', 'streams')}.html").as_uri()


def test_it_asks_for_the_file_alone_and_says_nothing(
    open_page: Open, index: str, group: str, streams: str
) -> None:
    for url in (index, group, streams):
        opened = open_page()
        page = opened.ready(url)
        assert opened.requests == [url]
        assert opened.said == []
        assert page.evaluate("window.__pwned") is None


@pytest.fixture(scope="module")
def finder(browser: Any) -> Iterator[Opened]:
    """One tab for all links: a new one takes half a second."""
    with opening(browser) as open_page:
        yield open_page()


@pytest.mark.parametrize("hostile", FINDABLE, ids=range(len(FINDABLE)))
def test_a_link_finds_each_hostile_group(finder: Opened, folder: Path, hostile: str) -> None:
    opened, page = finder, finder.page
    page.goto("about:blank")
    opened.said.clear()
    page.goto(f"{(folder / 'few.html').as_uri()}#group={quote(hostile, safe='')}")
    page.wait_for_selector("html.ready")
    wait_until(page, "document.querySelector('h1.gid') || location.hash.length > 1")
    if "/g/" in page.url:
        shown = page.inner_text("h1.gid")
    else:
        assert page.locator("#all tbody tr").count() == 1
        shown = page.locator("#all tbody td").first.text_content()
    assert shown.strip() == (seen(hostile) or "(empty)").strip()
    assert opened.said == []
    assert page.evaluate("window.__pwned") is None


def test_a_group_that_is_not_there_is_said_to_be(open_page: Open, index: str) -> None:
    page = open_page().ready(f"{index}#group=nobody")
    assert "This group is not in this night" in page.inner_text("#all")


def test_find_and_filter_go_into_the_link(open_page: Open, index: str) -> None:
    opened = open_page()
    page = opened.ready(index)
    page.fill("#q", "service-12")
    wait_until(page, "location.hash.includes('q=service-12')")
    found = page.inner_text("#count")
    page.check("input[value=k]")
    again = open_page().ready(page.url)
    assert again.input_value("#q") == "service-12"
    assert again.is_checked("input[value=k]")
    assert again.inner_text("#count") == page.inner_text("#count") != found


def test_lists_sort_by_their_heads(open_page: Open, index: str) -> None:
    page = open_page().ready(index)
    head = page.locator("#all th").first
    head.locator("button").click()
    ids = page.locator("#all tbody td:first-child").all_inner_texts()
    assert head.get_attribute("aria-sort") == "ascending"
    assert ids[0] == "(empty)"
    first = page.locator("#hand-overs table th[aria-sort]")
    assert first.get_attribute("aria-sort") == "descending"
    first.locator("button").click()
    cells = page.locator("#hand-overs tbody td[data-v].r:not(.p2)")
    values = [int(each.get_attribute("data-v")) for each in cells.all()]
    assert values == sorted(values)


def test_a_phone_shows_whom_to_ask(open_page: Open, index: str) -> None:
    """Who blocks, who is stuck, and what a rule found: what sections are there for."""
    page = open_page(viewport={"width": 390, "height": 844}).ready(index)
    for section, head in (("blockers", "Waits for"), ("stuck", "Member"), ("readiness", "For exa")):
        assert page.locator(f"#{section} th", has_text=head).first.is_visible(), head
    bars = page.locator("#blockers svg").locator("visible=true").all()
    assert bars
    assert max(each.bounding_box()["width"] for each in bars) < 70, "ids need the room"


def test_words_are_sorted_from_a_on_first_and_the_head_says_so(open_page: Open, index: str) -> None:
    """Also where some cells have no value: those stand last."""
    page = open_page().ready(index)
    head = page.locator("#stuck th", has_text="Group")
    cells = page.locator("#stuck tbody td:nth-child(2)")
    for order in ("ascending", "descending", "ascending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        ids = cells.all_text_contents()
        assert ids == sorted(ids, key=_utf16, reverse=order == "descending")
    assert page.locator("#stuck th[aria-sort]").count() == 1


def _utf16(text: str) -> bytes:
    """As a script compares texts."""
    return text.encode("utf-16-be", "surrogatepass")


def test_keys_go_through_a_chart(open_page: Open, index: str) -> None:
    page = open_page().ready(index)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the sections"
    page.focus("#migration svg.marks")
    page.keyboard.press("End")
    last = page.inner_text("#migration .say")
    page.keyboard.press("ArrowLeft")
    assert last.startswith("21 Nov")
    assert page.inner_text("#migration .say").startswith("20 Nov")
    page.keyboard.press("Home")
    first = page.locator("#migration svg.marks .mk title").first.text_content()
    assert page.inner_text("#migration .say") == first != last
    page.keyboard.press("Escape")
    assert page.inner_text("#migration .say") == ""


def test_the_timeline_zooms_by_key_link_and_button(open_page: Open, group: str) -> None:
    page = open_page().ready(group)
    width = "document.querySelector('.wide').offsetWidth"
    whole = page.evaluate(width)
    page.focus("svg.tl")
    page.keyboard.press("+")
    assert page.evaluate(width) == pytest.approx(2 * whole, abs=2)
    page.keyboard.press("+")
    page.keyboard.press("-")
    assert page.evaluate(width) == pytest.approx(2 * whole, abs=2)
    page.keyboard.press("0")
    assert page.evaluate(width) == whole
    page.keyboard.press("-")
    assert page.evaluate(width) == whole, "no less than all of it"
    page.click("#zi")
    assert page.evaluate(width) == pytest.approx(2 * whole, abs=2)
    linked = open_page().ready(f"{group}#t={AS_OF_MS - 60_000}")
    assert linked.evaluate(width) == pytest.approx(8 * whole, abs=10)
    boxes = "[...document.querySelectorAll('.scroll')].map(box => Math.round(box.scrollLeft))"
    wait_until(linked, "document.querySelector('.scroll').scrollLeft > 0")
    linked.wait_for_timeout(100)
    scrolled = linked.evaluate(boxes)
    assert scrolled[0] == pytest.approx(scrolled[1], abs=2)
    page.focus("svg.tl")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#timeline .say") != ""


def test_the_wheel_zooms_with_ctrl_alone_and_no_further_than_256_times(
    open_page: Open, group: str
) -> None:
    page = open_page().ready(group)
    width = "document.querySelector('.wide').offsetWidth"
    whole = page.evaluate(width)
    page.locator("svg.tl").first.hover(position={"x": 300, "y": 100})
    page.mouse.wheel(0, -100)
    page.wait_for_timeout(100)
    assert page.evaluate(width) == whole, "it scrolls the page"
    page.locator("svg.tl").first.hover(position={"x": 300, "y": 100})
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    wait_until(page, f"{width} > {whole}")
    page.keyboard.up("Control")
    assert page.evaluate(width) == pytest.approx(1.25 * whole, abs=2)
    for _ in range(9):
        page.click("#zi")
    assert page.evaluate(width) == pytest.approx(256 * whole, abs=2)
    page.click("#zf")
    assert page.evaluate(width) == whole


def test_what_is_pointed_at_is_said(open_page: Open, index: str, group: str) -> None:
    """As with the arrow keys; each mark of each chart has a title to say."""
    for url, chart in ((index, "#migration"), (group, "#timeline")):
        page = open_page().ready(url)
        silent = "[...document.querySelectorAll('.mk')].filter(one => !one.querySelector('title'))"
        assert page.evaluate(f"{silent}.length") == 0
        mark = page.locator(f"{chart} svg.marks .mk:has(rect)").last
        mark.scroll_into_view_if_needed()
        mark.dispatch_event("mouseover")
        said = mark.locator("title").text_content()
        assert page.locator(f"{chart} .say").text_content() == said != ""


def test_buttons_show_more_rows(open_page: Open, index: str) -> None:
    page = open_page().ready(index)
    buttons = page.locator(".more button")
    of = buttons.count()
    table = page.locator(".tw", has=page.locator("table.few")).first
    rows = table.locator("tbody tr")
    seen_rows = rows.locator("visible=true").count()
    more = int(buttons.first.inner_text().split()[1])
    buttons.first.click()
    assert rows.locator("visible=true").count() == rows.count() == seen_rows + more
    assert buttons.count() == of - 1
    assert page.locator("#all tbody tr").count() == 50
    page.click("#more")
    assert page.inner_text("#more") == "Show 200 more"
    assert page.locator("#all tbody tr").count() == 250


def test_all_of_it_is_there_without_scripts(
    open_page: Open, index: str, group: str, streams: str
) -> None:
    for url, rows in ((index, 100), (group, 40), (streams, 10)):
        page = open_page(java_script_enabled=False).page
        page.goto(url)
        assert page.locator("tbody tr").count() > rows
        assert page.locator("main svg").first.is_visible()
        assert not page.locator(".js").first.is_visible()


def test_nothing_scrolls_sideways_but_the_timeline(
    open_page: Open, index: str, group: str, streams: str
) -> None:
    """On a phone, a tablet, a screen, and at either side of each width from which on the stylesheet
    leaves out columns or lets heads break.
    """
    for url in (index, group, streams):
        page = open_page().ready(url)
        page.evaluate(OPEN_ALL)
        for width in (390, 600, 601, 760, 761, 900, 1000, 1001, 1180, 1181, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert cut_tables(page) == [], width
            is_fleet = url == index
            assert is_fleet or broken_words(page) == [], "teams of the fleet are anybody's text"


@pytest.mark.long
def test_everybody_can_read_it(open_page: Open, folder: Path, group: str, streams: str) -> None:
    """A fleet of 60 has all that a larger one has, less often."""
    opened = open_page(color_scheme="light", bypass_csp=True)
    for url in ((folder / "few.html").as_uri(), group, streams):
        page = opened.ready(url)
        page.evaluate(OPEN_ALL)
        assert broken_rules(page) == []
        assert faint_in_dark(page) == []
        page.set_viewport_size({"width": 390, "height": 900})
        assert broken_rules(page, with_contrast=False) == [], "colours are those of a wide screen"
        page.set_viewport_size({"width": 1280, "height": 900})


def test_it_prints_on_a_few_sheets(open_page: Open, index: str, group: str) -> None:
    for url in (index, group):
        page = open_page().ready(url)
        sheets = page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n")
        assert 2 <= sheets <= 16


def test_it_prints_in_light_and_without_buttons(
    open_page: Open, index: str, group: str, streams: str
) -> None:
    """Those in heads of tables are the words of the heads."""
    paper = "getComputedStyle(document.body).backgroundColor"
    for url in (index, group, streams):
        page = open_page(color_scheme="dark").ready(url)
        assert page.evaluate(paper) != "rgb(255, 255, 255)"
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(paper) == "rgb(255, 255, 255)"
        asked = page.locator("button:not(th button), input, nav").locator("visible=true")
        assert asked.all_inner_texts() == []
        heads = page.locator("th button").locator("visible=true").first
        assert heads.evaluate("one => getComputedStyle(one).backgroundColor") == "rgba(0, 0, 0, 0)"


def test_a_zoomed_timeline_prints_whole(open_page: Open, group: str) -> None:
    page = open_page().ready(group)
    page.click("#zi")
    page.emulate_media(media="print")
    boxes = "[...document.querySelectorAll('.scroll')]"
    for drawn, room in page.evaluate(
        f"{boxes}.map(box => [box.firstElementChild.offsetWidth, box.clientWidth])"
    ):
        assert drawn == pytest.approx(room, abs=2)


def test_a_finder_that_is_cut_says_of_how_many(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "index.html"
    path.write_text(overview(replace(made_fleet(60), groups_total=61_204)), encoding="utf-8")
    page = open_page().ready(path.as_uri())
    assert page.inner_text("#count") == "60 of 61,204 groups: those in trouble first"
    page.fill("#q", "service-12")
    wait_until(page, "location.hash.includes('q=service-12')")
    assert page.inner_text("#count").endswith(" of the 60 that are listed here")
    page = open_page().ready(f"{path.as_uri()}#group=nobody")
    assert "not among the 60 of 61,204 groups that are listed here" in page.inner_text("#all")


def test_without_its_stylesheet_the_tables_are_there_and_no_drawing(
    open_page: Open, folder: Path, tmp_path: Path
) -> None:
    """As a server that forbids it shows the page."""
    for name in ("index.html", f"g/{slug('prod-eu', 'payments.settlement')}.html"):
        page = (folder / name).read_text(encoding="utf-8")
        bare = tmp_path / Path(name).name
        bare.write_text(page.replace(f"<style>{CSS}</style>", ""), encoding="utf-8")
        shown = open_page().ready(bare.as_uri())
        assert shown.evaluate("document.styleSheets.length") == 0
        seen_of = "[...document.querySelectorAll('{}')].filter(one => one.checkVisibility()).length"
        assert shown.evaluate(seen_of.format("tbody tr")) > 40
        assert shown.evaluate(seen_of.format("svg")) == 0


BUDGETS = [
    (500, 7_000, 1_500),
    (5_000, 7_000, 1_500),
    pytest.param(50_000, 7_000, 2_500, marks=pytest.mark.long),
]


@pytest.mark.parametrize(("groups", "most_nodes", "most_ms"), BUDGETS)
def test_first_paint_and_nodes_are_within_budget(
    open_page: Open, tmp_path: Path, groups: int, most_nodes: int, most_ms: int
) -> None:
    """Times are those of a busy machine: an idle one takes a fifth."""
    path = tmp_path / "index.html"
    path.write_text(overview(made_fleet(groups)), encoding="utf-8")
    page = open_page().ready(path.as_uri())
    assert page.evaluate("document.querySelectorAll('*').length") < most_nodes
    wait_until(page, "performance.getEntriesByName('first-contentful-paint').length > 0")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paint < most_ms
    page.fill("#q", "service-42")
    wait_until(page, "location.hash.includes('q=service-42')")
    assert page.locator("#all tbody tr").count() <= 50
