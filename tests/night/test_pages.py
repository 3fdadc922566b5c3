"""A page that cannot be made or written costs the night nothing but a warning; without Spark."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import date
from types import SimpleNamespace
from typing import Any, cast

import pytest

from groupreplay.config.model import PageConfig
from groupreplay.night import pages
from groupreplay.night.pages import (
    Pages,
    asked_tables,
    begin_pages,
    drawn_pages,
    mend_pages,
    page_nights,
    write_pages,
)
from groupreplay.night.plans.night import Night
from groupreplay.report.pages.fleet_frames import FLEET_TABLES
from groupreplay.report.pages.group_frames import GROUP_TABLES
from groupreplay.tables.schemas import INTERNAL

DAY = date(2026, 11, 21)
NOT_DONE = date(2026, 11, 25)
ON = PageConfig()


@dataclass
class Files:
    """A warehouse that remembers what was written, and may refuse."""

    root: str = "/w"
    refuses: bool = False
    written: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    names: tuple[str, ...] = ()

    def replace_text(self, name: str, text: str) -> None:
        if self.refuses:
            raise OSError("no space left")
        self.written.append(name)

    def log(self, _: str) -> Files:
        return self

    def names_in(self, _: str) -> tuple[str, ...]:
        return self.names

    def delete(self, path: str) -> None:
        self.deleted.append(path)


def _night(files: Files, *later: date, page: PageConfig = ON, hides: bool = False) -> Night:
    nights = [
        SimpleNamespace(
            logical_date=each,
            is_done=each != NOT_DONE,
            landing=SimpleNamespace(as_of_ms=each.toordinal()),
            versions={"members": each.day},
        )
        for each in later
    ]
    night = SimpleNamespace(
        config=SimpleNamespace(cluster="prod-eu", page=page),
        warehouse=files,
        logical_date=DAY,
        nights=nights,
        keys=object() if hides else None,
    )
    return cast(Night, night)


PAGES = Pages(newest="newest", index="index", groups={"ab": "one", "cd": "other"})


def test_pages_of_groups_come_first_and_the_newest_last() -> None:
    files = Files(names=("ab.html", "gone.html", ".ab.html.crc"))
    address = write_pages(_night(files), PAGES)
    assert address == "file:///w/_report/prod-eu/index.html"
    folder = "_report/prod-eu/2026-11-21"
    assert files.written == [
        f"{folder}/g/ab.html",
        f"{folder}/g/cd.html",
        f"{folder}/index.html",
        "_report/prod-eu/index.html",
        f"{folder}.written",
    ]
    assert files.deleted == [f"/w/{folder}/g/gone.html", f"/w/{folder}.unfinished"], "in this order"


def test_an_older_night_leaves_the_newest_page_alone() -> None:
    files = Files()
    address = write_pages(_night(files, date(2026, 11, 22)), PAGES)
    assert address == "file:///w/_report/prod-eu/2026-11-21/index.html"
    assert "_report/prod-eu/index.html" not in files.written


def test_a_page_that_cannot_be_written_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert write_pages(_night(Files(refuses=True)), PAGES) is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "no space left" in caplog.text


@pytest.mark.parametrize("hides", [False, True])
def test_a_page_that_cannot_be_drawn_is_a_warning(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, hides: bool
) -> None:
    def fails(*_: Any) -> Pages:
        raise ValueError("row of client-7")

    monkeypatch.setattr(pages, "_drawn", fails)
    assert drawn_pages(_night(Files(), hides=hides), 5, {}, {}) is None
    assert "ValueError" in caplog.text
    assert ("client-7" in caplog.text) == (not hides), "what is hidden is in no log"


def test_no_page_where_it_is_off_or_nothing_was_read() -> None:
    off = PageConfig(enabled=False)
    assert drawn_pages(_night(Files(), page=off), 5, {}, {}) is None
    assert drawn_pages(_night(Files()), -1, {}, {}) is None
    assert asked_tables(off) == ()
    assert write_pages(_night(Files()), None) is None


def test_pages_ask_only_tables_that_analysts_read() -> None:
    assert set(asked_tables(PageConfig())) == {*FLEET_TABLES, *GROUP_TABLES}
    assert not {*FLEET_TABLES, *GROUP_TABLES} & INTERNAL


def test_nights_of_a_page_end_with_its_own() -> None:
    days = [date(2026, 11, day) for day in (18, 19, 20, 22)]
    of = page_nights(_night(Files(), *days), 9, 3)
    assert list(of.as_of_ms) == [*days[1:3], DAY]
    assert (of.before_ms, of.since_ms) == (days[0].toordinal(), days[2].toordinal())
    first = page_nights(_night(Files()), 9, 3)
    assert (first.last, first.since_ms) == (DAY, None)


def test_pages_that_are_begun_are_noted_until_they_are_written() -> None:
    files = Files()
    begin_pages(_night(files), 5)
    assert files.written == ["_report/prod-eu/2026-11-21.unfinished"]
    begin_pages(_night(files, page=PageConfig(enabled=False)), 5)
    begin_pages(_night(files), -1)
    assert len(files.written) == 1


def test_a_note_that_cannot_be_left_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    begin_pages(_night(Files(refuses=True)), 5)
    assert "no space left" in caplog.text


@pytest.mark.parametrize(
    ("names", "mended"),
    [
        ((), []),
        (("2026-11-21", "index.html"), []),
        (("2026-11-21", "2026-11-21.unfinished", "index.html"), [21]),
        (("2026-11-20.unfinished", "2026-11-21", "index.html"), [20]),
        (("2026-11-20", "2026-11-21.written", "index.html"), [21]),
        (("2026-11-21", "2026-11-21.written"), [21]),
        (("2026-11-20", "2026-11-20.written", "index.html"), []),
        (("2026-11-25.unfinished", "2026-11-21", "index.html"), []),
        (("notes.unfinished", "2026-11-21", "index.html"), []),
    ],
    ids=str,
)
def test_pages_that_are_not_all_there_are_written(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], mended: list[int]
) -> None:
    """What is not done has no pages yet, and its own run writes them. A newest night without pages
    that never had any was run while they were off, or could not be drawn.
    """
    asked: list[tuple[int, int, Any]] = []

    def drawn(night: Night, as_of_ms: int, *of: Any) -> Pages:
        asked.append((night.logical_date.day, as_of_ms, of[-1]))
        return PAGES

    monkeypatch.setattr(pages, "drawn_pages", drawn)
    files = Files(names=names)
    mend_pages(_nights(files))
    assert asked == [(day, date(2026, 11, day).toordinal(), {"members": day}) for day in mended], (
        "by the tables as that night left them"
    )
    assert [name for name in files.written if name.endswith("/2026-11-21/index.html")] == [
        "_report/prod-eu/2026-11-21/index.html" for day in mended if day == 21
    ]


def test_what_cannot_be_drawn_is_tried_once_more_and_left() -> None:
    files = Files(names=("2026-11-21", "2026-11-21.unfinished", "index.html"))
    nights = _nights(files)
    for night in nights:
        night.config.page = PageConfig(nights=0)  # type: ignore[misc]
    mend_pages(nights)
    assert files.written == []
    assert files.deleted == ["/w/_report/prod-eu/2026-11-21.unfinished"]
    files.names = ("2026-11-20", "2026-11-20.written", "index.html")
    mend_pages(nights)
    assert len(files.deleted) == 1, "not by every job"


def test_nothing_is_mended_where_pages_are_off() -> None:
    files = Files(names=("2026-11-21.unfinished",))
    nights = _nights(files)
    for night in nights:
        night.config.page = PageConfig(enabled=False)  # type: ignore[misc]
    mend_pages(nights)
    mend_pages([])
    assert files.written == files.deleted == []


def _nights(files: Files) -> list[Night]:
    """Two that are done, and one that has only landed."""
    days = (date(2026, 11, 20), DAY, NOT_DONE)
    night = _night(files, *days)
    return [cast(Night, SimpleNamespace(**{**vars(night), "logical_date": day})) for day in days]
