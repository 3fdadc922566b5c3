"""What a person reads of Kafka Streams applications at the end of a run. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Final

from groupreplay.page.model.streams_apps import (
    IdleTask,
    Learner,
    MisplacedApp,
    Streams,
    StreamsLoop,
)
from groupreplay.report.summary.words import count, lasted, printable, team, time, wrapped


def streams_lines(streams: Streams, as_of_ms: int | None) -> list[str]:
    """No lines where there are no applications.

    as_of_ms: as-of of the night, ms since the epoch; None where nothing was read.
    """
    if streams == Streams():
        return []
    return [
        _title(streams),
        *_misplaced_lines(streams),
        *_learner_lines(streams, as_of_ms),
        *_move_lines(streams),
        *map(_loop_line, streams.loops),
    ]


def _title(streams: Streams) -> str:
    apps = sum(each.apps for each in streams.apps)
    threads = sum(each.members for each in streams.apps)
    kinds = ", ".join(f"{each.apps:,} {each.protocol}" for each in streams.apps)
    title = f"STREAMS: {count(apps, 'application')} of Kafka Streams"
    if not apps:
        return title
    processes = count(sum(each.processes for each in streams.apps), "process", "processes")
    return f"{title} ({kinds}), {processes}, {count(threads, 'thread')}"


# ---------------------------------------------------------------- placement


def _misplaced_lines(streams: Streams) -> list[str]:
    tasks = sum(each.tasks_misplaced for each in streams.apps)
    if not tasks:
        return []
    apps = sum(each.apps_misplaced for each in streams.apps)
    known = sum(each.tasks for each in streams.apps)
    title = f"  {tasks:,} of {count(known, 'task')} not where they should be, in"
    return [f"{title} {count(apps, 'application')}:", *map(_misplaced_line, streams.misplaced)]


def _misplaced_line(app: MisplacedApp) -> str:
    due = ""
    if app.next_at_ms is not None:
        due = f", looked at again at {time(app.next_at_ms)}"
    elif app.next_kind == "FOLLOWUP":
        due = ", the next rebalance is due at once"
    return (
        f"    {printable(app.group_id, 40)}{team(app.team)}: {app.tasks_misplaced:,} of"
        f" {app.tasks:,}{due}"
    )


def _learner_lines(streams: Streams, as_of_ms: int | None) -> list[str]:
    if not streams.learners_total:
        return []
    verb = "learns a task" if streams.learners_total == 1 else "learn a task"
    return [
        f"  {count(streams.learners_total, 'member')} {verb}, the longest first:",
        *[_learner_line(each, as_of_ms) for each in streams.learners],
    ]


def _learner_line(learner: Learner, as_of_ms: int | None) -> str:
    who = " ".join(name for name in (learner.client_id, learner.client_host) if name) or "?"
    probes = "" if not learner.probes else f", not ready at {count(learner.probes, 'probe')}"
    since_ms = None if as_of_ms is None else max(0, as_of_ms - learner.since_at_ms)
    return (
        f"  {lasted(since_ms):>12}  {printable(learner.group_id, 28)}{team(learner.team)}:"
        f" {printable(learner.task_id, 20)} at {printable(who, 36)}{probes}"
    )


# ---------------------------------------------------------------- hand-overs


def _move_lines(streams: Streams) -> list[str]:
    tasks = sum(each.tasks for each in streams.moves)
    if not tasks:
        return []
    lines = [
        f"  {count(tasks, 'task')} left a process:",
        *wrapped("    ", _move_words(streams)),
    ]
    if streams.idlest:
        lines.append("  longest without a commit:")
    return lines + [_idle_line(each) for each in streams.idlest]


def _move_words(streams: Streams) -> list[str]:
    """By kind, and beside it how many came back or have not ended."""
    kinds: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for each in streams.moves:
        if each.kind is not None:
            kinds[each.kind] += each.tasks
        if each.outcome in _OUTCOME_WORDS:
            others[each.outcome] += each.tasks
    known = [name for name in _KIND_WORDS if name in kinds]
    rest = sorted(kinds.keys() - set(known))
    words = [f"{kinds[name]:,} {_KIND_WORDS.get(name, name)}" for name in (*known, *rest)]
    return words + [
        f"{others[name]:,} {_OUTCOME_WORDS[name]}" for name in _OUTCOME_WORDS if others[name]
    ]


_KIND_WORDS: Final = {
    "WARMED": "warm",
    "DORMANT": "with state on disk",
    "COLD": "cold",
    "IN_PROCESS": "within a process",
}
_OUTCOME_WORDS: Final = {
    "RETURNED": "bounced",
    "OPEN": "still open",
    "TASK_REMOVED": "of tasks that are gone",
    "UNOBSERVED": "lost from sight",
}


def _idle_line(task: IdleTask) -> str:
    how = "" if task.kind is None else f", {_KIND_WORDS.get(task.kind, task.kind)}"
    outcome = _OUTCOME_WORDS.get(task.outcome)
    return (
        f"  {lasted(task.idle_ms):>12}  {printable(task.group_id, 40)}{team(task.team)}:"
        f" {printable(task.task_id, 20)}{how}{f', {outcome}' if outcome else ''}"
    )


# ---------------------------------------------------------------- loops


def _loop_line(loop: StreamsLoop) -> str:
    times = "" if loop.repetitions is None else f" {loop.repetitions:,} times"
    return (
        f"  {loop.reason}{times}, {printable(loop.group_id, 40)}{team(loop.team)}, since"
        f" {time(loop.since_at_ms)}"
    )
