"""The section of the overview about Kafka Streams: what the summary says of applications. Only a
cluster that has any gets it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from groupreplay.page.drawing import charts
from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, name
from groupreplay.page.drawing.parts import (
    client,
    facts,
    group_link,
    hidden,
    move_kind,
    section,
    table,
    td,
    th,
)
from groupreplay.page.model.fleet import Fleet
from groupreplay.page.model.streams_apps import (
    IdleTask,
    Learner,
    MisplacedApp,
    Streams,
    StreamsLoop,
)

_TOLD: Final = ("RETURNED", "OPEN", "TASK_REMOVED", "UNOBSERVED")
"""Outcomes of hand-overs that are counted beside their kinds."""


def has_streams(fleet: Fleet) -> bool:
    return fleet.streams != Streams()


def streams(fleet: Fleet) -> Safe:
    found = fleet.streams
    return section(
        "streams",
        "Kafka Streams",
        "A task is a partition of a subtopology, with its state. A process that is to run one"
        " learns it first, where there is another that can run it meanwhile.",
        _facts(fleet),
        _loops_table(fleet) if found.loops else None,
        _misplaced_table(fleet),
        _learners_table(fleet),
        _idle_table(fleet),
    )


def _facts(fleet: Fleet) -> Safe:
    found = fleet.streams
    apps = sum(each.apps for each in found.apps)
    kinds = ", ".join(f"{w.n(each.apps)} {each.protocol}" for each in found.apps)
    processes = w.some(sum(each.processes for each in found.apps), "process", "processes")
    threads = w.some(sum(each.members for each in found.apps), "thread")
    misplaced = sum(each.tasks_misplaced for each in found.apps)
    where = w.some(sum(each.apps_misplaced for each in found.apps), "application")
    tasks = w.some(sum(each.tasks for each in found.apps), "task")
    longest = fleet.as_of_ms - found.learners[0].since_at_ms if found.learners else None
    return facts(
        (
            (
                "Applications",
                w.n(apps),
                f"{kinds}; {processes}, {threads}" if apps else "none has members now",
            ),
            (
                "Not where they should be",
                w.some(misplaced, "task"),
                f"of {tasks}, in {where}" if misplaced else f"of {tasks}, as far as it is known",
            ),
            (
                "Learn a task",
                w.some(found.learners_total, "member"),
                f"the longest for {w.lasted(longest)}" if found.learners else "none is learning",
            ),
            (
                "Left a process",
                w.some(sum(each.tasks for each in found.moves), "task"),
                _moves(found) or "none moved",
            ),
        ),
        cls="facts row",
    )


def _moves(found: Streams) -> str:
    """By kind, and beside it how many came back or have not ended."""
    kinds: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    for each in found.moves:
        if each.kind is not None:
            kinds[each.kind] += each.tasks
        if each.outcome in _TOLD:
            outcomes[each.outcome] += each.tasks
    known = [kind for kind in w.MOVE if kind in kinds]
    rest = sorted(kinds.keys() - set(known))
    counted = [f"{w.n(kinds[kind])} {w.word(w.MOVE, kind)}" for kind in (*known, *rest)]
    ends = [f"{w.n(outcomes[one])} {w.word(w.OUTCOME, one)}" for one in _TOLD if outcomes[one]]
    return ", ".join([*counted, *ends])


# ---------------------------------------------------------------- tables


def _loops_table(fleet: Fleet) -> Safe:
    rows = [_loop_row(fleet, each) for each in fleet.streams.loops]
    heads = [
        th("What"),
        th("Group", "g"),
        th("Times", "r"),
        th("For", "r", order="descending"),
        th("Team", "p2"),
    ]
    return table(f"Applications that rebalance and get nowhere ({w.n(len(rows))})", heads, rows, "")


def _loop_row(fleet: Fleet, each: StreamsLoop) -> Safe:
    lasted_ms = fleet.as_of_ms - each.since_at_ms
    times = w.NONE if each.repetitions is None else w.n(each.repetitions)
    return el(
        "tr",
        td(el("span", w.word(w.REASON, each.reason), title=each.reason), "t-stuck"),
        td(group_link(fleet, each.group_id), "g"),
        td(times, "r", each.repetitions or 0),
        td(w.lasted(lasted_ms), "r", lasted_ms),
        td(each.team or w.NONE, "p2"),
    )


def _misplaced_table(fleet: Fleet) -> Safe:
    found = fleet.streams
    most = max((each.tasks_misplaced for each in found.misplaced), default=1)
    return table(
        "Tasks that are not where they should be, by application",
        [
            th("Group", "g"),
            th("Tasks elsewhere", "w120", order="descending"),
            th(hidden("tasks elsewhere, as a number"), "r", sorts=False),
            th("Looked at again", "p1"),
            th("Team", "p2"),
        ],
        [_misplaced_row(fleet, each, most) for each in found.misplaced],
        "No task is known to be elsewhere than it should be.",
        sum(each.apps_misplaced for each in found.apps),
    )


def _misplaced_row(fleet: Fleet, each: MisplacedApp, most: int) -> Safe:
    due = w.when(each.next_at_ms)
    if each.next_at_ms is None and each.next_kind == "FOLLOWUP":
        due = "at once"
    return el(
        "tr",
        td(group_link(fleet, each.group_id), "g"),
        td(charts.bar(each.tasks_misplaced, most, "f-mixed"), "w120", each.tasks_misplaced),
        td(w.of(each.tasks_misplaced, each.tasks), "r", each.tasks_misplaced),
        td(due, "p1", each.next_at_ms or 0),
        td(each.team or w.NONE, "p2"),
    )


def _learners_table(fleet: Fleet) -> Safe:
    found = fleet.streams
    return table(
        f"Members that learn a task, the longest first ({w.n(found.learners_total)})",
        [
            th("Group", "g"),
            th("Task"),
            th("Member", "g p1"),
            th("Learns for", "r", order="descending"),
            th("Not ready at", "r p2"),
            th("Team", "p2"),
        ],
        [_learner_row(fleet, each) for each in found.learners],
        "Nobody is learning a task.",
        found.learners_total,
    )


def _learner_row(fleet: Fleet, each: Learner) -> Safe:
    lasted_ms = max(0, fleet.as_of_ms - each.since_at_ms)
    probes = w.NONE if each.probes is None else w.some(each.probes, "probe")
    return el(
        "tr",
        td(group_link(fleet, each.group_id), "g"),
        td(name(each.task_id)),
        td(client(each.client_id, each.client_host), "g p1"),
        td(w.lasted(lasted_ms), "r", lasted_ms),
        td(probes, "r p2", each.probes or 0),
        td(each.team or w.NONE, "p2"),
    )


def _idle_table(fleet: Fleet) -> Safe:
    found = fleet.streams
    most = max((each.idle_ms for each in found.idlest), default=1)
    return table(
        "Hand-overs of tasks, those longest without a commit first",
        [
            th("Group", "g"),
            th("Task"),
            th("How", "p1"),
            th("Without a commit", "w120 p1", order="descending"),
            th("For", "r", sorts=False),
            th("Outcome"),
            th("Team", "p2"),
        ],
        [_idle_row(fleet, each, most) for each in found.idlest],
        "No task that moved was seen to wait for a commit.",
    )


def _idle_row(fleet: Fleet, each: IdleTask, most: int) -> Safe:
    bounced = each.outcome == "RETURNED"
    return el(
        "tr",
        td(group_link(fleet, each.group_id), "g"),
        td(name(each.task_id)),
        td(move_kind(each.kind), "p1"),
        td(charts.bar(each.idle_ms, most, "f-ink"), "w120 p1", each.idle_ms),
        td(w.lasted(each.idle_ms), "r", each.idle_ms),
        td(el("span", w.word(w.OUTCOME, each.outcome), cls="t-stuck" if bounced else None)),
        td(each.team or w.NONE, "p2"),
    )
