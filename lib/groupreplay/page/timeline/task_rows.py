"""Tasks of a Kafka Streams application, below the lanes of its processes: a row a task, above who
runs it, below it who keeps or learns a replica.
"""

from __future__ import annotations

from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, name
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.life_of_tasks import TaskSpan
from groupreplay.page.timeline.held_partitions import has_unseen_end, holder, slim_rows
from groupreplay.page.timeline.lanes import natural
from groupreplay.page.timeline.places import SLIM, Places, mark

MOST_TASKS: Final = 48
_HEAD: Final = 26
_ROLES: Final = {"ACTIVE": "runs", "STANDBY": "keeps a replica of", "WARMUP": "learns"}


def tasks(life: GroupLife, places: Places) -> tuple[Safe, Safe] | None:
    """(labels, drawing): tasks that moved first, where there are too many."""
    rows: dict[str, list[TaskSpan]] = {}
    start = life.from_at_ms or 0
    for each in life.tasks:
        if each.released_at_ms is None or each.released_at_ms > start:
            rows.setdefault(each.task_id, []).append(each)
    if not rows:
        return None
    shown = sorted(rows, key=lambda task: (-len(rows[task]), natural(task)))[:MOST_TASKS]
    shown.sort(key=natural)
    height = _HEAD + SLIM * len(shown) + 6
    found = [
        (each, each.released_at_ms or life.as_of_ms, _HEAD + 3 + SLIM * row)
        for row, task in enumerate(shown)
        for each in sorted(
            rows[task], key=lambda each: (each.role != "ACTIVE", each.assigned_at_ms)
        )
    ]
    bars: list[Safe] = []
    texts: list[Safe] = []
    for each, end, y in places.telling(
        "holders of tasks", found, lambda one: one[0].assigned_at_ms - one[1]
    ):
        bars.append(_bar(each, end, y, places))
        if each.role == "ACTIVE":
            who = places.lanes.process(each.process_id)
            text = holder(who, each.assigned_at_ms, end, y + 8.5, places)
            texts += [text] if text is not None else []
    say = f"Who ran, kept and learned each of {w.some(len(shown), 'task')}."
    return _labels(shown, len(rows)), slim_rows(places, height, bars, texts, say)


def _bar(each: TaskSpan, end: int, y: float, places: Places) -> Safe:
    replica = each.role != "ACTIVE"
    who = places.lanes.process(each.process_id)
    unseen_end = has_unseen_end(each.released_at_ms, each.end_reason)
    until = (
        "its end was not seen"
        if unseen_end
        else f"to {w.when(each.released_at_ms)} ({each.end_reason})"
        if each.released_at_ms
        else "still"
    )
    since = f"from {w.when(each.assigned_at_ms)}"
    since += "" if each.start_observed else " at the latest"
    restored = (
        ""
        if each.restored_records is None
        else f", {w.some(each.restored_records, 'record')} restored"
    )
    say = f"{who} {w.word(_ROLES, each.role)} task {each.task_id} {since}, {until}{restored}"
    top, high = (y + 12, 4) if replica else (y, 11)
    bar = el(
        "rect",
        x=places.x(each.assigned_at_ms),
        width=places.width(each.assigned_at_ms, end),
        y=top,
        height=high,
        cls=f"hold p-consumer {each.role.lower()}" if each.role in _ROLES else "hold p-classic",
    )
    start = not each.start_observed
    frayed = places.unseen(each.assigned_at_ms, end, top, high, start=start, end=unseen_end)
    return mark(say, bar, *frayed)


def _labels(shown: list[str], of: int) -> Safe:
    head = "tasks" if of == len(shown) else f"{len(shown)} of {w.n(of)} tasks"
    rows = [el("li", el("span", name(task), cls="l1"), cls="slim") for task in shown]
    return el("ol", el("li", head, cls="lh"), *rows, cls="lanes")
