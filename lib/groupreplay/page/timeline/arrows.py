"""Arrows from lane to lane: where a partition or a task went from one to another."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el
from groupreplay.page.model.life import GroupLife, HandOver
from groupreplay.page.model.life_of_tasks import TaskMove
from groupreplay.page.timeline.places import Places, mark


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
    for (giver, taker, ended, granted, outcome), found in places.telling(
        "hand-overs",
        list(together.items()),
        lambda each: (each[0][-1] != "FENCED", -len(each[1]), each[0][2] - each[0][3]),
    ):
        one, bad = found[0], outcome == "FENCED"
        say = (
            f"{w.some(len(found), 'partition')} from {places.lanes.client(giver)} to"
            f" {places.lanes.client(taker)}: asked at {w.when(one.requested_at_ms)}, let go after"
            f" {w.lasted(one.revoke_ms)} ({outcome}), granted {w.lasted(one.unowned_ms)} later,"
            f" first commit {w.lasted(one.resume_ms)} after that"
        )
        cls = hand_over_looks(one) + (" many" if len(found) > 2 else "")
        rows = places.lanes.row[giver], places.lanes.row[taker]
        arrow = _arrow(rows, ended, granted, cls, "arrow-bad" if bad else "arrow", places)
        drawn += [mark(say, *arrow, cls="mk ho")] if arrow else []
    return drawn


def hand_over_looks(each: HandOver) -> str:
    """The class of its arrow, "" where it has none: it was not granted."""
    if each.granted_at_ms is None or each.ended_at_ms is None or each.granted_to is None:
        return ""
    return _BAD if each.outcome == "FENCED" else "hand"


def task_moves(life: GroupLife, places: Places) -> list[Safe]:
    """Hand-overs of tasks between processes: warm as a line, cold dashed; red along its lane where
    a task bounced back to the process that had lost it.
    """
    drawn = []
    moves = [
        (each, giver, taker, each.granted_at_ms)
        for each in life.task_moves
        if move_looks(each)
        and (giver := places.lanes.process_row.get(each.from_process_id or "")) is not None
        and (taker := places.lanes.process_row.get(each.to_process_id or "")) is not None
        and each.granted_at_ms is not None
    ]
    for each, giver, taker, granted in places.telling(
        "moves of tasks",
        moves,
        lambda move: (move[0].outcome != "RETURNED", -(move[0].unowned_ms or 0)),
    ):
        looks = move_looks(each)
        released = each.released_at_ms or granted
        arrow = (
            _back(giver, released, granted, places)
            if giver == taker and looks == _BAD
            else _arrow((giver, taker), released, granted, looks, _HEADS[looks], places)
        )
        drawn += [mark(say_move(each, places), *arrow, cls="mk ho")] if arrow else []
    return drawn


_BAD: Final = "hand bad"
_HEADS: Final = {"hand": "arrow", "hand cold": "arrow-cold", _BAD: "arrow-bad"}


def move_looks(each: TaskMove) -> str:
    """The class of its arrow, "" where it has none: it was not granted, or went from thread to
    thread of one process.
    """
    if each.granted_at_ms is None:
        return ""
    if each.outcome == "RETURNED":
        return _BAD
    if each.from_process_id == each.to_process_id:
        return ""
    return "hand cold" if each.kind in ("COLD", "DORMANT") else "hand"


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


def _back(row: int, from_ms: int, to_ms: int, places: Places) -> tuple[Safe, Safe]:
    """Above what the lane shows."""
    x1, x2, y = places.x(from_ms), places.x(to_ms), places.top(row) + 6
    hit = el("line", x1=x1, y1=y, x2=x2, y2=y, cls="hitline")
    head = f"url(#{_HEADS[_BAD]})"
    return hit, el("line", x1=x1, y1=y, x2=x2, y2=y, cls=_BAD, marker_end=head)
