"""Marks in the lanes: what each member was doing, how it ended, what it waited for, and how long a
process was there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, percent, plain_name
from groupreplay.page.model.life import Absence, GroupLife, Member, Span, Stuck
from groupreplay.page.timeline.axis import Label, rooms
from groupreplay.page.timeline.held_partitions import has_unseen_end
from groupreplay.page.timeline.places import LANE, Places, mark

LEFT_FOR_A_WHILE: Final = -2
"""`member_epoch` of a static member that is away."""

_LOOKS: Final = {
    "STABLE": "stable",
    "UNREVOKED_PARTITIONS": "asked",
    "UNREVOKED_TASKS": "asked",
    "UNRELEASED_PARTITIONS": "waits",
    "UNRELEASED_TASKS": "waits",
}
_HEIGHTS: Final = {"stable": 8, "asked": 16, "waits": 16, "away": 4, "unknown": 8}
_QUIET_ENDS: Final = ("OPEN", "LEFT", "REPLACED", "GROUP_REMOVED", "UNOBSERVED")
"""Ends of members that nobody needs to look at."""


@dataclass(frozen=True, slots=True)
class _Merged:
    """A span that may go over several epochs."""

    span: Span
    last_epoch: int


def merged(life: GroupLife) -> list[_Merged]:
    """A member that stays stable with as many partitions over several epochs has one span."""
    last: dict[str, int] = {}
    found: list[_Merged] = []
    for each in life.spans:
        place = last.get(each.member_id)
        before = found[place] if place is not None else None
        if before is not None and place is not None and _goes_on(before.span, each):
            span = replace(
                before.span,
                to_at_ms=each.to_at_ms,
                is_final=each.is_final,
                end_observed=each.end_observed,
            )
            found[place] = _Merged(span, each.member_epoch)
        else:
            last[each.member_id] = len(found)
            found.append(_Merged(each, each.member_epoch))
    return found


def _goes_on(one: Span, other: Span) -> bool:
    return (
        one.state == other.state == "STABLE"
        and one.end_observed
        and one.to_at_ms == other.from_at_ms
        and one.partitions_assigned == other.partitions_assigned
        and one.member_protocol == other.member_protocol
        and LEFT_FOR_A_WHILE not in (one.member_epoch, other.member_epoch)
    )


def spans(life: GroupLife, places: Places) -> list[Safe]:
    slots = _slots(places)
    found = [
        each
        for each in merged(life)
        if each.span.member_id in places.lanes.row and not places.is_over(_end_of(each.span, life))
    ]
    drawn, counts = [], defaultdict[int, list[tuple[int, int, str]]](list)
    for each in places.telling("spans", found, lambda each: _rank(each.span, life)):
        span = each.span
        row = places.lanes.row[span.member_id]
        end = _end_of(span, life)
        looks = _looks(span)
        slot, of = slots.get(span.member_id, (0, 1))
        high = max(2.0, _HEIGHTS[looks] / of)
        top = places.middle(row) + (slot - (of - 1) / 2) * (18 / of if of > 1 else 0) - high / 2
        bar = el(
            "rect",
            x=places.x(span.from_at_ms),
            width=places.width(span.from_at_ms, end),
            y=top,
            height=high,
            cls=f"sp {looks} p-{_protocol(span.member_protocol)}",
        )
        frayed = places.unseen(
            span.from_at_ms,
            end,
            top - 1,
            high + 2,
            start=not span.start_observed,
            end=ends_unseen(span),
        )
        drawn.append(mark(_say(each, end, places), bar, *frayed))
        if of == 1:
            held = span.partitions_assigned + span.partitions_pending
            counts[row].append((span.from_at_ms, held, looks))
    return [*drawn, *_held_numbers(counts, places)]


def _rank(span: Span, life: GroupLife) -> tuple[bool, int]:
    """What members wait for first, then what lasted longest."""
    return _looks(span) == "stable", span.from_at_ms - _end_of(span, life)


def has_unseen(life: GroupLife) -> bool:
    """Whether a bar of the timeline looks frayed."""
    of_spans = ((each.start_observed, ends_unseen(each)) for each in life.spans)
    of_holders = (
        (each.start_observed, has_unseen_end(each.released_at_ms, each.end_reason))
        for held in (life.held, life.tasks)
        for each in held
    )
    of_processes = (
        (each.start_observed, has_unseen_end(each.left_at_ms, each.end_reason))
        for each in life.processes
    )
    return any(
        unseen_end or not seen_start
        for seen_start, unseen_end in chain(of_spans, of_holders, of_processes)
    )


def ends_unseen(span: Span) -> bool:
    return not span.end_observed or (span.to_at_ms is None and span.is_final)


def _protocol(member_protocol: str) -> str:
    return member_protocol if member_protocol in ("classic", "consumer", "streams") else "classic"


def _slots(places: Places) -> dict[str, tuple[int, int]]:
    """Member -> (place, of how many): threads of a process share its lane."""
    return {
        member.member_id: (slot, len(lane.members))
        for lane in places.lanes.shown
        if lane.process is not None
        for slot, member in enumerate(lane.members)
    }


def _end_of(span: Span, life: GroupLife) -> int:
    """A span that lasts goes to as-of; one whose end a hole hides to the next epoch at most."""
    if span.to_at_ms is not None:
        return span.to_at_ms
    if not span.is_final:
        return life.as_of_ms
    later = [each.started_at_ms for each in life.epochs if each.started_at_ms > span.from_at_ms]
    return min(later, default=life.as_of_ms)


def _looks(span: Span) -> str:
    if span.member_epoch == LEFT_FOR_A_WHILE:
        return "away"
    return _LOOKS.get(span.state, "unknown")


def _say(each: _Merged, end: int, places: Places) -> str:
    span = each.span
    doing = {
        "stable": f"stable with {w.some(span.partitions_assigned, 'partition')}",
        "asked": f"asked to give up {w.some(span.partitions_pending, 'partition')}",
        "waits": f"waits with {w.some(span.partitions_assigned, 'partition')}",
        "away": f"static and away, {w.some(span.partitions_assigned, 'partition')} kept for it",
        "unknown": f"in state {span.state}",
    }[_looks(span)]
    epochs = (
        f"epoch {span.member_epoch}"
        if span.member_epoch == each.last_epoch
        else f"epochs {span.member_epoch} to {each.last_epoch}"
    )
    waits = [places.lanes.client(member) for member in span.waiting_on]
    return (
        f"{places.lanes.client(span.member_id)} speaks {span.member_protocol}, {doing}, {epochs},"
        f" {w.when(span.from_at_ms)} for {w.lasted(end - span.from_at_ms)}"
        + (f", waiting on {', '.join(waits[:3])}" if waits else "")
        + ("" if span.start_observed else "; its start was not seen")
        + ("; its end was not seen" if ends_unseen(span) else "")
    )


def _held_numbers(counts: dict[int, list[tuple[int, int, str]]], places: Places) -> list[Safe]:
    """How many partitions a lane holds, where that changes."""
    drawn = []
    for row, found in sorted(counts.items()):
        items: list[tuple[float, int, str]] = []
        last = None
        for ms, held, looks in sorted(found):
            if held == last:
                continue
            x = places.axis(ms)
            if items and x - items[-1][0] < 0.08:
                items.pop()
            items.append((x, held, looks))
            last = held
        labels = [
            Label(x, (place,), 7 + 6 * len(str(held))) for place, (x, held, _) in enumerate(items)
        ]
        for (x, held, looks), room in zip(items, rooms(labels, 3), strict=True):
            if room is not None:
                y = places.middle(row) - (6.5 if looks in ("stable", "away") else 10)
                drawn.append(
                    el("text", held, x=percent(x), dx=2, y=y, cls=f"held v{max(room.level, 1)}")
                )
    return drawn


def stuck(life: GroupLife, places: Places) -> list[Safe]:
    """What is stuck: members behind their lane, the group above all lanes."""
    drawn = []
    found = [
        each
        for each in life.stuck
        if not places.is_over(each.until_at_ms)
        and (each.member_id is None or each.member_id in places.lanes.row)
    ]
    for each in places.telling(
        "stuck episodes", found, lambda each: (not each.is_open, -each.stuck_ms)
    ):
        end = each.until_at_ms or life.as_of_ms
        x, width = places.x(each.since_at_ms), places.width(each.since_at_ms, end)
        say = _say_stuck(each, places)
        if each.member_id is None:
            band = el("rect", x=x, width=width, y=places.first - 4, height=4, cls="f-stuck")
            drawn.append(mark(say, band))
            continue
        row = places.lanes.row[each.member_id]
        own = "" if each.reason == "WAITING_ON_HOLDER" else " own"
        y = places.top(row)
        drawn.append(
            mark(
                say,
                el("rect", x=x, width=width, y=y + 1, height=LANE - 1, cls="shade" + own),
                el("line", x1=x, x2=places.x(end), y1=y + LANE - 1, y2=y + LANE - 1, cls="s-stuck"),
            )
        )
    return drawn


def _say_stuck(each: Stuck, places: Places) -> str:
    who = "the whole group" if each.member_id is None else places.lanes.client(each.member_id)
    held_by = ", ".join(places.lanes.client(member) for member in each.blocked_by[:3])
    until = "still" if each.is_open else f"until {w.at(each.until_at_ms)}"
    return (
        f"{who}: {w.word(w.REASON, each.reason)} ({each.reason}) for {w.lasted(each.stuck_ms)},"
        f" since {w.when(each.since_at_ms)}, {until}" + (f", held by {held_by}" if held_by else "")
    )


def is_static(each: Absence) -> bool:
    """Only static members are expected back."""
    return each.membership == "STATIC"


def absence_looks(each: Absence) -> str:
    if each.outcome == "ABSORBED":
        return "absent"
    return "absent open" if each.outcome in ("AWAY", "UNOBSERVED") else "absent lost"


def absences(life: GroupLife, places: Places) -> list[Safe]:
    """A static member that was gone, at the foot of its lane: whether its session lasted longer."""
    drawn = []
    of_static = [each for each in life.absences if is_static(each)]
    for each in places.telling("absences", of_static, lambda each: -(each.gap_low_ms or 0)):
        row = places.lanes.row.get(each.member_id, places.lanes.row.get(each.returned_as or ""))
        end = each.returned_at_ms or each.removed_at_ms
        if each.outcome == "AWAY":
            end = life.as_of_ms
        begin = each.left_at_ms or end
        if row is None or begin is None or places.is_over(end):
            continue
        bar = el(
            "rect",
            x=places.x(begin),
            width=places.width(begin, end or begin, 0.15),
            y=places.top(row) + LANE - 6,
            height=3,
            cls=absence_looks(each),
        )
        drawn.append(mark(_say_absence(each, begin, end, places), bar))
    return drawn


def _say_absence(each: Absence, begin: int, end: int | None, places: Places) -> str:
    who = each.instance_id or places.lanes.client(each.member_id)
    since = f" since {w.when(begin)}" if each.left_at_ms is not None else ""
    lasted = f" for {w.lasted(end - begin)}" if since and end is not None else ""
    moved = "" if each.moved is None else f", {w.n(each.moved)} moved"
    return (
        f"{plain_name(who)}, static, was gone{since}{lasted}: {w.word(w.ABSENCE, each.outcome)}"
        f" ({each.outcome}), its session is {w.lasted(each.own_timeout_ms)}; it held"
        f" {w.some(each.partitions, 'partition')}{moved}"
    )


def is_loud_end(each: Member) -> bool:
    return each.ended_at_ms is not None and each.end_reason not in _QUIET_ENDS


def ends(life: GroupLife, places: Places) -> list[Safe]:
    """A cross where a member was fenced, or may have been."""
    drawn = []
    found = [
        (each, each.ended_at_ms)
        for each in life.members
        if each.member_id in places.lanes.row
        and each.ended_at_ms is not None
        and not places.is_over(each.ended_at_ms)
        and is_loud_end(each)
    ]
    for each, ms in places.telling("ends of members", found, lambda each: -each[1]):
        row = places.lanes.row[each.member_id]
        detail = f" ({each.end_detail})" if each.end_detail else ""
        say = (
            f"{places.lanes.client(each.member_id)}: {w.word(w.END, each.end_reason)}{detail} at"
            f" {w.when(ms)}"
        )
        x, middle = places.x(ms), places.middle(row)
        circle = el("circle", cx=x, cy=middle, r=7, cls="gone")
        cross = el("text", "×", x=x, y=middle + 4.5, text_anchor="middle", cls="gonex")
        drawn.append(mark(say, circle, cross))
    return drawn


def processes(life: GroupLife, places: Places) -> list[Safe]:
    """How long each process of Kafka Streams was there, at the foot of its lane."""
    drawn = []
    found = [
        each
        for each in life.processes
        if each.process_id in places.lanes.process_row and not places.is_over(each.left_at_ms)
    ]
    for each in places.telling("processes", found, lambda each: -each.joined_at_ms):
        end = each.left_at_ms or life.as_of_ms
        unseen_end = has_unseen_end(each.left_at_ms, each.end_reason)
        y = places.top(places.lanes.process_row[each.process_id]) + LANE - 4
        since = f"from {w.when(each.joined_at_ms)}"
        since += "" if each.start_observed else " at the latest"
        until = "its end was not seen" if unseen_end else w.word(w.END, each.end_reason)
        say = (
            f"process {places.lanes.process(each.process_id)} with"
            f" {w.some(each.threads, 'thread')} {since} for {w.lasted(end - each.joined_at_ms)}:"
            f" {until} ({each.end_reason}), {w.some(each.restarts, 'restart')}"
        )
        x, width = places.x(each.joined_at_ms), places.width(each.joined_at_ms, end)
        line = el("rect", x=x, width=width, y=y, height=2, cls="process")
        start = not each.start_observed
        frayed = places.unseen(each.joined_at_ms, end, y, 2, start=start, end=unseen_end)
        drawn.append(mark(say, line, *frayed))
    return drawn
