"""The one way into a page: what enters is text, and what could run or load something is refused."""

from __future__ import annotations

import re
import unicodedata
from html import escape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.page.drawing.markup import Safe, el, join, name, seen, text
from tests.support.page_rows import HOSTILE

PAGE = Path(__file__).parents[3] / "lib/groupreplay/page"


@pytest.mark.parametrize("hostile", HOSTILE)
def test_any_text_is_only_text(hostile: str) -> None:
    made = el("p", hostile, title=hostile)
    assert re.fullmatch(r'<p title="[^"<>]*">[^<>]*</p>', made)
    made.encode()


@pytest.mark.parametrize("tag", ["script", "style", "SCRIPT", "iframe", "p onload=x", "", "a><b"])
def test_elements_that_could_act_are_refused(tag: str) -> None:
    with pytest.raises(ValueError):
        el(tag)


@pytest.mark.parametrize("attribute", ["onclick", "onLoad", "style", "src", "srcdoc", "a b", "x="])
def test_attributes_that_could_act_are_refused(attribute: str) -> None:
    with pytest.raises(ValueError):
        el("p", **{attribute: "x"})


@pytest.mark.parametrize(
    "link",
    [
        "//evil/x.html",
        "/x.html",
        "http://evil/x.html",
        "javascript:alert(1)",
        "data:text/html,x",
        "x.html?y",
        "..//x.html",
        ".html",
        "a/../x.html",
        "#a b",
        "#\u202e",
        "x.html\n",
    ],
)
def test_links_to_elsewhere_are_refused(link: str) -> None:
    with pytest.raises(ValueError):
        el("a", "x", href=link)


@pytest.mark.parametrize(
    "link",
    [
        "#groups",
        "#group=%3Cx%3E",
        "index.html",
        "../index.html",
        "2026-11-21/g/0a1b.html#t=12",
        "data:,",
    ],
)
def test_links_within_the_pages_are_taken(link: str) -> None:
    assert f'href="{link}"' in el("a", "x", href=link)


def test_what_is_unseen_is_shown() -> None:
    assert seen("a\u202eb\u0000c\ud800d\u200be") == "a\\u{202e}b\\u{0}c\\u{d800}d\\u{200b}e"
    assert seen("日本語 🧨") == "日本語 🧨"


@pytest.mark.parametrize("category", ["Cc", "Cf", "Cs", "Zl", "Zp"])
def test_no_character_without_a_look_is_left(category: str) -> None:
    """Those of Cf that are left are drawn: they stand before numbers, or place hieroglyphs."""
    drawn = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    drawn |= {*range(0x13430, 0x13440)}
    left = {
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) == category and seen(chr(code)) == chr(code)
    }
    assert left <= drawn


def test_ids_that_look_alike_are_told_apart() -> None:
    """By tags, selectors of variants and fillers, too, which have no look of their own."""
    for unseen in ("\U000e0041", "\ufe0f", "\u3164", "\u034f", "\u2060"):
        assert seen(f"orders{unseen}") == f"orders\\u{{{ord(unseen):x}}}"
    assert seen("日本 é ⚠ \u3000 1\u00a0s") == "日本 é ⚠ \u3000 1\u00a0s"


@given(st.text())
def test_what_needs_no_escape_is_left_alone_and_all_else_is_escaped(any_text: str) -> None:
    escaped = escape(seen(any_text), quote=True)
    assert text(any_text) == escaped
    assert el("i", title=any_text) == f'<i title="{escaped}"></i>'


def test_what_was_made_here_stays() -> None:
    inner = el("b", "<")
    assert text(inner) is inner
    assert el("p", inner, None) == "<p><b>&lt;</b></p>"
    assert join(["<", inner], " & ") == "&lt; &amp; <b>&lt;</b>"
    assert isinstance(join([]), Safe)


def test_an_id_is_never_empty() -> None:
    assert "(empty)" in name("")
    assert "unknown" in name(None)
    assert name("x") == '<bdi class="id">x</bdi>'


def test_drawings_are_hidden_without_the_stylesheet() -> None:
    assert 'display="none"' in el("svg")


def test_markup_is_made_nowhere_else() -> None:
    """Outside of `markup` there is no tag in a string, but for the shell of a page."""
    for path in PAGE.rglob("*.py"):
        if path.name not in ("markup.py", "document.py"):
            assert not re.search(
                r"""["'][^"']*</?[a-z]+[ >]""", path.read_text(encoding="utf-8")
            ), path
        if path.name != "markup.py":
            assert "Safe(" not in path.read_text(encoding="utf-8"), path
