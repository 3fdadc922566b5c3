"""`task_assignments` and `task_handovers` of streams groups: who held which task in which role."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from tests.simulator.compare import Key, OneOf, Wanted
from tests.simulator.streams.history import (
    ACTIVE,
    Step,
    StreamsHistory,
    StreamsLife,
    Task,
    Thread,
)
from tests.simulator.tables import elapsed_ms
from tests.simulator.truth_log import Commit


@dataclass(eq=False, slots=True)
class Span:
    """One member holding one task in one role. opened, closed: places in the life's steps, closed
    None while it lasts. member: as it was when it began. last: as it was last."""

    member_id: str
    task: Task
    role: str
    opened: int
    member: Thread
    last: Thread
    closed: int | None = None


class Spans:
    """All spans of a life."""

    def __init__(self, life: StreamsLife) -> None:
        self.life = life
        self.all: list[Span] = []
        self.runs: dict[Task, list[Span]] = defaultdict(list)
        open_: dict[tuple[str, Task], Span] = {}
        for place, step in enumerate(life.steps):
            held = {
                (member_id, task): role
                for member_id, member in step.members.items()
                for task, role in member.held.items()
            }
            for key, span in list(open_.items()):
                if held.get(key) != span.role:
                    span.closed = place
                    del open_[key]
                else:
                    span.last = step.members[key[0]]
            for key, role in sorted(held.items()):
                if key not in open_:
                    member = step.members[key[0]]
                    span = open_[key] = Span(*key, role, place, member, member)
                    self.all.append(span)
                    if role == ACTIVE:
                        self.runs[key[1]].append(span)
        self._targets = [place for place, step in enumerate(life.steps) if "K20" in step.records]

    def dropped_at(self, task: Task, closed: int) -> int | None:
        """Place of the first target after a release in which nobody is to run the task."""
        steps = self.life.steps
        for place in self._targets[bisect_right(self._targets, closed) :]:
            if task not in steps[place].targets:
                return place
        return None

    def next_after(self, span: Span) -> Span | None:
        """Who ran the task next; None where nobody did, or a target left it out before."""
        assert span.closed is not None
        following = next((s for s in self.runs[span.task] if s.opened >= (span.closed or 0)), None)
        dropped = self.dropped_at(span.task, span.closed)
        if following is None or (dropped is not None and dropped <= following.opened):
            return None
        return following

    def is_left(self, span: Span, place: int) -> bool:
        """Whether nobody had got the task yet after a step, and a target may still give it."""
        if span.closed is None or span.closed > place:
            return False
        following, dropped = self.next_after(span), self.dropped_at(span.task, span.closed)
        got = following is not None and following.opened <= place
        return not got and (dropped is None or dropped > place)


@cache
def _spans(identity: int) -> Spans:
    return Spans(_LIVES[identity])


_LIVES: dict[int, StreamsLife] = {}


def spans_of(life: StreamsLife) -> Spans:
    """The spans of a life, made once."""
    _LIVES[id(life)] = life
    return _spans(id(life))


def left_tasks(life: StreamsLife, step: Step) -> set[Task]:
    """Tasks that a member gave up and nobody has yet, though they may be given again."""
    spans, place = spans_of(life), life.steps.index(step)
    return {
        task for task, runs in spans.runs.items() for span in runs if spans.is_left(span, place)
    }


def _end_reason(spans: Spans, span: Span) -> str:
    assert span.closed is not None
    step = spans.life.steps[span.closed]
    member = step.members.get(span.member_id)
    if member is None:
        return "LEFT_OR_FENCED" if step.heir_of(span.last) is None else "REPLACED"
    target, now = member.target, member.held.get(span.task)
    if span.role != ACTIVE:
        return "PROMOTED" if span.task in target[ACTIVE] or now == ACTIVE else "WITHDRAWN"
    replicas = target["STANDBY"] | target["WARMUP"]
    if span.task in replicas or now is not None:
        return "DEMOTED"
    siblings = [
        other
        for other_id, other in step.members.items()
        if other.process_id == member.process_id and other_id != span.member_id
    ]
    moved = any(span.task in other.target[ACTIVE] for other in siblings)
    return "MOVED_IN_PROCESS" if moved else "REVOKED"


@dataclass(frozen=True, slots=True)
class _Use:
    """When a task was committed around a grant."""

    first: Commit | None
    last_at: dict[str, int]

    @property
    def idle_ms(self) -> int | None:
        if self.first is None or not self.last_at:
            return None
        idle = max(self.first.at - at for at in self.last_at.values())
        return idle if idle >= 0 else None


def _use(history: StreamsHistory, spans: Spans, span: Span, granted: Span) -> _Use:
    """granted: the span that followed. Commits of the new owner, and before it got the task."""
    life = spans.life
    since = life.steps[granted.opened]
    until = life.steps[granted.closed].first_offset if granted.closed is not None else None
    topics = history.commits(life, span.task, since.subtopologies)
    after = [
        commit
        for commits in topics.values()
        for commit in commits
        if commit.offset > since.last_offset and (until is None or commit.offset < until)
    ]
    if life.end is not None:
        after = [commit for commit in after if commit.offset < life.end.first_offset]
    last = {}
    for topic, commits in topics.items():
        key = history.commit_key(life, topic, span.task)
        before = [commit for commit in commits if commit.offset < since.first_offset]
        if before and history.truth.commit_before(key, since.first_offset) is not None:
            last[topic] = before[-1].at
    return _Use(min(after, default=None), last)


def _is_final(spans: Spans, span: Span, granted: Span | None, use: _Use | None) -> bool:
    assert span.closed is not None
    if spans.life.end is not None:
        return True
    if granted is None:
        return spans.dropped_at(span.task, span.closed) is not None
    return granted.closed is not None or (use is not None and use.first is not None)


_OFFSETS: Final = ("first_sum", "first_sum_at", "last_sum", "last_sum_at")
_NOT_SHOWN: Final = dict.fromkeys(("owed_since_at", *_OFFSETS, "generations", "probes"))
"""Of a span: what only subscriptions and generations of classic groups show."""


def assignments(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        spans = spans_of(life)
        for span in spans.all:
            opened, task = life.steps[span.opened], span.task
            values: dict[str, Any] = {
                **history.place(life),
                "from_offset": opened.offsets,
                "member_id": span.member_id,
                "instance_id": span.member.instance_id,
                "client_id": span.member.client_id,
                "client_host": span.member.host,
                "process_id": span.member.process_id,
                "role": span.role,
                "role_confidence": "EXACT",
                "assigned_at": opened.at,
                "assigned_epoch": span.member.epoch,
                **_end(history, spans, span),
                **_NOT_SHOWN,
            }
            key = (life.group_id, span.member_id, *task, span.role, opened.first_offset)
            wanted[key] = Wanted(values, _offsets(spans, span))
    return wanted


def _end(history: StreamsHistory, spans: Spans, span: Span) -> dict[str, Any]:
    names = "next_member_id", "next_process_id", "next_assigned_at", "unowned_ms", "idle_ms"
    nobody: dict[str, Any] = dict.fromkeys(names)
    if span.closed is None:
        ends = dict.fromkeys(("to_offset", "released_at", "released_epoch"))
        return {**ends, "end_reason": "OPEN", "is_final": False, **nobody}
    closed = spans.life.steps[span.closed]
    member = closed.members.get(span.member_id)
    end: dict[str, Any] = {
        "to_offset": closed.offsets,
        "released_at": closed.at,
        "released_epoch": member.epoch if member is not None else closed.epoch,
        "end_reason": _end_reason(spans, span),
        "is_final": True,
        **nobody,
    }
    if span.role != ACTIVE:
        return end
    granted = spans.next_after(span)
    use = _use(history, spans, span, granted) if granted is not None else None
    end["is_final"] = _is_final(spans, span, granted, use)
    if granted is not None and use is not None:
        at = spans.life.steps[granted.opened].at
        end["next_member_id"] = granted.member_id
        end["next_process_id"] = granted.member.process_id
        end["next_assigned_at"] = at
        end["unowned_ms"] = elapsed_ms(closed.at, at)
        end["idle_ms"] = use.idle_ms
    return end


def _offsets(spans: Spans, span: Span) -> tuple[int, ...]:
    steps = spans.life.steps
    places = [span.opened] if span.closed is None else [span.opened, span.closed]
    return tuple(steps[place].first_offset for place in places)


# ---------------------------------------------------------------- hand-overs


_READINESS: Final = ("last_not_ready_at", "ready_at", "ready_sum")
_LEARNING: Final = ("learning_started_at", "learning_ms", "probes", *_READINESS)
_NOT_LEARNT: Final = dict.fromkeys((*_LEARNING, "gap_records", "gap_confidence"))
"""Of a hand-over: what only classic groups show."""

_OF_GRANTED: Final = (
    *("to_member_id", "to_process_id", "hand_over_kind", "granted_at", "grant_ms"),
    *("unowned_ms", "first_commit_at", "resume_ms", "idle_ms"),
)


def hand_overs(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        spans = spans_of(life)
        for span in spans.all:
            if span.role == ACTIVE and span.closed is not None:
                closed = life.steps[span.closed]
                key = (life.group_id, *span.task, span.member_id, closed.first_offset)
                values = _hand_over(history, spans, span)
                wanted[key] = Wanted(values, _offsets(spans, span))
    return wanted


def _hand_over(history: StreamsHistory, spans: Spans, span: Span) -> dict[str, Any]:
    assert span.closed is not None
    life = spans.life
    closed = life.steps[span.closed]
    is_gone = span.member_id not in closed.members
    told = closed.subtopologies.get(span.task.subtopology)
    has_state = told is not None and bool(told.changelogs)
    values: dict[str, Any] = {
        **history.place(life),
        "from_offset": closed.offsets,
        "protocol": "streams",
        "from_process_id": span.member.process_id,
        "cause": "OWNER_GONE" if is_gone else "REBALANCED" if has_state else "STATELESS",
        "released_at": closed.at,
        **_asked(spans, span, closed),
        **_NOT_LEARNT,
    }
    granted = spans.next_after(span)
    if granted is None:
        dropped = spans.dropped_at(span.task, span.closed) is not None or life.end is not None
        outcome = "TASK_REMOVED" if dropped else "OPEN"
        nobody: dict[str, Any] = dict.fromkeys(_OF_GRANTED)
        ended = {"outcome": outcome, "is_final": dropped, "to_offset": _end_of(spans, span, None)}
        return {**values, **nobody, **ended}
    use = _use(history, spans, span, granted)
    at = life.steps[granted.opened].at
    first_at = use.first.at if use.first is not None else None
    return {
        **values,
        "to_member_id": granted.member_id,
        "to_process_id": granted.member.process_id,
        "granted_at": at,
        "grant_ms": elapsed_ms(closed.at, at),
        "unowned_ms": elapsed_ms(closed.at, at),
        "first_commit_at": first_at,
        "resume_ms": elapsed_ms(at, first_at),
        "idle_ms": use.idle_ms,
        "is_final": _is_final(spans, span, granted, use),
        "to_offset": use.first.offset if use.first else _end_of(spans, span, granted),
        **_outcome(spans, span, granted, is_gone),
    }


def _end_of(spans: Spans, span: Span, granted: Span | None) -> Any:
    """Where a hand-over ends that no commit ends: with the span that was granted, by a target that
    leaves the task out, or with the life; None while it lasts."""
    assert span.closed is not None
    life = spans.life
    place = granted.closed if granted is not None else spans.dropped_at(span.task, span.closed)
    step = life.steps[place] if place is not None else life.end
    return step.offsets if step is not None else None


def _outcome(spans: Spans, span: Span, granted: Span, is_gone: bool) -> dict[str, Any]:
    if granted.member.process_id == span.member.process_id:
        returned = granted.member_id == span.member_id and not is_gone
        return {
            "hand_over_kind": "IN_PROCESS",
            "outcome": "RETURNED" if returned else "TRANSFERRED",
        }
    at_once = is_gone and granted.opened == span.closed
    return {
        "hand_over_kind": "WARMED" if _was_warm(spans, granted) else "COLD",
        "outcome": "OWNER_GONE" if at_once else "TRANSFERRED",
    }


def _was_warm(spans: Spans, granted: Span) -> bool:
    """Whether a thread of the new process kept a replica when a target gave it the task: it gives
    the replica up before it runs the task (up to 4.3)."""
    steps, task = spans.life.steps, granted.task
    process = granted.member.process_id
    place = granted.opened
    while place >= 0 and _is_to_run(steps[place], task, process):
        place -= 1
    before = steps[place].members.values() if place >= 0 else ()
    held = (each.held.get(task, ACTIVE) for each in before if each.process_id == process)
    return any(role != ACTIVE for role in held)


def _is_to_run(step: Step, task: Task, process: str) -> bool:
    return any(
        task in each.target[ACTIVE] for each in step.members.values() if each.process_id == process
    )


def _asked(spans: Spans, span: Span, closed: Step) -> dict[str, Any]:
    """When the target took the task, and when its owner was asked for it."""
    assert span.closed is not None
    steps = spans.life.steps
    first = span.closed
    while first > span.opened and span.task in _pending(steps[first - 1], span):
        first -= 1
    if first == span.closed:
        taken = _taken_at(spans, span, span.closed)
        names = ("requested_at", "notify_ms", "revoke_ms")
        return {**dict.fromkeys(names), "target_at": OneOf((None, taken))}
    asked, target_at = steps[first], _taken_at(spans, span, first)
    return {
        "target_at": target_at,
        "requested_at": asked.at,
        "notify_ms": elapsed_ms(target_at, asked.at),
        "revoke_ms": elapsed_ms(asked.at, closed.at),
    }


def _pending(step: Step, span: Span) -> frozenset[Task]:
    member = step.members.get(span.member_id)
    return member.pending[ACTIVE] if member is not None else frozenset()


def _taken_at(spans: Spans, span: Span, asked: int) -> int | None:
    """When a target last took the task from its owner, up to a step."""
    steps = spans.life.steps
    for place in range(asked, span.opened, -1):
        was, now = (steps[at].members.get(span.member_id) for at in (place - 1, place))
        had = was is not None and span.task in was.target[ACTIVE]
        if had and (now is None or span.task not in now.target[ACTIVE]):
            return steps[place].at
    return None
