"""Rows of the tables -> what the pages of single groups show."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

import groupreplay
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.read import read_group
from groupreplay.report.pages.asked import PageNights
from groupreplay.report.pages.group_frames import group_frame

ROWS_AT_MOST: Final = 60_000
"""Most rows of one table, for the pages of all groups together."""

ONE_TASK_ROWS: Final = 50_000
"""A table of so few rows is read by one task, and then nothing is shuffled: a small night's page
costs the driver a second or two instead of ten.
"""

LEAST_ROWS: Final = 500
"""Rows of one table that each group may have, however many groups have a page."""


def one_task(frame: DataFrame, counts: Mapping[str, int]) -> DataFrame:
    """All rows of a small night in one task, in any order."""
    is_small = bool(counts) and max(counts.values()) <= ONE_TASK_ROWS
    return frame.coalesce(1) if is_small else frame


def by_kind(rows: Iterable[Row]) -> dict[str, list[dict[str, Any]]]:
    """Kind -> rows."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["kind"]].append(json.loads(row["row"]))
    return found


def rows_of_groups(
    of: PageNights,
    tables: Mapping[str, DataFrame],
    groups: int,
    counts: Mapping[str, int],
    *,
    all_nights: bool = False,
) -> DataFrame:
    """What the pages of single groups show, of every group that there is.

    tables: name -> its rows of the nights that are shown.
    groups: how many of them get a page, at most: they share the rows that may be shown.
    counts: name -> how many rows it has; a table that is not in it may have any number.
    all_nights: as in `lives_of`.
    """
    since_ms = of.before_ms if all_nights else of.since_ms
    share = max(LEAST_ROWS, ROWS_AT_MOST // max(1, groups))
    return group_frame(tables, of, since_ms, counts, share)


def lives_of(
    cluster: str,
    of: PageNights,
    rows: DataFrame,
    group_ids: Sequence[str],
    counts: Mapping[str, int],
    *,
    all_nights: bool = False,
) -> Iterator[GroupLife]:
    """What the tables say of each of these groups, one at a time: the rows of one alone are here.

    rows: `rows_of_groups`.
    all_nights: shows all nights of `of`, not the last alone.
    """
    if not group_ids:
        return
    since_ms = of.before_ms if all_nights else of.since_ms
    missing = set(group_ids)
    asked = rows.where(sf.col("group_id").isin(*group_ids))
    for group_id, found in _group_by_group(asked, counts):
        missing.discard(group_id)
        yield _life(cluster, of, group_id, found, since_ms, all_nights=all_nights)
    for group_id in sorted(missing):
        yield _life(cluster, of, group_id, (), since_ms, all_nights=all_nights)


def _group_by_group(
    frame: DataFrame, counts: Mapping[str, int]
) -> Iterator[tuple[str, Iterable[Row]]]:
    """The rows of each group, which come while they are asked for."""
    one = one_task(frame, counts)
    together = one if one is not frame else frame.repartition("group_id")
    rows = together.sortWithinPartitions("group_id").toLocalIterator()
    return groupby(rows, key=lambda row: row["group_id"])


def _life(
    cluster: str,
    of: PageNights,
    group_id: str,
    rows: Iterable[Row],
    since_ms: int | None,
    *,
    all_nights: bool,
) -> GroupLife:
    return read_group(
        by_kind(rows),
        cluster=cluster,
        logical_date=of.last,
        first_night=of.first if all_nights and of.first != of.last else None,
        group_id=group_id,
        from_at_ms=since_ms,
        as_of_ms=of.as_of_ms[of.last],
        version=groupreplay.__version__,
    )
