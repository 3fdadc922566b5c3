"""The pages of a night that is published: what its tables say, drawn, and written beside them.

A page is a view of tables that are there already. Where it cannot be made the night is done all the
same, and a warning says why.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

import groupreplay
from groupreplay.config.model import PageConfig
from groupreplay.night.earlier.history import PastNight
from groupreplay.night.engine.held_rows import held
from groupreplay.night.group_lives import (
    ONE_TASK_ROWS,
    by_kind,
    lives_of,
    one_task,
    rows_of_groups,
)
from groupreplay.night.plans.night import Night
from groupreplay.page.drawing.document import slug
from groupreplay.page.group.group_page import group_page
from groupreplay.page.model.read import groups_in_trouble, read_fleet
from groupreplay.page.overview.overview import overview
from groupreplay.report.pages.asked import PageNights
from groupreplay.report.pages.fleet_frames import (
    FLEET_TABLES,
    HISTORY_TABLES,
    fleet_frame,
    fleet_queries,
)
from groupreplay.report.pages.group_frames import GROUP_TABLES
from groupreplay.tables import page_files as files

_log = logging.getLogger(__name__)

THREADS: Final = 2
"""Queries of the overview are planned and asked on so many threads, and those of groups are planned
beside them: most of their time is the driver's.
"""

NEWEST: Final[Mapping[str, int]] = {}
"""No versions: tables as they are."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages that are drawn and not yet written.

    newest: the overview as it stands above the folders of nights.
    index: the overview in the folder of its night.
    groups: slug -> page of a group.
    """

    newest: str
    index: str
    groups: Mapping[str, str]


def asked_tables(config: PageConfig) -> tuple[str, ...]:
    """Tables that pages ask; none where there are no pages."""
    return tuple(dict.fromkeys((*FLEET_TABLES, *GROUP_TABLES))) if config.enabled else ()


def drawn_pages(
    night: Night,
    as_of_ms: int,
    kept: Mapping[str, DataFrame],
    counts: Mapping[str, int],
    versions: Mapping[str, int] = NEWEST,
) -> Pages | None:
    """None where pages are off, where nothing was ever read, and, with a warning, where they could
    not be made.

    kept: table -> its frame, where that is held in memory.
    counts: table -> its rows in this night.
    versions: table -> the version that is asked, where that is not the newest.
    """
    if not night.config.page.enabled or as_of_ms < 0:
        return None
    started = time.monotonic()
    try:
        pages = _drawn(night, as_of_ms, kept, counts, versions)
    except Exception as error:  # noqa: BLE001  # the tables are there, whatever became of a view
        _warn(night, error)
        return None
    _log.info(
        "night=%s page of %d groups drawn in %d ms",
        night.logical_date,
        len(pages.groups),
        (time.monotonic() - started) * 1000,
    )
    return pages


def begin_pages(night: Night, as_of_ms: int) -> None:
    """Before the night is DONE: should the run die before its pages are written, the next knows."""
    if night.config.page.enabled and as_of_ms >= 0:
        try:
            files.begin(night.warehouse, night.config.cluster, night.logical_date)
        except Exception as error:  # noqa: BLE001  # as in `drawn_pages`
            _warn(night, error)


def mend_pages(nights: Iterable[Night]) -> None:
    """Writes the pages that a run which died after it was DONE left to write, and those of the
    newest night where it had some and somebody removed them. They show the tables as their nights
    left them.

    nights: all nights of the cluster that landed.
    """
    done = {each.logical_date: each for each in nights if _own(each).is_done}
    if not done or not done[max(done)].config.page.enabled:
        return
    newest = done[max(done)]
    try:
        missing = files.missing(newest.warehouse, newest.config.cluster, newest.logical_date)
    except Exception as error:  # noqa: BLE001  # as in `drawn_pages`
        _warn(newest, error)
        return
    for logical_date in missing:
        if logical_date in done:
            _mend(done[logical_date])


def _mend(night: Night) -> None:
    own = _own(night)
    _log.info("night=%s its pages are not all there: they are written now", night.logical_date)
    pages = drawn_pages(night, own.landing.as_of_ms, {}, {}, own.versions)
    if pages is not None:
        write_pages(night, pages)
        return
    try:
        # It failed twice, and a warning says why. Later nights do not try again.
        files.give_up(night.warehouse, night.config.cluster, night.logical_date)
    except Exception as error:  # noqa: BLE001  # as in `drawn_pages`
        _warn(night, error)


def _own(night: Night) -> PastNight:
    """What the night left when it ran."""
    return next(each for each in night.nights if each.logical_date == night.logical_date)


def write_pages(night: Night, pages: Pages | None) -> str | None:
    """Writes pages of groups first, then the night's, then the newest, which is what makes it
    count: object stores cannot rename. Gives the address, None where there is none.
    """
    if pages is None:
        return None
    cluster, warehouse = night.config.cluster, night.warehouse
    try:
        for name, page in pages.groups.items():
            warehouse.replace_text(files.group_file(cluster, night.logical_date, name), page)
        files.delete_other_groups(warehouse, cluster, night.logical_date, pages.groups)
        folder = files.night_folder(cluster, night.logical_date)
        warehouse.replace_text(f"{folder}/{files.INDEX}", pages.index)
        own = f"{folder}/{files.INDEX}"
        later = (each for each in night.nights if each.logical_date > night.logical_date)
        if not any(each.is_done for each in later):
            own = f"{files.cluster_folder(cluster)}/{files.INDEX}"
            warehouse.replace_text(own, pages.newest)
        files.end(warehouse, cluster, night.logical_date)
    except Exception as error:  # noqa: BLE001  # as above
        _warn(night, error)
        return None
    return files.address(warehouse, own)


def _warn(night: Night, error: Exception) -> None:
    # What Spark quotes of rows may be what the tables hide.
    text = " ".join(str(error).split())[:300] if night.keys is None else ""
    _log.warning(
        "night=%s its page could not be written, the tables are whole: %s %s",
        night.logical_date,
        type(error).__name__,
        text,
    )


# ---------------------------------------------------------------- the fleet


def page_nights(night: Night, as_of_ms: int, most: int) -> PageNights:
    """The newest nights up to this one.

    as_of_ms: as-of of this night, ms since the epoch.
    most: how many nights, at most.
    """
    times = {
        each.logical_date: each.landing.as_of_ms
        for each in night.nights
        if each.is_done and each.logical_date < night.logical_date and each.landing.as_of_ms >= 0
    }
    known = sorted({**times, night.logical_date: as_of_ms}.items())
    before = known[-most - 1][1] if len(known) > most else None
    return PageNights(dict(known[-most:]), before)


def _drawn(
    night: Night,
    as_of_ms: int,
    kept: Mapping[str, DataFrame],
    counts: Mapping[str, int],
    versions: Mapping[str, int],
) -> Pages:
    def rows(name: str) -> DataFrame:
        return night.rows(name, versions.get(name))

    def of_all(name: str) -> DataFrame:
        if counts.get(name) == 0:
            # Spark knows that there is nothing, and looks for no file.
            return rows(name).limit(0)
        return kept[name] if name in kept else rows(name)

    def history(of: PageNights) -> dict[str, DataFrame]:
        within = sf.col("logical_date").between(sf.lit(of.first), sf.lit(of.last))
        return {name: rows(name).where(within) for name in HISTORY_TABLES}

    is_tonight = sf.col("logical_date") == sf.lit(night.logical_date)
    tonight = {
        name: _few_parts(of_all(name).where(is_tonight), name, counts)
        for name in asked_tables(night.config.page)
    }
    # These are asked several times, and each scan of a Delta table costs a job to find its files.
    asked_often = {
        name: held(tonight[name])
        for name in FLEET_TABLES
        if name not in kept and counts.get(name) != 0 and _is_small(name, counts)
    }
    try:
        return _of_tables(night, as_of_ms, tonight | asked_often, history, counts)
    finally:
        for frame in asked_often.values():
            frame.unpersist()


def _of_tables(
    night: Night,
    as_of_ms: int,
    tonight: Mapping[str, DataFrame],
    history: Callable[[PageNights], Mapping[str, DataFrame]],
    counts: Mapping[str, int],
) -> Pages:
    config = night.config.page
    of = page_nights(night, as_of_ms, config.nights)
    is_first = of.since_ms is None
    nights = tonight if is_first else history(of)
    empty = {
        name
        for name in FLEET_TABLES
        if counts.get(name) == 0
        and (is_first or name not in HISTORY_TABLES or night.warehouse.version(name) <= 0)
    }
    queries = fleet_queries(empty, config.groups)

    def ask(place: int) -> list[Row]:
        frame = fleet_frame(queries[place::THREADS], tonight, nights, of)
        return one_task(frame, counts).collect()

    most = min(config.group_pages, counts.get("migration_progress", config.group_pages))
    with ThreadPoolExecutor(THREADS + 1) as threads:
        of_groups = threads.submit(rows_of_groups, of, tonight, most, counts)
        found = [row for rows in threads.map(ask, range(THREADS)) for row in rows]
        fleet = read_fleet(
            by_kind(found),
            cluster=night.config.cluster,
            logical_date=night.logical_date,
            as_of_ms=as_of_ms,
            since_at_ms=of.since_ms,
            version=groupreplay.__version__,
        )
        chosen = groups_in_trouble(fleet, config.group_pages)
        fleet = replace(fleet, has_pages=frozenset(chosen))
        # Both are drawn while Spark looks for the rows of single groups.
        newest = threads.submit(overview, replace(fleet, prefix=f"{night.logical_date}/"))
        index = threads.submit(overview, fleet)
        lives = lives_of(night.config.cluster, of, of_groups.result(), chosen, counts)
        groups = {slug(life.cluster, life.group_id): group_page(life) for life in lives}
        return Pages(newest.result(), index.result(), groups)


def _few_parts(frame: DataFrame, name: str, counts: Mapping[str, int]) -> DataFrame:
    return frame.coalesce(1) if _is_small(name, counts) else frame


def _is_small(name: str, counts: Mapping[str, int]) -> bool:
    return counts.get(name, ONE_TASK_ROWS + 1) <= ONE_TASK_ROWS
