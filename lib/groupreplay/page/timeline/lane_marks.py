"""Marks in the lanes: what each member was doing, how it ended, what it waited for, and arrows
where a partition or a task went from one to another.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, percent, plain_name
from groupreplay.page.model.life import Absence, GroupLife, HandOver, Span, Stuck
from groupreplay.page.model.life_of_tasks import TaskMove
from groupreplay.page.timeline.axis import Label, rooms
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
            span = replace(before.span, to_at_ms=each.to_at_ms, is_final=each.is_final)
            found[place] = _Merged(span, each.member_epoch)
        else:
            last[each.member_id] = len(found)
            found.append(_Merged(each, each.member_epoch))
    return found


def _goes_on(one: Span, other: Span) -> bool:
    return (
        one.state == other.state == "STABLE"
        and one.to_at_ms == other.from_at_ms
        and one.partitions_assigned == other.partitions_assigned
        and one.member_protocol == other.member_protocol
        and LEFT_FOR_A_WHILE not in (one.member_epoch, other.member_epoch)
    )


def spans(life: GroupLife, places: Places) -> list[Safe]:
    slots = _slots(places)
    drawn, counts = [], defaultdict[int, list[tuple[int, int, str]]](list)
    for each in merged(life):
        span = each.span
        row = places.lanes.row.get(span.member_id)
        end = _end_of(span, life)
        if row is None or places.is_over(end):
            continue
        looks = _looks(span)
        slot, of = slots.get(span.member_id, (0, 1))
        high = max(2.0, _HEIGHTS[looks] / of)
        middle = places.middle(row) + (slot - (of - 1) / 2) * (18 / of if of > 1 else 0)
        bar = el(
            "rect",
            x=places.x(span.from_at_ms),
            width=places.width(span.from_at_ms, end),
            y=middle - high / 2,
            height=high,
            cls=f"sp {looks} p-{_protocol(span.member_protocol)}",
        )
        drawn.append(mark(_say(each, end, places), bar, _unseen_ends(span, end, middle, places)))
        if of == 1:
            held = span.partitions_assigned + span.partitions_pending
            counts[row].append((span.from_at_ms, held, looks))
    return [*drawn, *_held_numbers(counts, places)]


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
        + ("; its end was not seen" if span.to_at_ms is None and span.is_final else "")
    )


def _unseen_ends(span: Span, end: int, middle: float, places: Places) -> Safe | None:
    """A dotted line where a span begins before the log does, or ends in a hole."""
    cls = f"unseen-end p-{_protocol(span.member_protocol)}"
    if not span.start_observed:
        x = percent(max(0.0, places.axis(span.from_at_ms) - 1.2))
        return el("line", x1=x, x2=places.x(span.from_at_ms), y1=middle, y2=middle, cls=cls)
    if span.to_at_ms is None and span.is_final:
        x = percent(min(100.0, places.axis(end) + 1.2))
        return el("line", x1=places.x(end), x2=x, y1=middle, y2=middle, cls=cls)
    return None


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
    for each in life.stuck:
        if places.is_over(each.until_at_ms):
            continue
        end = each.until_at_ms or life.as_of_ms
        x, width = places.x(each.since_at_ms), places.width(each.since_at_ms, end)
        say = _say_stuck(each, places)
        if each.member_id is None:
            band = el("rect", x=x, width=width, y=places.first - 4, height=4, cls="f-stuck")
            drawn.append(mark(say, band))
            continue
        row = places.lanes.row.get(each.member_id)
        if row is None:
            continue
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
    for each in filter(is_static, life.absences):
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


def ends(life: GroupLife, places: Places) -> list[Safe]:
    """A cross where a member was fenced, or may have been."""
    drawn = []
    for each in life.members:
        row = places.lanes.row.get(each.member_id)
        ms = each.ended_at_ms
        if row is None or ms is None or places.is_over(ms) or each.end_reason in _QUIET_ENDS:
            continue
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


def hand_overs(life: GroupLife, places: Places) -> list[Safe]:
    """From where partitions were let go to where they were granted; what moved together as one."""
    together = defaultdict[tuple[str, str, int, int, str], list[HandOver]](list)
    for each in life.hand_overs:
        if each.granted_at_ms is None or each.ended_at_ms is None or each.granted_to is None:
            continue
        if {each.member_id, each.granted_to} <= places.lanes.row.keys():
            key = (each.member_id, each.granted_to, each.ended_at_ms, each.granted_at_ms)
            together[*key, each.outcome].append(each)
    drawn = []
    for (giver, taker, ended, granted, outcome), found in together.items():
        one, bad = found[0], outcome == "FENCED"
        say = (
            f"{w.some(len(found), 'partition')} from {places.lanes.client(giver)} to"
            f" {places.lanes.client(taker)}: asked at {w.at(one.requested_at_ms)}, let go after"
            f" {w.lasted(one.revoke_ms)} ({outcome}), granted {w.lasted(one.unowned_ms)} later,"
            f" first commit {w.lasted(one.resume_ms)} after that"
        )
        cls = "hand" + (" bad" if bad else "") + (" many" if len(found) > 2 else "")
        rows = places.lanes.row[giver], places.lanes.row[taker]
        arrow = _arrow(rows, ended, granted, cls, "arrow-bad" if bad else "arrow", places)
        drawn += [mark(say, *arrow, cls="mk ho")] if arrow else []
    return drawn


def task_moves(life: GroupLife, places: Places) -> list[Safe]:
    """Hand-overs of tasks between processes: warm as a line, cold dashed, bounced back red."""
    drawn = []
    for each in life.task_moves:
        giver = places.lanes.process_row.get(each.from_process_id or "")
        taker = places.lanes.process_row.get(each.to_process_id or "")
        if giver is None or taker is None or each.granted_at_ms is None:
            continue
        looks, head = "hand", "arrow"
        if each.outcome == "RETURNED":
            looks, head = "hand bad", "arrow-bad"
        elif each.kind in ("COLD", "DORMANT"):
            looks, head = "hand cold", "arrow-cold"
        released = each.released_at_ms or each.granted_at_ms
        arrow = _arrow((giver, taker), released, each.granted_at_ms, looks, head, places)
        drawn += [mark(say_move(each, places), *arrow, cls="mk ho")] if arrow else []
    return drawn


_WHY: Final = {"WARMED": ": it had learned the task before", "COLD": ": it had nothing of the task"}


def say_move(each: TaskMove, places: Places) -> str:
    left = (
        ""
        if each.gap_records is None
        else f", {w.some(each.gap_records, 'record')} left to restore"
    )
    how = w.word(w.MOVE, each.kind) + _WHY.get(each.kind or "", "")
    return (
        f"task {each.task_id} from {places.lanes.process(each.from_process_id)} to"
        f" {places.lanes.process(each.to_process_id)}, {how},"
        f" {w.word(w.OUTCOME, each.outcome)}, granted at {w.when(each.granted_at_ms)}, without an"
        f" owner {w.lasted(each.unowned_ms)}{left}"
    )


def _arrow(
    rows: tuple[int, int], from_ms: int, to_ms: int, cls: str, head: str, places: Places
) -> tuple[Safe, Safe] | None:
    """None within one lane."""
    if rows[0] == rows[1]:
        return None
    y1, y2 = places.middle(rows[0]), places.middle(rows[1])
    off = 9 if y2 > y1 else -9
    x1, x2 = places.x(from_ms), places.x(to_ms)
    return (
        el("line", x1=x1, y1=y1, x2=x2, y2=y2, cls="hitline"),
        el(
            "line",
            x1=x1,
            y1=y1 + off * 0.5,
            x2=x2,
            y2=y2 - off,
            cls=cls,
            marker_end=f"url(#{head})",
        ),
    )
