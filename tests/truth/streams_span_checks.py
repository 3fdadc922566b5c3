"""Who held which task in which role, against what threads were given, what leaders decided and what
the broker said: every check gives its problems, as sentences; none where all is well.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from groupreplay.replay.streams_facts import HeldTask, StreamsSubtopology, TaskHandOver
from tests.truth.streams_checks import CLASSIC, generation_row
from tests.truth.streams_logs import NONE, MemberState
from tests.truth.streams_tables import NOISE_MS, StreamsTables, is_near, task_of
from tests.truth.streams_truth import Led, StreamsTruth
from tests.truth.truth import Sample

SHORT_MS = 80
"""A state that lasts less is not asked for: its record may come later than the next line."""

Roles = dict[str, frozenset[str]]

GONE = {"UNOBSERVED", "LEFT_OR_FENCED", "REPLACED", "GROUP_REMOVED", "TASK_REMOVED", "OPEN"}
"""Ends of replicas that say nothing of whether the task was run there next."""


def given_to_threads(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Classic groups: a thread has the tasks that it logged to have been given."""
    problems = []
    for group, member, given, led in truth.given_by_leaders():
        kept = given.standby - {task for task, holder in led.held_open if holder == member}
        has = tables.held(group, member, given.at)
        if (has["ACTIVE"], has["STANDBY"] | has["WARMUP"]) != (given.active, kept):
            problems.append(
                f"{group}, {given.thread} at {given.at}: {_shown(has)}, was given"
                f" {sorted(given.active)} and {sorted(kept)}"
            )
    return problems


