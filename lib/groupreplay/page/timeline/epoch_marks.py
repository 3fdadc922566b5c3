"""Marks that are of the whole group: epochs with their causes, phases of classic rebalances, holes
of the log, conversions, and lives of the group id.
"""

from __future__ import annotations

from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el
from groupreplay.page.model.life import Epoch, GroupLife
from groupreplay.page.model.rows import Life
from groupreplay.page.timeline.axis import Label, rooms
from groupreplay.page.timeline.places import TICKS_END, Places, mark

_LABELS: Final = 30
"""Where the first row of labels stands, in px."""

_BAR: Final = 64
_TELLING: Final = ("UPGRADE", "DOWNGRADE", "TOPIC_METADATA", "SUBSCRIPTION")
"""Causes that are labelled before others."""


def shown_epochs(life: GroupLife) -> list[Epoch]:
    """Those that began in the time that is shown."""
    start = life.from_at_ms
    return [
        each
        for each in life.epochs
        if each.start_observed and (start is None or each.started_at_ms > start)
    ]


def epochs(life: GroupLife, places: Places) -> tuple[list[Safe], list[Safe]]:
    """(a line a rebalance with a bar until it settled, their labels, which are drawn last)."""
    shown = shown_epochs(life)
    causes = {(each.life, each.epoch): each.cause for each in life.streams_epochs}
    words = [
        w.word(w.SHORT_CAUSE, causes.get((each.life, each.epoch), each.cause)).lower()
        for each in shown
    ]
    labels = [
        Label(
            places.axis(each.started_at_ms),
            (_rank(each), -(each.converge_ms or 0), each.started_at_ms),
            13 + 6.2 * len(f"{each.epoch} {word}"),
        )
        for each, word in zip(shown, words, strict=True)
    ]
    drawn, texts = [], []
    for each, word, room in zip(shown, words, rooms(labels, 6, 2), strict=True):
        settled = each.outcome in ("CONVERGED", "OPEN") and each.converged_at_ms is not None
        end = each.converged_at_ms or each.superseded_at_ms or life.as_of_ms
        never = "" if settled or each.outcome == "OPEN" else " never"
        x = places.x(each.started_at_ms)
        top = 56 if room is None else _LABELS + 13 * room.row
        drawn.append(
            mark(
                _say(each, end, places),
                el("line", x1=x, x2=x, y1=top, y2=places.lanes_end, cls="epoch" + never),
                el(
                    "rect",
                    x=x,
                    width=places.width(each.started_at_ms, end, 0.06),
                    y=_BAR,
                    height=8,
                    cls="settle" + never,
                ),
                cls="mk ep",
            )
        )
        if room is not None:
            number = el("tspan", each.epoch, cls="num")
            y = _LABELS + 11 + 13 * room.row
            texts.append(el("text", number, " ", word, x=x, dx=3, y=y, cls=f"elab v{room.level}"))
    return drawn, texts


def _rank(each: Epoch) -> int:
    if each.outcome not in ("CONVERGED", "OPEN"):
        return 0
    return 1 if each.cause in _TELLING else 2


def _say(each: Epoch, end: int, places: Places) -> str:
    kind = "generation" if each.protocol == "classic" else "epoch"
    parts = [f"{kind} {each.epoch} at {w.when(each.started_at_ms)}: {w.word(w.CAUSE, each.cause)}"]
    if each.cause_member_id:
        parts[0] += f" ({places.lanes.client(each.cause_member_id)})"
    if each.cause_detail:
        parts.append(each.cause_detail)
    if each.converge_ms is not None:
        parts.append(f"settled after {w.lasted(each.converge_ms)}")
    elif each.outcome != "CONVERGED":
        took = w.lasted(end - each.started_at_ms)
        parts.append(f"{w.word(w.OUTCOME, each.outcome)} ({each.outcome}) after {took}")
    if each.partitions_moved:
        parts.append(f"{w.some(each.partitions_moved, 'partition')} moved")
    return ", ".join(parts)


