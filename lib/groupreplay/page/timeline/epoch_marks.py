"""Marks that are of the whole group: epochs with their causes, phases of classic rebalances, holes
of the log, conversions, and lives of the group id.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el
from groupreplay.page.model.life import Epoch, GroupLife, Rebalance
from groupreplay.page.model.life_of_tasks import StreamsEpoch
from groupreplay.page.model.rows import LifeKey
from groupreplay.page.timeline.axis import Label, rooms
from groupreplay.page.timeline.places import TICKS_END, Places, mark

_LABELS: Final = 30
"""Where the first row of labels stands, in px."""

_BAR: Final = 64
_TELLING: Final = ("UPGRADE", "DOWNGRADE", "TOPIC_METADATA", "SUBSCRIPTION")
"""Causes that are labelled before others."""


def shown_epochs(life: GroupLife) -> list[Epoch]:
    """Those that began in the time that is shown."""
    start = life.from_at_ms
    return [
        each
        for each in life.epochs
        if each.start_observed and (start is None or each.started_at_ms > start)
    ]


def never_settled(each: Epoch) -> bool:
    is_settled = each.outcome == "CONVERGED" and each.converged_at_ms is not None
    return not is_settled and each.outcome != "OPEN"


def epochs(life: GroupLife, places: Places) -> tuple[list[Safe], list[Safe]]:
    """(a line a rebalance with a bar until it settled, their labels, which are drawn last)."""
    shown = places.telling(
        "epochs", shown_epochs(life), lambda each: (_rank(each), -(each.converge_ms or 0))
    )
    streams = {(each.life, each.epoch): each for each in life.streams_epochs}
    of_streams = [streams.get((each.life, each.epoch)) for each in shown]
    words = [
        w.word(w.SHORT_CAUSE, of.cause if of else each.cause).lower()
        for each, of in zip(shown, of_streams, strict=True)
    ]
    labels = [
        Label(
            places.axis(each.started_at_ms),
            (_rank(each), -(each.converge_ms or 0), each.started_at_ms),
            13 + 6.2 * len(f"{each.epoch} {word}"),
        )
        for each, word in zip(shown, words, strict=True)
    ]
    ends = _ends_of_lives(life)
    drawn, texts = [], []
    for each, of, word, room in zip(shown, of_streams, words, rooms(labels, 6, 2), strict=True):
        end = each.converged_at_ms or each.superseded_at_ms or ends(each.started_at_ms)
        never = " never" if never_settled(each) else ""
        x = places.x(each.started_at_ms)
        top = 56 if room is None else _LABELS + 13 * room.row
        drawn.append(
            mark(
                _say(each, end, places) + (_say_tasks(of) if of else ""),
                el("line", x1=x, x2=x, y1=top, y2=places.lanes_end, cls="epoch" + never),
                el(
                    "rect",
                    x=x,
                    width=places.width(each.started_at_ms, end, 0.06),
                    y=_BAR,
                    height=8,
                    cls="settle" + never,
                ),
                cls="mk ep",
            )
        )
        if room is not None:
            number = el("tspan", each.epoch, cls="num")
            y = _LABELS + 11 + 13 * room.row
            texts.append(el("text", number, " ", word, x=x, dx=3, y=y, cls=f"elab v{room.level}"))
    return drawn, texts


def _say_tasks(each: StreamsEpoch) -> str:
    """What a rebalance of Kafka Streams did with tasks."""
    counts = (
        ("granted", each.tasks_granted),
        ("taken", each.tasks_revoked),
        ("learned ahead", each.warmup_copies),
    )
    said = "".join(f", {w.some(tasks, 'task')} {what}" for what, tasks in counts if tasks)
    if each.tasks_misplaced:
        said += (
            f"; {w.n(each.tasks_misplaced)} of {w.some(each.tasks, 'task')} are not where they"
            " should be"
        )
    return said


def _rank(each: Epoch) -> int:
    if each.outcome not in ("CONVERGED", "OPEN"):
        return 0
    return 1 if each.cause in _TELLING else 2


def _say(each: Epoch, end: int, places: Places) -> str:
    kind = "generation" if each.protocol == "classic" else "epoch"
    parts = [f"{kind} {each.epoch} at {w.when(each.started_at_ms)}: {w.word(w.CAUSE, each.cause)}"]
    if each.cause_member_id:
        parts[0] += f" ({places.lanes.client(each.cause_member_id)})"
    if each.cause_detail:
        parts.append(each.cause_detail)
    if each.target_at_ms is not None and each.target_at_ms > each.started_at_ms:
        parts.append(f"its target came after {w.lasted(each.target_at_ms - each.started_at_ms)}")
    if each.converge_ms is not None:
        parts.append(f"settled after {w.lasted(each.converge_ms)}")
    elif each.outcome != "CONVERGED":
        took = w.lasted(end - each.started_at_ms)
        parts.append(f"{w.word(w.OUTCOME, each.outcome)} ({each.outcome}) after {took}")
    if each.partitions_moved:
        parts.append(f"{w.some(each.partitions_moved, 'partition')} moved")
    return ", ".join(parts)


def phases(life: GroupLife, places: Places) -> list[Safe]:
    """Join and sync phases of classic groups: hollow while members join, dark while they wait for
    what the leader assigned.
    """
    drawn = []
    found = [each for each in life.rebalances if not places.is_over(each.started_at_ms)]
    ends = _ends_of_lives(life)
    for each in places.telling(_PHASES, found, lambda each: _phases_ms(each, life)):
        joined, synced = each.joined_at_ms, each.synced_at_ms
        end = joined or synced or ends(each.started_at_ms)
        say = (
            f"rebalance after generation {each.generation} at {w.when(each.started_at_ms)}:"
            f" {w.word(w.CAUSE, each.cause)}, join phase {w.lasted(end - each.started_at_ms)}"
            + (f", sync phase {w.lasted(synced - joined)}" if joined and synced else "")
            + (
                f", {w.some(each.members_joined, 'member')} joined"
                if each.members_joined is not None
                else ""
            )
            + (f", {w.some(each.missing, 'member')} did not join in time" if each.missing else "")
            + ("" if each.outcome == "COMPLETED" else f", {each.outcome.lower()}")
            + (f"; in the words of its broker: {each.reason}" if each.reason else "")
        )
        join_bar = el(
            "rect",
            x=places.x(each.started_at_ms),
            width=places.width(each.started_at_ms, end),
            y=_BAR + 10,
            height=5,
            cls="joining",
        )
        sync_bar = (
            el(
                "rect",
                x=places.x(joined),
                width=places.width(joined, synced),
                y=_BAR + 10,
                height=5,
                cls="syncing",
            )
            if joined and synced
            else None
        )
        drawn.append(mark(say, join_bar, sync_bar))
    return drawn or _phases_by_records(life, places)


_PHASES: Final = "join and sync phases"


def _phases_ms(each: Rebalance, life: GroupLife) -> tuple[bool, int]:
    """Those that did not end well first, then the longest."""
    end = each.synced_at_ms or each.joined_at_ms or life.as_of_ms
    return each.outcome == "COMPLETED", each.started_at_ms - end


def _phases_by_records(life: GroupLife, places: Places) -> list[Safe]:
    """Without logs of brokers: the sync phases that records of generations show."""
    found = [
        (each, each.joined_at_ms) for each in shown_epochs(life) if each.joined_at_ms is not None
    ]
    return [
        mark(
            f"generation {each.epoch}: sync phase {w.lasted(each.started_at_ms - joined_ms)}",
            el(
                "rect",
                x=places.x(joined_ms),
                width=places.width(joined_ms, each.started_at_ms),
                y=_BAR + 10,
                height=5,
                cls="syncing",
            ),
        )
        for each, joined_ms in places.telling(
            _PHASES, found, lambda one: one[1] - one[0].started_at_ms
        )
    ]


def holes(life: GroupLife, places: Places) -> list[Safe]:
    """Where records are missing: an epoch in which a hole lies, until the next one begins."""
    drawn = []
    found = [
        (each, each.superseded_at_ms or life.as_of_ms)
        for each in life.epochs
        if each.outcome == "UNOBSERVED" and not places.is_over(each.superseded_at_ms)
    ]
    for each, end in places.telling("holes", found, lambda hole: hole[0].started_at_ms - hole[1]):
        say = (
            f"not seen: records are missing between {w.when(each.started_at_ms)} and {w.when(end)},"
            " in which more may have happened"
        )
        drawn.append(
            mark(
                say,
                el(
                    "rect",
                    x=places.x(each.started_at_ms),
                    width=places.width(each.started_at_ms, end),
                    y=TICKS_END,
                    height=places.lanes_end - TICKS_END,
                    cls="hole",
                ),
            )
        )
    return drawn


def conversions(life: GroupLife, places: Places) -> list[Safe]:
    drawn = []
    found = [each for each in life.conversions if not places.is_over(each.converted_at_ms)]
    for each in places.telling("conversions", found, lambda each: -each.converted_at_ms):
        x = places.x(each.converted_at_ms)
        direction = each.direction.lower().replace("_", " ")
        say = f"{direction} of the group, {each.mode.lower()}, at {w.when(each.converted_at_ms)}"
        drawn.append(mark(say, el("circle", cx=x, cy=_BAR + 4, r=4, cls="f-mixed")))
    return drawn


def lives(life: GroupLife, places: Places) -> list[Safe]:
    """A heavy line where the group id begins another life, or is read from another log."""
    first = sorted(_begins(life).items())
    later = [(name, ms, name[0] != before[0]) for (before, _), (name, ms) in pairwise(first)]
    drawn = []
    for _, ms, is_log in places.telling("lives", later, lambda each: -each[1]):
        x = places.x(ms)
        say = (
            "the offsets topic was created again: from here on the group is read from another log,"
            f" whose first record of it is of {w.when(ms)}"
            if is_log
            else f"the group was deleted and begins another life at {w.when(ms)}: its epochs"
            " begin again"
        )
        line = el("line", x1=x, x2=x, y1=TICKS_END, y2=places.lanes_end, cls="newlife")
        drawn.append(mark(say, line))
    return drawn


def _ends_of_lives(life: GroupLife) -> Callable[[int], int]:
    """Until when at most something lasted that began at a time: the group's next life, or as-of."""
    begins = sorted(_begins(life).values())

    def end(ms: int) -> int:
        later = bisect_right(begins, ms)
        return begins[later] if later < len(begins) else life.as_of_ms

    return end


def later_lives(life: GroupLife) -> bool:
    """Whether the group id begins another life, or another log."""
    return len(_begins(life)) > 1


def _begins(life: GroupLife) -> dict[LifeKey, int]:
    """Life -> its first moment."""
    first: dict[LifeKey, int] = {}
    times = [
        *[(each.life, each.started_at_ms) for each in life.epochs],
        *[(each.life, each.began_at_ms) for each in life.streams_epochs],
        *[(each.life, each.joined_at_ms) for each in life.members],
    ]
    for name, ms in times:
        first[name] = min(ms, first.get(name, ms))
    return first


def known_lives(life: GroupLife) -> list[LifeKey]:
    """In order of time."""
    return sorted({*_begins(life), *[each.life for each in life.days]})


def said_lives(life: GroupLife) -> str:
    """How many lives and logs the group has, "" for one life in one log."""
    names = known_lives(life)
    logs = len({name[0] for name in names})
    deleted = len(names) - logs
    return (f", {deleted + 1} lives" if deleted > 0 else "") + (
        f", {logs} logs" if logs > 1 else ""
    )
