"""Which nights ran before, and how far each of them came: one query of the table `runs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

from groupreplay.config.model import GroupsConfig
from groupreplay.errors import ConfigError
from groupreplay.night.earlier.plan_json import from_json
from groupreplay.night.landing.landed import LinesLanding, RecordsLanding
from groupreplay.sources.watermark import NO_TIME_MS
from groupreplay.tables.run_rows import DONE


@dataclass(frozen=True, slots=True)
class PastNight:
    """A night that landed something.

    is_done: its newest run that landed was published.
    landing: what was landed of the offsets topic, by its newest run that landed.
    digest_final: table -> digest of its final rows, by its newest run that was published.
    lines: what was landed of brokers' logs, None where none was, then or before.
    hashed: what was hidden, as in `Plan`.
    versions: table -> version, as the newest run that was published left it.
    groups: the choice of groups, as in `Results`.
    """

    logical_date: date
    is_done: bool
    landing: RecordsLanding
    digest_final: Mapping[str, str]
    lines: LinesLanding | None = None
    hashed: str = ""
    versions: Mapping[str, int] = field(default_factory=dict)
    groups: GroupsConfig = field(default_factory=GroupsConfig)


def past_nights(runs: DataFrame) -> list[PastNight]:
    """Nights that landed something, in order.

    runs: rows of the table `runs` of one cluster.
    """
    fields = [
        sf.get_json_object("plan", f"$.{name}").alias(name)
        for name in ("landing", "lines", "hashed", "groups")
    ]
    rows = runs.select(
        "logical_date", "started_at", "run_id", "state", "digest_final", "table_versions", *fields
    ).collect()
    # Not by an aggregate of Spark: rows are few, and planning one is half of this query, the first
    # one of a process.
    rows.sort(key=lambda row: (row["logical_date"], row["started_at"], row["run_id"]))
    landed = {row["logical_date"]: row for row in rows if row["landing"] is not None}
    done = {row["logical_date"]: row for row in rows if row["state"] == DONE}
    return [_past_night(row, done.get(logical_date)) for logical_date, row in landed.items()]


def _past_night(landed: Row, done: Row | None) -> PastNight:
    """A night by its newest run that landed, and its newest that was published."""
    return PastNight(
        landed["logical_date"],
        landed["state"] == DONE,
        from_json(RecordsLanding, landed["landing"]),
        (done["digest_final"] if done else None) or {},
        from_json(LinesLanding, landed["lines"]) if landed["lines"] else None,
        landed["hashed"] or "",
        (done["table_versions"] if done else None) or {},
        from_json(GroupsConfig, landed["groups"] or "{}"),
    )


def before(nights: Sequence[PastNight], logical_date: date) -> PastNight | None:
    """The newest night before that date."""
    return next((night for night in reversed(nights) if night.logical_date < logical_date), None)


def of_date(nights: Sequence[PastNight], logical_date: date) -> PastNight | None:
    return next((night for night in nights if night.logical_date == logical_date), None)


def default_date(nights: Sequence[PastNight], newest_ms: int) -> date:
    """The date of a night that nobody named: the UTC date of as-of, or the date of the newest night
    where that is later.

    newest_ms: newest time in the sources, NO_TIME_MS for none.

    Raises ConfigError where neither the sources nor a night have a time.
    """
    as_of_ms = max([newest_ms, *[night.landing.as_of_ms for night in nights]])
    if as_of_ms == NO_TIME_MS:
        raise ConfigError(
            "--logical-date",
            "",
            "is missing, and the sources hold no record yet to take the date from",
        )
    dates = [night.logical_date for night in nights]
    return max([datetime.fromtimestamp(as_of_ms / 1000, UTC).date(), *dates])


def nights_to_run(nights: Sequence[PastNight], logical_date: date) -> list[date]:
    """The nights that a run of one night entails, in order. First are the nights before it that
    landed and were never published, because it builds on their states. Then come the night itself
    and every night after it, because they build on its states.

    Raises ConfigError as `check_newest`, for a night that never landed.
    """
    later = [night.logical_date for night in nights if night.logical_date > logical_date]
    if of_date(nights, logical_date) is None:
        check_newest(nights, logical_date)
    waiting = [
        night.logical_date
        for night in nights
        if night.logical_date < logical_date and not night.is_done
    ]
    return [*waiting, logical_date, *later]


def check_newest(nights: Sequence[PastNight], logical_date: date) -> None:
    """Raises ConfigError for a night before the newest one: what is new in the sources belongs to
    the newest night or to a later one.
    """
    newest = max([night.logical_date for night in nights], default=logical_date)
    if newest > logical_date:
        found = f"{logical_date} is"
        if of_date(nights, logical_date) is None:
            found = f"no run landed {logical_date}, and it is"
        problem = (
            f"{found} before the newest night, {newest}: new records belong to {newest} or to a"
            " later date"
        )
        raise ConfigError("--logical-date", "", problem)
