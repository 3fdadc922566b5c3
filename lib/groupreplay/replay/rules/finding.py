"""A broken rule as a check finds it: which rule, which record shows it, and what was found."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """rule: key of `RULES` or `OTHER_RULES`.
    at: ms, time of the operation.
    offset: offset of the record that shows it.
    code: key of `DETAILS`: what was expected and what was found.
    params: what the sentence of the code names; numbers as text, lists as JSON.
    """

    rule: str
    at: int
    offset: int
    code: str
    params: dict[str, str]
