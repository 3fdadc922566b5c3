"""The timeline of a group: a lane a client, what each was doing, epochs above them, arrows where a
partition went from one to another, and bands of what else is known. Everything is in percent of the
width, so that zoom is nothing but a width.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, name, percent, plain_name
from groupreplay.page.model.life import GroupLife
from groupreplay.page.timeline.arrows import hand_overs, task_moves
from groupreplay.page.timeline.axis import FOLD, WIDTHS, Axis
from groupreplay.page.timeline.bands import Band, bands_of
from groupreplay.page.timeline.epoch_marks import conversions, epochs, holes, lives, phases
from groupreplay.page.timeline.held_partitions import partitions
from groupreplay.page.timeline.lane_marks import (
    absences,
    ends,
    processes,
    spans,
    stuck,
)
from groupreplay.page.timeline.lanes import Lanes, lanes_of
from groupreplay.page.timeline.places import BAND, EPOCHS_END, TICKS_END, Places
from groupreplay.page.timeline.task_rows import tasks

_TIMED: Final = (
    ("epochs", ("started_at_ms",)),
    ("streams_epochs", ("began_at_ms",)),
    ("spans", ("from_at_ms",)),
    ("members", ("joined_at_ms", "ended_at_ms")),
    ("hand_overs", ("requested_at_ms", "ended_at_ms", "granted_at_ms")),
    ("stuck", ("since_at_ms", "until_at_ms")),
    ("rebalances", ("started_at_ms", "joined_at_ms", "synced_at_ms")),
    ("refusals", ("first_at_ms", "last_at_ms")),
    ("waves", ("started_at_ms", "ended_at_ms")),
    ("failovers", ("last_at_ms", "first_at_ms")),
    ("absences", ("left_at_ms", "removed_at_ms", "returned_at_ms")),
    ("conversions", ("converted_at_ms",)),
    ("tasks", ("assigned_at_ms", "released_at_ms")),
    ("task_moves", ("released_at_ms", "granted_at_ms")),
)
"""What happened: fields of `GroupLife`, and their times."""

_HALF_LABEL: Final = 28
"""Half the width of the label of a tick, in px."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """cut: kind of mark -> (how many are drawn, of how many), where that is not all."""

    drawn: tuple[Safe, ...]
    axis: Axis
    lanes: Lanes
    cut: Mapping[str, tuple[int, int]]


def times_of(life: GroupLife) -> Iterator[int]:
    for field, columns in _TIMED:
        for row in getattr(life, field):
            for column in columns:
                ms = getattr(row, column)
                if ms is not None:
                    yield ms


def timeline(life: GroupLife) -> Timeline:
    lanes = lanes_of(life)
    times = list(times_of(life))
    first = (
        life.from_at_ms
        if life.from_at_ms is not None
        else min(times, default=life.as_of_ms - 60_000)
    )
    inside = [ms for ms in times if first < ms <= life.as_of_ms]
    axis = Axis(inside or [life.as_of_ms - 60_000], first, life.as_of_ms)
    bands = bands_of(life, axis)
    places = Places(axis, lanes, EPOCHS_END + BAND * len(bands))
    boxes = [_box(_labels(lanes, bands), _lanes_svg(life, places, bands))]
    below = tasks(life, places) if life.tasks else partitions(life, places)
    if below is not None:
        boxes.append(_box(*below))
    cut = {band.name: (len(band.bars), band.found) for band in bands}
    few = {name: (drawn, of) for name, (drawn, of) in cut.items() if drawn < of}
    return Timeline(tuple(boxes), axis, lanes, {**places.cut, **few})


def _box(labels: Safe, drawing: Safe) -> Safe:
    """Labels that stay, and a drawing that scrolls."""
    return el(
        "div",
        el("div", labels, cls="lcol"),
        el("div", el("div", drawing, cls="wide"), cls="scroll"),
        cls="tlbox",
    )


def _lanes_svg(life: GroupLife, places: Places, bands: list[Band]) -> Safe:
    height = places.lanes_end + 8
    rows = [
        el("line", x1=0, x2="100%", y1=places.top(row), y2=places.top(row), cls="grid")
        for row in range(len(places.lanes.shown))
    ]
    marks = [
        *holes(life, places),
        *stuck(life, places),
        *phases(life, places),
        *[mark for row, band in enumerate(bands) for mark in band.marks(EPOCHS_END + BAND * row)],
    ]
    drawn_epochs, epoch_labels = epochs(life, places)
    over = [
        *processes(life, places),
        *spans(life, places),
        *absences(life, places),
        *ends(life, places),
        *hand_overs(life, places),
        *task_moves(life, places),
        *conversions(life, places),
        *lives(life, places),
    ]
    say = (
        f"Timeline of {w.some(len(places.lanes.shown), 'lane')},"
        f" {w.some(len(life.epochs), 'epoch')} and"
        f" {w.some(len(life.hand_overs) or len(life.task_moves), 'hand-over')}. The tables below"
        " say the same."
    )
    return el(
        "svg",
        _definitions(),
        *ticks(places.axis, height - 8, labelled=True),
        *rows,
        *marks,
        *drawn_epochs,
        *over,
        *folds(places.axis, height - 8),
        *epoch_labels,
        width="100%",
        height=height,
        role="img",
        aria_label=say,
        tabindex="0",
        cls="marks tl",
    )


def ticks(axis: Axis, end: float, *, labelled: bool, start: float = TICKS_END) -> list[Safe]:
    drawn = []
    for tick in axis.ticks():
        x = percent(tick.x)
        room = _HALF_LABEL * 100 / WIDTHS[tick.level]
        anchor = "start" if tick.x < room else "end" if tick.x > 100 - room else "middle"
        label = (
            el(
                "text",
                w.at(tick.ms, seconds=tick.ms % 60_000 != 0),
                x=x,
                y=17,
                text_anchor=anchor,
                cls="tick",
            )
            if labelled
            else None
        )
        line = el("line", x1=x, x2=x, y1=start, y2=end, cls="grid")
        drawn.append(el("g", line, label, cls=f"v{tick.level}"))
    return drawn


def folds(axis: Axis, end: float) -> list[Safe]:
    drawn = []
    for fold in axis.folds:
        ms = fold.to_ms - fold.from_ms
        say = (
            f"nothing happened for {w.lasted(ms)}, from {w.when(fold.from_ms)} to"
            f" {w.when(fold.to_ms)}"
        )
        middle = percent(fold.x + FOLD / 2)
        drawn.append(
            el(
                "g",
                el("title", say),
                el(
                    "rect",
                    x=percent(fold.x),
                    width=percent(FOLD),
                    y=TICKS_END,
                    height=end - TICKS_END,
                    cls="fold",
                ),
                el("text", _brief(ms), x=middle, y=17, text_anchor="middle", cls="tick v1"),
                el("text", "⋯", x=middle, y=17, text_anchor="middle", cls="tick u1"),
                cls="mk fo",
            )
        )
    return drawn


def _brief(ms: int) -> str:
    for size, unit in ((172_800_000, "d"), (3_600_000, "h")):
        if ms >= size:
            return f"{ms // (86_400_000 if unit == 'd' else size)} {unit}"
    return f"{ms // 60_000} m"


def _labels(lanes: Lanes, bands: list[Band]) -> Safe:
    clients = [
        el(
            "li",
            el("span", name(lane.name), cls="l1"),
            el("span", lane.more, el("i", ", 2nd at once") if lane.twice else None, cls="l2"),
            title=f"{plain_name(lane.name)} {lane.more}",
            cls="lane",
        )
        for lane in lanes.shown
    ]
    above = [el("li", band.name, cls="band") for band in bands]
    head = [el("li", cls="ticks"), el("li", "epochs", cls="epochs")]
    return el("ol", *head, *above, *clients, cls="lanes")


def _definitions() -> Safe:
    """Hatchings and heads of arrows."""
    patterns = [
        el(
            "pattern",
            el("line", x1=0, y1=0, x2=0, y2=high, cls=f"hatch-{kind}"),
            id=f"h-{kind}",
            width=wide,
            height=high,
            patternUnits="userSpaceOnUse",
            patternTransform=f"rotate({turn})",
        )
        for kind, wide, high, turn in (
            ("consumer", 5, 6, 35),
            ("classic", 5, 6, 35),
            ("fold", 4, 5, 45),
            ("hole", 7, 7, 45),
            ("fray", 5, 6, 0),
        )
    ]
    heads = [
        el(
            "marker",
            el("path", d="M0,0 L7,3.5 L0,7 z", cls=cls),
            id=id_,
            viewBox="0 0 7 7",
            refX=6,
            refY=3.5,
            markerWidth=7,
            markerHeight=7,
            orient="auto",
            markerUnits="userSpaceOnUse",
        )
        for id_, cls in (("arrow", "f-ink"), ("arrow-bad", "f-stuck"), ("arrow-cold", "f-cold"))
    ]
    return el("defs", *patterns, *heads)
