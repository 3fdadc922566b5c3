"""Patterns of group ids: `*` stands for any text, `?` for one character, everything else for
itself; the whole id must match.

No regular expressions: group ids are full of dots, which these would take for any character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def pattern_regex(pattern: str) -> str:
    """A regular expression that Python's `fullmatch` and Java's `matches` understand alike."""
    words = {"*": ".*", "?": "."}
    return "(?s:" + "".join(words.get(each) or re.escape(each) for each in pattern) + ")"


def any_regex(patterns: Iterable[str]) -> str:
    """One expression for several patterns, of which one must match."""
    return "|".join(pattern_regex(each) for each in patterns)


def is_literal(pattern: str) -> bool:
    """Whether it matches one id alone: itself."""
    return not {"*", "?"} & set(pattern)
