"""Words that the lines of the summary are made of. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from groupreplay.page.drawing import words

WIDTH: Final = 120
"""Longest line, in characters."""


def count(number: int, noun: str, several: str | None = None) -> str:
    """several: the plural, where it is not just an s more."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {several or noun + 's'}"


def named(counted: Iterable[tuple[str, int, str]]) -> str:
    return ", ".join(f"{name} ({count(number, noun)})" for name, number, noun in counted)


def wrapped(indent: str, parts: Sequence[str], separator: str = ", ") -> list[str]:
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(separator) + len(part) <= WIDTH:
            lines[-1] += separator + part
        else:
            lines.append(indent + part)
    return lines


def printable(text: str, width: int) -> str:
    """Names come from records and may hold anything: one line, at most `width` characters, "" shown
    as such.
    """
    shown = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text) or '""'
    return shown if len(shown) <= width else shown[: width - 2] + ".."


def team(team: str | None) -> str:
    """Who answers for the group, if the owners file says."""
    return "" if team is None else f" ({printable(team, 20)})"


def time(ms: int) -> str:
    """ms: since the epoch, UTC; a damaged record may hold one that no calendar has."""
    try:
        at = _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return f"{ms:,} ms after 1970"
    return at.isoformat(" ", "seconds")


_EPOCH: Final = datetime(1970, 1, 1)


def lasted(ms: int | None) -> str:
    """A duration as pages say it, so that a reader finds the same words on both."""
    return "?" if ms is None else words.lasted(ms).replace(words.NB, " ")