def decided_by_leaders(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Classic groups: from a generation on, and until the next one, every member has what the
    leader gave it, in the role that it gave it for. Of a group that is empty nobody has anything.
    """
    problems = []
    for group in truth.groups:
        for at in truth.broker.empties[group]:
            if holders := tables.holders(group, at + NOISE_MS):
                problems.append(f"{group} was empty at {at}: {sorted(holders)} hold tasks")
        for led, moments in _generation_spans(truth, tables, group):
            for at in moments:
                for member in led.members | tables.holders(group, at):
                    has = tables.held(group, member, at)
                    wanted = _decided(led, member)
                    if has != wanted:
                        problems.append(
                            f"{group}, generation {led.number}, {member} at {at}: {_shown(has)},"
                            f" the leader gave {_shown(wanted)}"
                        )
    return problems


def _generation_spans(
    truth: StreamsTruth, tables: StreamsTables, group: str
) -> Iterator[tuple[Led, list[int]]]:
    """(generation, its first moment, and its last before the group gathers again). The last one is
    left out where a process came back meanwhile: a static member goes on under another id.
    """
    rows = tables.rebalances(group, CLASSIC)
    starts = [
        at
        for client, begun in truth.starts.items()
        if truth.group_of[client] == group
        for at, _ in begun
    ]
    for led, following in zip_longest(truth.led[group], truth.led[group][1:]):
        row = generation_row(rows, led)
        if row is None or row.decided_at is None:
            continue
        moments = [row.decided_at]
        if following is not None:
            before = following.joined_at - NOISE_MS
            came_back = any(led.decided_at < at < following.decided_at for at in starts)
            if not came_back and before > row.decided_at:
                moments.append(before)
        yield led, moments


def _decided(led: Led, member: str) -> Roles:
    if member not in led.members:
        return {"ACTIVE": NONE, "STANDBY": NONE, "WARMUP": NONE}
    keeps = led.keeps(member)
    return {
        "ACTIVE": led.runs(member),
        "STANDBY": frozenset(task for task, role in keeps.items() if role == "STANDBY"),
        "WARMUP": frozenset(task for task, role in keeps.items() if role == "WARMUP"),
    }


def said_by_the_broker(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Streams groups: every member has the tasks that the broker's debug log says it has."""
    problems = []
    for (group, member), states in truth.broker.states.items():
        ends = [*(state.at for state in states[1:]), tables.as_of_ms]
        for state, until in zip(states, ends, strict=True):
            if until - state.at < SHORT_MS:
                continue
            at = (state.at + min(until, state.at + 2 * NOISE_MS)) // 2
            has, wanted = tables.held(group, member, at), _said(state)
            if has != wanted:
                problems.append(
                    f"{group}, {member} at {at}: {_shown(has)}, the broker said {_shown(wanted)}"
                )
    return problems


def _said(state: MemberState) -> Roles:
    return {
        "ACTIVE": state.runs,
        "STANDBY": state.keeps,
        "WARMUP": state.warmup | state.asked_warmup,
    }


def sampled(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Every member has what the broker answered whenever it was asked about the group. Of streams
    groups it leaves out what a member is asked for.
    """
    problems = []
    for group, at, sample in truth.probes(NOISE_MS):
        if group not in truth.groups or "members" not in sample:
            continue
        if sample["type"] == "Streams":
            wanted = {m["member_id"]: _answered(m) for m in sample["members"]}
        elif sample["type"] == "Classic" and sample["state"] == "Stable":
            wanted = _run_by_classic(tables, group, sample)
        else:
            continue
        for member in sorted(wanted.keys() | tables.holders(group, at)):
            has = tables.held(group, member, at)
            if sample["type"] == "Classic":  # of replicas the broker knows nothing
                has = {"ACTIVE": has["ACTIVE"]}
            else:
                has["ACTIVE"] -= _asked_for(tables, group, member, at)
            if has != wanted.get(member, dict.fromkeys(has, NONE)):
                problems.append(
                    f"{group}, {member} at {at}: {_shown(has)}, the broker answered"
                    f" {_shown(wanted.get(member, {}))}"
                )
    return problems


def _answered(member: Sample) -> Roles:
    return {role.upper(): frozenset(member[role]) for role in ("active", "standby", "warmup")}


def _asked_for(tables: StreamsTables, group: str, member: str, at: int) -> frozenset[str]:
    return frozenset(
        task_of(row)
        for row in tables.of(group, TaskHandOver)
        if row.from_member_id == member
        and row.requested_at is not None
        and row.requested_at <= at
        and (row.released_at is None or row.released_at > at)
    )


def _run_by_classic(tables: StreamsTables, group: str, sample: Sample) -> dict[str, Roles]:
    """The tasks whose input partitions a member of a classic group is assigned."""
    subtopology = {
        topic: each.subtopology
        for each in tables.of(group, StreamsSubtopology)
        for topic in each.source_topics
    }
    found = {}
    for member in sample["members"]:
        read = (text.rpartition("-") for text in member["assigned"])
        tasks = frozenset(f"{subtopology.get(topic)}_{number}" for topic, _, number in read)
        found[member["member_id"]] = {"ACTIVE": tasks}
    return found


def edges(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Spans begin and end when leaders or the broker said something, and at no other time."""
    problems = []
    for group in truth.groups:
        at_any_time = [
            *(led.decided_at for led in truth.led[group]),
            *truth.broker.empties[group],
            *truth.lives_end(group),
            *(
                joined.at  # of a static member that is back
                for client, log in truth.logs.items()
                if truth.group_of[client] == group
                for joins in log.joins.values()
                for joined in joins
            ),
        ]
        for span in tables.of(group, HeldTask):
            states = truth.broker.states.get((group, span.member_id))
            told = at_any_time if states is None else [state.at for state in states]
            problems += [
                f"{group}, {span.member_id}: {span.role} {task_of(span)} changes at {at}"
                for at in (span.assigned_at, span.released_at)
                if at is not None and not any(is_near(at, each, 2 * NOISE_MS) for each in told)
            ]
    return problems


def ends_of_replicas(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Replicas end PROMOTED where the task was run by their member next, and only there; and each
    span is of its member's process.
    """
    problems = []
    for group in truth.groups:
        for span in tables.of(group, HeldTask):
            process = truth.process_of.get(span.member_id)
            if span.process_id != process:
                problems.append(f"{group}, {span.member_id} is of {process}: {span.process_id}")
            if span.role == "ACTIVE" or span.end_reason in GONE or process is None:
                continue
            is_run = _is_run_next(truth, group, span, process)
            if (span.end_reason in ("PROMOTED", "MOVED_IN_PROCESS")) != is_run:
                problems.append(
                    f"{group}, {span.member_id}: {span.role} {task_of(span)} ends"
                    f" {span.end_reason}, run there next: {is_run}"
                )
    return problems


def _is_run_next(truth: StreamsTruth, group: str, span: HeldTask, process: str) -> bool:
    """Whether the process (of a streams group: the member) runs what it kept a replica of."""
    ended_at = span.released_at
    assert ended_at is not None
    states = truth.broker.states.get((group, span.member_id))
    if states is not None:
        for state in states:
            if state.at >= ended_at - NOISE_MS // 4:
                if task_of(span) in state.active:
                    return True
                if state.state in ("STABLE", "GONE"):
                    return False
        return False
    led = min(truth.led[group], key=lambda each: abs(each.decided_at - ended_at))
    return led.runner(task_of(span)) == process


def _shown(roles: Roles) -> dict[str, list[str]]:
    return {role: sorted(tasks) for role, tasks in roles.items() if tasks}
