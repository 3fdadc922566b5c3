"""Markup that cannot be unsafe: text is escaped where it enters, and only elements that were made
here are taken as they are. The one way into a page.

Ids, hosts, teams and topics are anybody's text. None of them becomes markup, an attribute that
acts, or a link: `el` refuses what could run or load something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from typing import Final


class Safe(str):
    """Markup that this module made."""

    __slots__ = ()


VOID: Final = frozenset({"meta", "input", "br", "link"})
"""Elements without an end tag."""

REFUSED_TAGS: Final = frozenset(
    {"script", "style", "iframe", "object", "embed", "base", "foreignobject"}
)
REFUSED_ATTRIBUTES: Final = frozenset(
    {"style", "src", "srcdoc", "srcset", "action", "formaction", "xlink-href"}
)

_SHORT_NAMES: Final = {"cls": "class", "for_": "for", "type_": "type"}
_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*\Z")
_FRAGMENT: Final = r"#[A-Za-z0-9._~%=&-]*"
_LINK: Final = re.compile(
    rf"({_FRAGMENT}|(\.\./)*([a-z0-9][a-z0-9-]*/)*[a-z0-9][a-z0-9-]*\.html({_FRAGMENT})?|data:,)\Z"
)
"""A place in this page, a page below or above it, and the empty icon."""

_UNSEEN_CHARACTERS: Final = (
    "\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSEEN: Final = re.compile(f"[{_UNSEEN_CHARACTERS}]")
"""What a reader cannot see, or what turns text around: controls, bidi marks, line separators, what
Unicode calls default ignorable (zero width, fillers, variation selectors, tags), noncharacters,
lone surrogates. The script has the same.
"""


def seen(text: str) -> str:
    """Text as a person can read and compare it: what is unseen is written as its code point."""
    return _UNSEEN.sub(lambda found: f"\\u{{{ord(found.group()):x}}}", text)


_ESCAPED: Final = re.compile(f"[&<>\"'{_UNSEEN_CHARACTERS}]")
"""What may not stand as it is in text or in the value of an attribute."""


def _escaped(text: str) -> str:
    """Most texts need nothing: looking once costs less than replacing six times."""
    return escape(seen(text), quote=True) if _ESCAPED.search(text) else text


def text(value: object) -> Safe:
    """Any value as text of a page; what this module made stays as it is."""
    return value if isinstance(value, Safe) else Safe(_escaped(str(value)))


def el(tag: str, *children: object, **attributes: object) -> Safe:
    """An element. Children and attributes that are None are left out, and attributes that are
    False. Raises ValueError for a tag, an attribute or a link that could run or load something.

    An <svg> is hidden until the stylesheet shows it: where a server forbids the stylesheet, black
    drawings would cover the tables that say the same.
    """
    _check_tag(tag)
    if tag == "svg":
        attributes.setdefault("display", "none")
    given = [
        _attribute(name, value)
        for name, value in attributes.items()
        if value is not None and value is not False
    ]
    head = tag + "".join(given)
    if tag in VOID:
        return Safe(f"<{head}>")
    return Safe(f"<{head}>{join(children)}</{tag}>")


@cache
def _check_tag(tag: str) -> None:
    if not _NAME.match(tag) or tag.lower() in REFUSED_TAGS:
        raise ValueError(f"element {tag!r}")


@cache
def _attribute_name(name: str) -> tuple[str, bool]:
    """(the attribute that a name in Python stands for, whether it is a link)."""
    written = _SHORT_NAMES.get(name, name.replace("_", "-"))
    lower = written.lower()
    if not _NAME.match(written) or lower.startswith("on") or lower in REFUSED_ATTRIBUTES:
        raise ValueError(f"attribute {written!r}")
    return written, lower == "href"


def _attribute(name: str, value: object) -> str:
    written, is_link = _attribute_name(name)
    if is_link and not _LINK.match(str(value)):
        raise ValueError(f"link to {value!r}")
    if value is True:
        return f" {written}"
    if isinstance(value, float):
        return f' {written}="{number(value)}"'
    return f' {written}="{_escaped(str(value))}"'


def number(value: float) -> str:
    """At most three digits behind the point: as much as a screen shows."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def percent(value: float) -> str:
    """A length or place along the width of a drawing."""
    return f"{number(value)}%"


def join(parts: Iterable[object], separator: str = "") -> Safe:
    between = escape(separator) if separator else ""
    return Safe(
        between.join(
            [
                part if isinstance(part, Safe) else _escaped(str(part))
                for part in parts
                if part is not None
            ]
        )
    )


def name(value: str | None, none: str = "unknown") -> Safe:
    """An id of somebody else's making: kept apart in its direction, and never empty."""
    if value is None:
        return el("span", none, cls="nil")
    if value == "":
        return el("span", "(empty)", cls="nil")
    return el("bdi", value, cls="id")


def plain_name(value: str | None) -> str:
    """The same where there can be text alone: in titles of marks and labels of drawings."""
    return "unknown" if value is None else value or "(empty)"
