"""Charts as SVG: x in percent and y in pixels, so that one fits any width, its text keeps its size,
and nothing is drawn by a script.

Every mark has a title. Every chart that says something has a sentence for readers who do not see
it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Any, Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, percent
from groupreplay.page.model.fleet import CostDay, LatencyNight, NightTotals, SlowRequest

LEAST_COLUMNS: Final = 14
"""With fewer nights columns keep the width that they have with so many."""


def burn_down(nights: Sequence[NightTotals]) -> Safe:
    """Groups by protocol, classic at the bottom: what is left to do burns down to the axis."""
    height, top, base = 250, 14, 226
    last = nights[-1]
    peak = max(night.classic + night.mixed + night.consumer for night in nights)
    most = _nice_most(peak)

    def y(value: float) -> float:
        return base - value / most * (base - top)

    lines = sorted({0, round(most / 2), round(most)})
    drawn = [_level(y(value), value) for value in lines]
    width, first = _columns(len(nights))
    for place, night in enumerate(nights):
        say = (
            f"{_day(night.night)}: {w.n(night.classic)} classic, {w.n(night.mixed)} half-way,"
            f" {w.n(night.consumer)} consumer"
        )
        x = first + place * width
        marks, below = [], 0
        for kind in ("classic", "mixed", "consumer"):
            count = getattr(night, kind)
            if count:
                gap = 1 if below + count < most * 0.999 else 0
                tall = max(y(below) - y(below + count) - gap, 0.75)
                marks.append(_bar(x, width, y(below + count), tall, f"f-{kind}"))
            below += count
        drawn.append(_mark(say, _hit(x, width, top, base - top), *marks))
    drawn += _day_labels([night.night for night in nights], height - 6)
    say = (
        f"Groups by protocol over {w.some(len(nights), 'night')}, now {w.n(last.classic)} classic,"
        f" {w.n(last.mixed)} half-way and {w.n(last.consumer)} consumer."
    )
    return el(
        "div",
        _axis_of([(y(value), w.n(value)) for value in lines], 44, height),
        _chart(drawn, height, say),
        _ends(last, y, height),
        cls="chart3",
    )


def _ends(last: NightTotals, y: Any, height: int) -> Safe:
    """Names at the last column, in place of a legend: bottom to top, a line each."""
    labels: list[Safe] = []
    below, lowest = 0, math.inf
    for kind, label in (
        ("classic", "still classic"),
        ("mixed", "half-way"),
        ("consumer", "consumer"),
    ):
        count = getattr(last, kind)
        place = min(y(below + count / 2) + 5, lowest - 19)
        below, lowest = below + count, place
        number = el("tspan", w.n(count), cls=f"big t-{kind}")
        labels.append(el("text", number, " ", label, x=8, y=place, cls="endlab"))
    return el("svg", *labels, cls="ends", width="136", height=height, aria_hidden="true")


def small_columns(values: Sequence[int], say: Sequence[str]) -> Safe:
    """One row of small columns in a scale of its own; the last is dark."""
    height, most = 34, max(*values, 1)
    width, first = _columns(len(values))
    drawn = [el("line", x1=0, x2="100%", y1=height - 0.5, y2=height - 0.5, cls="axis")]
    for place, value in enumerate(values):
        tall = max(value / most * (height - 4), 0.75 if value else 0)
        x, is_last = first + place * width, place == len(values) - 1
        bar = _bar(x, width, height - tall, tall, "f-ink last" if is_last else "f-ink")
        drawn.append(_mark(say[place], _hit(x, width, 0, height), bar))
    return el(
        "svg",
        *drawn,
        width="100%",
        height=height,
        cls="spark marks",
        role="img",
        aria_label="; ".join(say[-3:]),
        tabindex="0",
    )


def latency_lines(nights: Sequence[LatencyNight]) -> Safe | None:
    """How long half and 99 % took to let go, night by night, logarithmic; None without times."""
    values = [ms for night in nights for ms in (night.half_ms, night.most_ms) if ms]
    if not values:
        return None
    height, top, base = 150, 10, 126
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)

    def y(ms: float) -> float:
        return base - (math.log10(max(ms, 1)) - low) / (high - low) * (base - top)

    powers = [10**power for power in range(low, high + 1)]
    drawn = [el("line", x1=0, x2="100%", y1=y(ms), y2=y(ms), cls="grid") for ms in powers]
    axis = [(y(ms), w.lasted(ms).replace(".0", "")) for ms in powers]
    width, first = _columns(len(nights))
    middle = [percent(first + (place + 0.5) * width) for place in range(len(nights))]
    for heights, cls in (
        ([night.most_ms for night in nights], "s-ink"),
        ([night.half_ms for night in nights], "s-soft"),
    ):
        for place, (one, other) in enumerate(pairwise(heights)):
            if one and other:
                ends = {"x1": middle[place], "x2": middle[place + 1]}
                drawn.append(el("line", **ends, y1=y(one), y2=y(other), cls=cls))
    for place, night in enumerate(nights):
        say = (
            f"{_day(night.night)}: half within {w.lasted(night.half_ms)}, 99 % within"
            f" {w.lasted(night.most_ms)}, {w.n(night.fenced)} fenced"
        )
        hit = _hit(first + place * width, width, top, base - top)
        dots = [
            el(
                "circle",
                cx=middle[place],
                cy=y(ms),
                r=2.6,
                cls="f-ink dot" if len(nights) > 1 else "f-ink",
            )
            for ms in (night.most_ms, night.half_ms)
            if ms
        ]
        drawn.append(_mark(say, hit, *dots))
    drawn += _day_labels([night.night for night in nights], height - 6)
    say = "Time to let go of a partition night by night, for 99 % of them and for half."
    return el(
        "div",
        _axis_of(axis, 60, height),
        _chart(drawn, height, say),
        _latency_ends(nights[-1], y, height),
        cls="chart3",
    )


def _latency_ends(last: LatencyNight, y: Any, height: int) -> Safe:
    labels: list[Safe] = []
    highest = -math.inf
    for ms, word, cls in (
        (last.most_ms, "99 % within", "mid"),
        (last.half_ms, "half within", "mid soft"),
    ):
        if ms:
            place = max(y(ms) + 1, highest + 34)
            highest = place
            labels.append(el("text", w.lasted(ms), x=8, y=place, cls=cls))
            labels.append(el("text", word, x=8, y=place + 14, cls="tick"))
    return el("svg", *labels, cls="ends", width="92", height=height, aria_hidden="true")


def cost_columns(days: Sequence[CostDay]) -> Safe:
    """What nobody read for sure, a day, in partition hours."""
    height, top, base = 130, 10, 106
    most = max(*[day.low_ms for day in days], 1)
    width, first = _columns(len(days))
    drawn = [_level(base - share * (base - top), share) for share in (0, 0.5, 1)]
    for place, day in enumerate(days):
        tall = max(day.low_ms / most * (base - top), 0.75 if day.low_ms else 0)
        say = f"{_day(day.day)}: at least {w.lasted(day.low_ms)} of partitions were not read"
        x = first + place * width
        drawn.append(
            _mark(say, _hit(x, width, top, base - top), _bar(x, width, base - tall, tall, "f-ink"))
        )
    drawn += _day_labels([day.day for day in days], height - 6)
    axis = [(base - share * (base - top), w.lasted(most * share)) for share in (0, 0.5, 1)]
    say = f"Time in which partitions were not read, a day, over {w.some(len(days), 'day')}."
    return el(
        "div", _axis_of(axis, 84, height), _chart(drawn, height, say), el("span"), cls="chart3"
    )


STEPS: Final = ("notify_ms", "revoke_ms", "unowned_ms", "resume_ms")
"""Steps of a hand-over, in order."""


def steps_total(row: Any) -> int:
    return sum(getattr(row, step) or 0 for step in STEPS)


def steps_bar(row: SlowRequest, most: int) -> Safe:
    """The steps of one hand-over, linear, in a scale that the list shares.

    most: ms of the longest hand-over of the list, which fills the width.
    """
    x, drawn = 0.0, []
    for step in STEPS:
        wide = (getattr(row, step) or 0) / max(most, 1) * 100
        cls = "st-" + step.removesuffix("_ms")
        is_charged = step == "revoke_ms"
        if wide > 0.05:
            bad = " bad" if is_charged and row.outcome == "FENCED" else ""
            drawn.append(
                el(
                    "rect",
                    x=percent(x),
                    width=percent(max(wide, 0.25)),
                    y=1 if is_charged else 3,
                    height=12 if is_charged else 8,
                    cls=cls + bad,
                )
            )
        x += wide
    say = (
        f"notified after {w.lasted(row.notify_ms)}, let go after {w.lasted(row.revoke_ms)}, without"
        f" an owner {w.lasted(row.unowned_ms)}, first commit after {w.lasted(row.resume_ms)}"
    )
    return el("svg", el("title", say), *drawn, width="100%", height=14, role="img", aria_label=say)


_TICKS: Final = (
    (10_000, "10 s"),
    (60_000, "1 min"),
    (600_000, "10 min"),
    (3_600_000, "1 h"),
    (86_400_000, "1 d"),
)
_LEAST_MS, _MOST_MS = 8_000, 864_000_000


def _logarithmic(ms: float) -> float:
    share = math.log(max(ms, _LEAST_MS) / _LEAST_MS) / math.log(_MOST_MS / _LEAST_MS)
    return max(0.0, min(100.0, share * 100))


def log_head() -> Safe:
    """The scale of `log_dot`, for the head of its column."""
    ticks = [
        el(
            "text",
            label,
            x=percent(_logarithmic(ms)),
            y=11,
            text_anchor="middle" if place else "start",
            cls="tick",
        )
        for place, (ms, label) in enumerate(_TICKS)
        if place % 2 == 0
    ]
    return el("svg", *ticks, width="100%", height=14, aria_hidden="true", cls="loghead")


def log_dot(ms: int) -> Safe:
    """A duration as a dot on a logarithmic scale; its text stands beside it."""
    place = percent(_logarithmic(ms))
    grid = [percent(_logarithmic(tick)) for tick, _ in _TICKS]
    return el(
        "svg",
        *[el("line", x1=x, x2=x, y1=0, y2=16, cls="grid") for x in grid],
        el("line", x1=0, x2=place, y1=8, y2=8, cls="s-stuck"),
        el("circle", cx=place, cy=8, r=4, cls="f-stuck"),
        width="100%",
        height=16,
        aria_hidden="true",
    )


def share_bar(part: int, whole: int) -> Safe:
    """Members that speak consumer, of all."""
    share = percent(100 * part / whole if whole else 0)
    return el(
        "svg",
        el("rect", x=0, width="100%", y=3, height=8, cls="f-classic"),
        el("rect", x=0, width=share, y=3, height=8, cls="f-consumer"),
        width="100%",
        height=14,
        role="img",
        aria_label=f"{part} of {whole} members speak the consumer protocol",
    )


def bar(value: float, most: float, cls: str) -> Safe:
    """A length in the scale of its list; the number stands beside it."""
    wide = percent(max(100 * value / max(most, 1), 0.5))
    return el(
        "svg",
        el("rect", x=0, width=wide, y=3, height=8, cls=cls) if value else None,
        width="100%",
        height=14,
        aria_hidden="true",
    )


# ---------------------------------------------------------------- pieces


def _nice_most(peak: float) -> float:
    """The top of a scale: a round number not far above the peak, else the peak itself."""
    if peak <= 0:
        return 1
    power = 10 ** math.floor(math.log10(peak))
    nice = next(k * power for k in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if k * power >= peak - 1e-9)
    return peak if peak <= nice * 0.8 else nice


def _columns(count: int) -> tuple[float, float]:
    """(width of a column, place of the first), in percent: the newest stands at the right."""
    width = 100 / max(count, LEAST_COLUMNS)
    return width, 100 - width * count


def _bar(x: float, width: float, y: float, tall: float, cls: str) -> Safe:
    place, wide = percent(x + 0.09 * width), percent(width * 0.82)
    return el("rect", x=place, width=wide, y=y, height=tall, cls=cls)


def _hit(x: float, width: float, y: float, tall: float) -> Safe:
    """The area under the pointer: the whole height, so that an empty column has a title too."""
    return el("rect", x=percent(x), width=percent(width), y=y, height=tall, cls="hit")


def _mark(say: str, *drawn: Safe) -> Safe:
    return el("g", el("title", say), *drawn, cls="mk")


def _level(y: float, value: float) -> Safe:
    return el("line", x1=0, x2="100%", y1=y, y2=y, cls="grid" if value else "axis")


def _axis_of(labels: Sequence[tuple[float, str]], width: int, height: int) -> Safe:
    texts = [
        el("text", label, x="100%", dx=-6, y=y + 4, text_anchor="end", cls="tick")
        for y, label in labels
    ]
    return el("svg", *texts, cls="yaxis", width=str(width), height=height, aria_hidden="true")


def _chart(drawn: Sequence[Safe], height: int, say: str) -> Safe:
    return el(
        "svg",
        *drawn,
        width="100%",
        height=height,
        role="img",
        aria_label=say,
        tabindex="0",
        cls="marks",
    )


def _day_labels(days: Sequence[str], y: float) -> list[Safe]:
    """Every seventh day from the last one back; of few days, each that has room."""
    width, first = _columns(len(days))
    step = 7 if len(days) > 10 else 1 if len(days) < 6 else 2
    labels = []
    for place in range(len(days) - 1, -1, -step):
        is_last = place == len(days) - 1
        is_first = place == 0 and len(days) >= LEAST_COLUMNS
        anchor = "end" if is_last else "start" if is_first else "middle"
        x = 100.0 if is_last else first + (place + 0.5) * width
        thin = " wide" if (len(days) - 1 - place) // step % 2 else ""
        labels.append(
            el("text", _day(days[place]), x=percent(x), y=y, text_anchor=anchor, cls="tick" + thin)
        )
    return labels


def _day(day: str) -> str:
    return w.night(date.fromisoformat(day))


_STEP_WORDS: Final = (
    ("st-notify", "until it was told"),
    ("st-revoke", "until it let go, charged to the client"),
    ("st-unowned", "without an owner"),
    ("st-resume", "until the next owner committed"),
)


def steps_key() -> Safe:
    """What the four shades of `charts.steps_bar` mean."""
    keys = []
    for cls, words in _STEP_WORDS:
        high = cls == "st-revoke"
        box = el("rect", width="100%", y=1 if high else 3, height=12 if high else 8, cls=cls)
        keys.append(el("span", el("svg", box, width=22, height=14, aria_hidden="true"), words))
    return el("p", *keys, cls="key")
