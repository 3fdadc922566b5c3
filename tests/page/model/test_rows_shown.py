"""All that pages ask the tables for is shown by them: a column that nobody sees costs each night."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import pytest

from groupreplay.page.group.group_page import group_page
from groupreplay.page.model import fleet, life, life_of_tasks, streams_apps
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.read import groups_in_trouble
from groupreplay.page.overview.overview import overview
from tests.page.group.test_group_page_recordings import lives
from tests.support.life_rows import LIFE, made_life
from tests.support.page_rows import AS_OF_MS, made_fleet
from tests.support.streams_life_rows import streams_life

WHOLE: Final = (fleet.Fleet, GroupLife)
"""What rows are put together to, which is no row itself."""

KEYS: Final = {
    *((cls, "life") for cls in ("Span", "Held", "Conversion", "Process", "TaskSpan")),
    ("Epoch", "from_offset"),
    *(("Holder", name) for name in ("group_id", "member_id", "client_id")),
}
"""(class, field) that says which row it is, and by which `read` puts rows together."""


def asked() -> list[type[Any]]:
    """Classes of rows."""
    return [
        cls
        for module in (fleet, life, life_of_tasks, streams_apps)
        for cls in vars(module).values()
        if isinstance(cls, type) and is_dataclass(cls) and cls.__module__ == module.__name__
        if cls not in WHOLE and cls is not streams_apps.Streams
    ]


def drawn() -> Iterator[GroupLife]:
    """Groups on whose pages everything is that a page can have."""
    made, streams = made_life(), streams_life()
    state = made.state
    assert state is not None
    yield made
    yield replace(made, state=replace(state, phase="ROLLED_BACK", downgraded_at_ms=AS_OF_MS))
    yield replace(made, state=replace(state, phase="MIGRATED", upgraded_at_ms=AS_OF_MS))
    nobody = replace(made.absences[0], instance_id=None, client_id=None)
    yield replace(
        made,
        absences=(nobody,),
        refusals=(replace(made.refusals[0], client_id=None),),
        stuck=(replace(made.stuck[0], member_id="never-a-member", client_id="c"),),
        conversions=(
            life.Conversion(life=LIFE, converted_at_ms=AS_OF_MS, direction="UPGRADE", mode="x"),
        ),
    )
    yield streams
    for recording in ("classic-3.9", "streams-protocol-4.3"):
        yield from lives(recording)


def test_each_column_that_is_asked_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read by what draws pages, or chooses groups that get one; of its own class, for others have
    columns of the same names. A copy reads all columns, and shows none.
    """
    found, groups = made_fleet(300, pages=20), list(drawn())
    read: set[tuple[str, str]] = set()

    def noting(cls: type[Any]) -> Any:
        def noted(self: Any, name: str) -> Any:
            if sys._getframe(1).f_code.co_name not in ("replace", "_replace"):
                read.add((cls.__name__, name))
            return object.__getattribute__(self, name)

        return noted

    for cls in asked():
        monkeypatch.setattr(cls, "__getattribute__", noting(cls))
    overview(found)
    groups_in_trouble(found, 50)
    for each in groups:
        group_page(each)
    every = {(cls.__name__, each.name) for cls in asked() for each in fields(cls)}
    assert every - read - KEYS == set()
    assert every >= KEYS
