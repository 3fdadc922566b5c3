"""Who held each partition that changed hands, on the axis of the timeline: a bar a holder, in the
colour of its protocol, and a gap where nobody had it.
"""

from __future__ import annotations

from dataclasses import dataclass
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


def has_gaps(life: GroupLife) -> bool:
    """Whether one of those that are shown had no owner for a while."""
    moved = moved_partitions(life)
    stays = (
        stay
        for row, key in enumerate(list(moved)[:MOST_PARTITIONS])
        for stay in _stays(row, key, moved[key], life)
    )
    return any(stay.free_from_ms is not None for stay in stays)


def partitions(life: GroupLife, places: Places) -> tuple[Safe, Safe] | None:
    """(labels, drawing); None where nothing changed hands."""
    moved = moved_partitions(life)
    if not moved:
        return None
    shown = list(moved)[:MOST_PARTITIONS]
    height = _HEAD + SLIM * len(shown) + 6
    stays = [stay for row, key in enumerate(shown) for stay in _stays(row, key, moved[key], life)]
    gaps = [(each, each.free_from_ms) for each in stays if each.free_from_ms is not None]
    longest = places.telling("gaps between holders", gaps, lambda gap: gap[1] - gap[0].from_ms)
    bars = [_gap(each, free_from_ms, places) for each, free_from_ms in longest]
    texts: list[Safe] = []
    for each in places.telling(
        "holders of partitions", stays, lambda each: each.from_ms - each.to_ms
    ):
        bar, text = _bar(each, places)
        bars.append(bar)
        texts += [text] if text is not None else []
    say = f"Who held each of {w.some(len(shown), 'partition')} that changed hands."
    return _labels(shown, len(moved)), slim_rows(places, height, bars, texts, say)


def slim_rows(places: Places, height: float, bars: list[Safe], texts: list[Safe], say: str) -> Safe:
    """The drawing below the lanes.

    say: what it shows, for readers who do not see it.
    """
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


@dataclass(frozen=True, slots=True)
class _Stay:
    """A partition at a member, until the next one had it where its end was not seen.

    y: place from the top, in px.
    free_from_ms: since when nobody had had it, None where somebody had.
    """

    held: Held
    key: Key
    y: float
    to_ms: int
    unseen_end: bool
    free_from_ms: int | None

    @property
    def from_ms(self) -> int:
        return self.held.assigned_at_ms


def _stays(row: int, key: Key, held: list[Held], life: GroupLife) -> list[_Stay]:
    found = []
    last: int | None = None
    in_order = sorted(held, key=lambda each: (each.assigned_at_ms, each.member_id))
    for each, following in zip(in_order, [*in_order[1:], None], strict=True):
        end = each.released_at_ms
        if end is None:
            lasts = each.end_reason == "OPEN" or following is None
            end = life.as_of_ms if lasts or following is None else following.assigned_at_ms
        is_gap = last is not None and each.assigned_at_ms > last
        found.append(
            _Stay(
                each,
                key,
                _HEAD + 3 + SLIM * row,
                max(end, each.assigned_at_ms),
                has_unseen_end(each.released_at_ms, each.end_reason),
                last if is_gap else None,
            )
        )
        last = each.released_at_ms
    return found


def has_unseen_end(ended_at_ms: int | None, end_reason: str) -> bool:
    return end_reason == "UNOBSERVED" or (ended_at_ms is None and end_reason != "OPEN")


def _gap(each: _Stay, free_from_ms: int, places: Places) -> Safe:
    say = f"{_named(each.key)} had no owner for {w.lasted(each.from_ms - free_from_ms)}"
    x1, x2, y = places.x(free_from_ms), places.x(each.from_ms), each.y + 7
    return mark(say, el("line", x1=x1, x2=x2, y1=y, y2=y, cls="gap"))


def _bar(each: _Stay, places: Places) -> tuple[Safe, Safe | None]:
    held = each.held
    member = places.lanes.member.get(held.member_id)
    who = places.lanes.client(held.member_id)
    until = (
        "its end was not seen"
        if each.unseen_end
        else f"to {w.when(held.released_at_ms)} ({held.end_reason})"
        if held.released_at_ms
        else "still"
    )
    since = f"from {w.when(each.from_ms)}" + ("" if held.start_observed else " at the latest")
    protocol = member.member_protocol if member else "classic"
    bar = el(
        "rect",
        x=places.x(each.from_ms),
        width=places.width(each.from_ms, each.to_ms),
        y=each.y,
        height=14,
        cls=f"hold p-{protocol if protocol in ('classic', 'consumer') else 'classic'}",
    )
    frayed = places.unseen(
        each.from_ms,
        each.to_ms,
        each.y,
        14,
        start=not held.start_observed,
        end=each.unseen_end,
    )
    said = mark(f"{_named(each.key)}: {who} {since}, {until}", bar, *frayed)
    return said, holder(who, each.from_ms, each.to_ms, each.y + 11, places)


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