def phases(life: GroupLife, places: Places) -> list[Safe]:
    """Join and sync phases of classic groups: hollow while members join, dark while they wait for
    what the leader assigned.
    """
    drawn = []
    for each in life.rebalances:
        if places.is_over(each.started_at_ms):
            continue
        joined, synced = each.joined_at_ms, each.synced_at_ms
        end = joined or synced or life.as_of_ms
        say = (
            f"rebalance after generation {each.generation} at {w.when(each.started_at_ms)}:"
            f" {w.word(w.CAUSE, each.cause)}, join phase {w.lasted(end - each.started_at_ms)}"
            + (f", sync phase {w.lasted(synced - joined)}" if joined and synced else "")
            + (f", {w.some(each.missing, 'member')} did not join in time" if each.missing else "")
            + ("" if each.outcome == "COMPLETED" else f", {each.outcome.lower()}")
        )
        join_bar = el(
            "rect",
            x=places.x(each.started_at_ms),
            width=places.width(each.started_at_ms, end),
            y=_BAR + 10,
            height=5,
            cls="joining",
        )
        sync_bar = (
            el(
                "rect",
                x=places.x(joined),
                width=places.width(joined, synced),
                y=_BAR + 10,
                height=5,
                cls="syncing",
            )
            if joined and synced
            else None
        )
        drawn.append(mark(say, join_bar, sync_bar))
    return drawn or _phases_by_records(life, places)


def _phases_by_records(life: GroupLife, places: Places) -> list[Safe]:
    """Without logs of brokers: the sync phases that records of generations show."""
    return [
        mark(
            f"generation {each.epoch}: sync phase"
            f" {w.lasted(each.started_at_ms - each.joined_at_ms)}",
            el(
                "rect",
                x=places.x(each.joined_at_ms),
                width=places.width(each.joined_at_ms, each.started_at_ms),
                y=_BAR + 10,
                height=5,
                cls="syncing",
            ),
        )
        for each in shown_epochs(life)
        if each.joined_at_ms is not None
    ]


def holes(life: GroupLife, places: Places) -> list[Safe]:
    """Where records are missing: an epoch in which a hole lies, until the next one begins."""
    drawn = []
    for each in life.epochs:
        if each.outcome != "UNOBSERVED" or places.is_over(each.superseded_at_ms):
            continue
        end = each.superseded_at_ms or life.as_of_ms
        say = (
            f"not seen: records are missing between {w.when(each.started_at_ms)} and {w.when(end)},"
            " in which more may have happened"
        )
        drawn.append(
            mark(
                say,
                el(
                    "rect",
                    x=places.x(each.started_at_ms),
                    width=places.width(each.started_at_ms, end),
                    y=TICKS_END,
                    height=places.lanes_end - TICKS_END,
                    cls="hole",
                ),
            )
        )
    return drawn


def conversions(life: GroupLife, places: Places) -> list[Safe]:
    drawn = []
    for each in life.conversions:
        if not places.is_over(each.converted_at_ms):
            x = places.x(each.converted_at_ms)
            direction = each.direction.lower().replace("_", " ")
            say = (
                f"{direction} of the group, {each.mode.lower()}, at {w.when(each.converted_at_ms)}"
            )
            drawn.append(mark(say, el("circle", cx=x, cy=_BAR + 4, r=4, cls="f-mixed")))
    return drawn


def lives(life: GroupLife, places: Places) -> list[Safe]:
    """A heavy line where the group id begins another life: its epochs begin again."""
    first: dict[Life, int] = {}
    times = [
        *[(each.life, each.started_at_ms) for each in life.epochs],
        *[(each.life, each.began_at_ms) for each in life.streams_epochs],
        *[(each.life, each.joined_at_ms) for each in life.members],
    ]
    for name, ms in times:
        first[name] = min(ms, first.get(name, ms))
    drawn = []
    for _, ms in sorted(first.items())[1:]:
        x = places.x(ms)
        say = (
            f"the group was deleted and begins another life at {w.when(ms)}: its epochs begin again"
        )
        line = el("line", x1=x, x2=x, y1=TICKS_END, y2=places.lanes_end, cls="newlife")
        drawn.append(mark(say, line))
    return drawn


def number_of_lives(life: GroupLife) -> int:
    return len({*[each.life for each in life.epochs], *[each.life for each in life.members]})
