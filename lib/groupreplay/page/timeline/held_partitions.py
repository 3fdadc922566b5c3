"""Who held each partition that changed hands, on the axis of the timeline: a bar a holder, in the
colour of its protocol, and a gap where nobody had it.
"""

from __future__ import annotations

from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, name, percent, plain_name
from groupreplay.page.model.life import GroupLife, Held
from groupreplay.page.timeline.axis import FOLD, WIDTHS
from groupreplay.page.timeline.lanes import natural
from groupreplay.page.timeline.places import SLIM, Places, mark

MOST_PARTITIONS: Final = 48
_HEAD: Final = 26
Key = tuple[str, int]


def moved_partitions(life: GroupLife) -> dict[Key, list[Held]]:
    """Those that more than one member held, in natural order."""
    held: dict[Key, list[Held]] = {}
    start = life.from_at_ms or 0
    for each in life.held:
        if each.released_at_ms is None or each.released_at_ms > start:
            held.setdefault((each.topic, each.partition), []).append(each)
    several = [key for key, found in held.items() if len({each.member_id for each in found}) > 1]
    return {key: held[key] for key in sorted(several, key=lambda key: (natural(key[0]), key[1]))}


def partitions(life: GroupLife, places: Places) -> tuple[Safe, Safe] | None:
    """(labels, drawing); None where nothing changed hands."""
    moved = moved_partitions(life)
    if not moved:
        return None
    shown = list(moved)[:MOST_PARTITIONS]
    height = _HEAD + SLIM * len(shown) + 6
    bars: list[Safe] = []
    texts: list[Safe] = []
    for row, key in enumerate(shown):
        y = _HEAD + 3 + SLIM * row
        for each, gap_from in _with_gaps(moved[key]):
            bars += _gap(key, gap_from, each.assigned_at_ms, y, places)
            bar, text = _bar(key, each, y, life, places)
            bars.append(bar)
            texts += [text] if text is not None else []
    say = f"Who held each of {w.some(len(shown), 'partition')} that changed hands."
    return _labels(shown, len(moved)), slim_rows(places, height, bars, texts, say)


def slim_rows(places: Places, height: float, bars: list[Safe], texts: list[Safe], say: str) -> Safe:
    """The drawing below the lanes. say: what it is of."""
    return el(
        "svg",
        *grid(places, height),
        *bars,
        *folded(places, height),
        *texts,
        width="100%",
        height=height,
        role="img",
        aria_label=say,
        tabindex="0",
        cls="marks tl pt",
    )


def grid(places: Places, height: float) -> list[Safe]:
    return [
        el(
            "line",
            x1=percent(tick.x),
            x2=percent(tick.x),
            y1=20,
            y2=height - 6,
            cls=f"grid v{tick.level}",
        )
        for tick in places.axis.ticks()
    ]


def folded(places: Places, height: float) -> list[Safe]:
    return [
        el("rect", x=percent(fold.x), width=percent(FOLD), y=20, height=height - 26, cls="fold2")
        for fold in places.axis.folds
    ]


def _with_gaps(held: list[Held]) -> list[tuple[Held, int | None]]:
    """Each holder, and since when nobody had the partition before it."""
    found: list[tuple[Held, int | None]] = []
    last: int | None = None
    for each in sorted(held, key=lambda each: (each.assigned_at_ms, each.member_id)):
        is_gap = last is not None and each.assigned_at_ms > last
        found.append((each, last if is_gap else None))
        last = each.released_at_ms
    return found


def _gap(key: Key, from_ms: int | None, to_ms: int, y: float, places: Places) -> list[Safe]:
    if from_ms is None:
        return []
    say = f"{_named(key)} had no owner for {w.lasted(to_ms - from_ms)}"
    return [
        mark(
            say, el("line", x1=places.x(from_ms), x2=places.x(to_ms), y1=y + 7, y2=y + 7, cls="gap")
        )
    ]


def _bar(
    key: Key, each: Held, y: float, life: GroupLife, places: Places
) -> tuple[Safe, Safe | None]:
    unseen = each.released_at_ms is None and each.end_reason != "OPEN"
    end = each.released_at_ms or life.as_of_ms
    member = places.lanes.member.get(each.member_id)
    who = places.lanes.client(each.member_id)
    until = (
        "its end was not seen"
        if unseen
        else f"to {w.when(each.released_at_ms)} ({each.end_reason})"
        if each.released_at_ms
        else "still"
    )
    say = f"{_named(key)}: {who} from {w.when(each.assigned_at_ms)}, {until}"
    protocol = member.member_protocol if member else "classic"
    bar = el(
        "rect",
        x=places.x(each.assigned_at_ms),
        width=places.width(each.assigned_at_ms, end),
        y=y,
        height=14,
        cls=f"hold p-{protocol if protocol in ('classic', 'consumer') else 'classic'}",
    )
    return mark(say, bar), holder(who, each.assigned_at_ms, end, y + 11, places)


def holder(who: str, from_ms: int, to_ms: int, y: float, places: Places) -> Safe | None:
    """The name in a bar, from the width on at which it fits; None where it never does."""
    width, need = places.axis(to_ms) - places.axis(from_ms), 8 + 6.1 * len(who)
    level = next((k for k, wide in enumerate(WIDTHS) if width * wide / 100 > need), None)
    if level is None:
        return None
    return el("text", who, x=places.x(from_ms), dx=5, y=y, cls=f"oname v{max(level, 1)}")


def _named(key: Key) -> str:
    return f"{plain_name(key[0])}-{key[1]}"


def _labels(shown: list[Key], of: int) -> Safe:
    head = "partitions that moved" if of == len(shown) else f"{len(shown)} of {w.n(of)} that moved"
    return el(
        "ol",
        el("li", head, cls="lh"),
        *[
            el(
                "li",
                el(
                    "span",
                    el("span", name(topic), cls="tp"),
                    el("span", f"-{number}", cls="id"),
                    cls="l1",
                ),
                title=_named((topic, number)),
                cls="slim",
            )
            for topic, number in shown
        ],
        cls="lanes",
    )
