"""Processes, subtopologies and conversions of Kafka Streams applications, against what truly
happened: every check gives its problems, as sentences; none where all is well.
"""

from __future__ import annotations

import re
from itertools import pairwise

from groupreplay.replay.facts import Conversion, GroupSnapshot
from groupreplay.replay.streams_facts import StreamsProcess, StreamsSubtopology
from tests.truth.streams_lives import memberships, process_lives
from tests.truth.streams_tables import NOISE_MS, StreamsTables, is_near
from tests.truth.streams_truth import StreamsTruth
from tests.truth.truth import Sample

_SUBTOPOLOGY = re.compile(
    r"\{id=(?P<id>\w+), changelogs=\[(?P<changelogs>.*?)\], sources=\[(?P<sources>.*?)\],"
    r" repartition_sources=\[(?P<repartitions>.*?)\]\}"
)

Shape = dict[str, tuple[int, bool | None]]
"""Subtopology -> (number of tasks, whether it has state; None: nothing shows it)."""


def processes(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Every process, from when to when it was there, its threads, members and restarts; none that
    never was.
    """
    problems = []
    for group in truth.groups:
        left = list(tables.of(group, StreamsProcess))
        for life in process_lives(truth, group):
            row = next(
                (
                    row
                    for row in left
                    if row.process_id == life.process and is_near(row.joined_at, life.joined_at)
                ),
                None,
            )
            if row is None:
                problems.append(f"{group}: no process {life.process} from {life.joined_at} on")
                continue
            left.remove(row)
            got = (row.threads, row.members, row.restarts)
            wanted = (life.threads, len(life.members), life.restarts)
            if got != wanted:
                problems.append(
                    f"{group}, process {life.process} from {life.joined_at} on: (threads, members,"
                    f" restarts) {got}, in truth {wanted}"
                )
            if not (row.left_at is life.left_at is None or is_near(row.left_at, life.left_at)):
                problems.append(
                    f"{group}: process {life.process} left at {row.left_at}, in truth at"
                    f" {life.left_at}"
                )
        problems += [f"{group}: process {r.process_id}, {r.joined_at}, never was" for r in left]
    return problems


def subtopologies(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """In each life of a group: subtopologies, how many tasks each has, and which have state."""
    problems = []
    for group in truth.groups:
        rows = tables.of(group, StreamsSubtopology)
        lives = [
            {
                row.subtopology: (row.tasks, row.is_stateful)
                for row in rows
                if row.incarnation == incarnation
            }
            for incarnation in sorted({row.incarnation for row in rows})
        ]
        wanted = [shape for shape in _shapes(truth, group) if shape]
        if lives != wanted:
            problems.append(f"{group}: subtopologies {lives}, in truth {wanted}")
        answered = _topics(truth, group)
        problems += [
            f"{group}: subtopology {row.subtopology} reads {row.source_topics} and keeps"
            f" {row.changelog_topics}, the broker answered {answered.get(row.subtopology)}"
            for row in rows
            if row.changelog_topics is not None  # of classic groups nobody names them
            and (set(row.source_topics), set(row.changelog_topics)) != answered.get(row.subtopology)
        ]
    return problems


def _shapes(truth: StreamsTruth, group: str) -> list[Shape]:
    """Of each life, by its leaders' words or the broker's answers."""
    ends = [0, *sorted(truth.lives_end(group)), truth.ended]
    return [
        _shape_by_leaders(truth, group, since, until)
        or _shape_by_answers(truth, group, since, until)
        for since, until in pairwise(ends)
    ]


def _shape_by_leaders(truth: StreamsTruth, group: str, since: int, until: int) -> Shape:
    leds = [led for led in truth.led[group] if since < led.decided_at <= until]
    if not leds:
        return {}
    said = leds[-1].said
    shown = {
        task
        for led in leds
        for task in {task for told in led.said.told.values() for task in told.sums}
        | {task for task, _ in led.copies}
    }
    shape: Shape = {}
    for task in said.stateful | said.stateless:
        subtopology = task.split("_")[0]
        tasks, is_stateful = shape.get(subtopology, (0, None))
        has_state = task in said.stateful and task in shown
        shape[subtopology] = (tasks + 1, is_stateful or has_state or None)
    return shape


def _shape_by_answers(truth: StreamsTruth, group: str, since: int, until: int) -> Shape:
    shape: Shape = {}
    samples = [s for s in _streams_samples(truth, group) if since < s["answered_at"] <= until]
    for sample in samples:
        for text in sample["subtopologies"]:
            told = _SUBTOPOLOGY.match(text)
            assert told is not None, text
            tasks = {
                task
                for each in samples
                for member in each["members"]
                for task in member["active"]
                if task.startswith(f"{told['id']}_")
            }
            shape[told["id"]] = (len(tasks), bool(told["changelogs"]))
    return shape


def _topics(truth: StreamsTruth, group: str) -> dict[str, tuple[set[str], set[str]]]:
    """Subtopology -> (the topics that it reads, its changelogs)."""
    found = {}
    for sample in _streams_samples(truth, group):
        for told in map(_SUBTOPOLOGY.match, sample["subtopologies"]):
            assert told is not None
            reads = _listed(told["sources"]) | _listed(told["repartitions"])
            found[told["id"]] = (reads, _listed(told["changelogs"]))
    return found


def _listed(text: str) -> set[str]:
    return set(text.split(", ")) - {""}


def _streams_samples(truth: StreamsTruth, group: str) -> list[Sample]:
    return [
        s for s in truth.samples[group] if s.get("type") == "Streams" and s.get("subtopologies")
    ]


def conversions(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Every conversion, its direction, and that it came between the script's wish and the first
    epoch, or generation, of the new kind; none that never was.
    """
    problems = []
    for group in truth.groups:
        rows = sorted(tables.of(group, Conversion), key=lambda row: row.converted_at)
        begun = sorted(
            [said.at for said in truth.broker.epochs[group]]
            + [led.decided_at for led in truth.led[group]]
        )
        wanted = [
            (
                "TO_STREAMS" if event["to"] == "streams" else "FROM_STREAMS",
                "OFFLINE",
                next(at for at in begun if at > event["at"]),
                event["at"],
            )
            for event in truth.timeline
            if event["action"] == "converts" and event["scenario"] == group
        ]
        if [(row.direction, row.mode) for row in rows] != [each[:2] for each in wanted]:
            problems.append(f"{group}: conversions {rows}, in truth {wanted}")
            continue
        problems += [
            f"{group}: converted at {row.converted_at}, in truth from {since} to {until}"
            for row, (_, _, until, since) in zip(rows, wanted, strict=True)
            if not since <= row.converted_at <= until + NOISE_MS
        ]
    return problems


def progress(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """`migration_progress`: Kafka Streams takes no part in it, and is counted apart, by the
    protocol that its applications were started with last, and by the members that are left.
    """
    problems = []
    for group in truth.groups:
        is_streams = max(
            start
            for client, starts in truth.starts.items()
            if truth.group_of[client] == group
            for start in starts
        )[1]
        protocol = "streams" if is_streams else "classic"
        wanted = ("NOT_APPLICABLE", protocol, protocol, len(memberships(truth, group)[-1][1]))
        rows = tables.of(group, GroupSnapshot)
        got = [(r.phase, r.protocol, r.streams_protocol, r.members_total) for r in rows]
        if got != [wanted]:
            problems.append(
                f"{group}: (phase, protocol, of Streams, members) {got}, in truth {wanted}"
            )
    return problems
