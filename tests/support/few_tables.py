"""Nights that publish few tables, for tests of what becomes of a night rather than of its tables: a
table costs such a night half a second, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from groupreplay.night.publishing import publish, publisher
from groupreplay.report.catalog import SPECS
from groupreplay.report.summary.frames import summary_frames

FEW: Final = (
    "topics",
    "coverage",
    "group_state",
    "migration_progress",
    "member_assignments",
    "anomalies",
)
"""One of each sort: of facts, of landed rows, of tables of this night and of earlier ones, with and
without rows that are not final, and what the next night goes on from.
"""
SUMMARIZED: Final = "coverage"
"""The table that the summary of such a night asks, where a test does not read it."""


@contextmanager
def few_tables(*more: str, is_summarized: bool = False) -> Iterator[None]:
    """Nights in the session of the tests publish FEW, and these with what they are made of. The
    others exist and stay empty, and neither a summary nor a page asks them.

    is_summarized: a test reads the summary. Of other nights it asks one table: its fifteen
    questions take longer than what they ask.
    """
    names = set(FEW)
    wanted = [*more]
    while wanted:
        names.add(name := wanted.pop())
        wanted += set(SPECS[name].tables) - names
    published = {name: spec for name, spec in SPECS.items() if name in names}
    none = dict.fromkeys(SPECS.keys() - names, 0)
    unasked = set(none) if is_summarized else SPECS.keys() - {SUMMARIZED}
    draw: Callable[..., Any] = vars(publish)["drawn_pages"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(publisher, "SPECS", published)
        patched.setattr(
            publish,
            "summary_frames",
            lambda rows, logical_date, top, empty: summary_frames(
                rows, logical_date, top, {*empty, *unasked}
            ),
        )
        patched.setattr(
            publish,
            "drawn_pages",
            lambda night, as_of_ms, kept, counts: draw(night, as_of_ms, kept, {**none, **counts}),
        )
        yield
