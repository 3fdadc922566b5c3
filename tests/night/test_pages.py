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
from groupreplay.night.night import Night
from groupreplay.night.pages import Pages, asked_tables, drawn_pages, page_nights, write_pages
from groupreplay.report.pages.fleet_frames import FLEET_TABLES
from groupreplay.report.pages.group_frames import GROUP_TABLES
from groupreplay.tables.schemas import INTERNAL

DAY = date(2026, 11, 21)
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
            logical_date=each, is_done=True, landing=SimpleNamespace(as_of_ms=each.toordinal())
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
    ]
    assert files.deleted == [f"/w/{folder}/g/gone.html"]


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
