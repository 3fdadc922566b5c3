"""Pages of real groups: what coordinators wrote, replayed and drawn, without Spark. End-to-end nights
draw the pages of more recordings by way of the tables.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields
from datetime import date
from functools import cache
from typing import Any, Final

import pytest

from groupreplay.page.group.group_page import group_page
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.read import read_group
from groupreplay.replay.fact import Fact
from groupreplay.replay.facts import (
    Conversion,
    Epoch,
    HandOver,
    HeldPartition,
    MemberLife,
    MemberState,
    Stall,
)
from groupreplay.replay.streams_facts import (
    HeldTask,
    StreamsProcess,
    StreamsRebalance,
    TaskHandOver,
)
from groupreplay.report.pages.group_frames import QUERIES
from tests.page.parsed import Parsed, timeline_of
from tests.support.recordings import groups, recordings
from tests.support.replaying import replayed

KINDS: Final[dict[str, type[Fact]]] = {
    "members": MemberLife,
    "spans": MemberState,
    "held": HeldPartition,
    "epochs": Epoch,
    "hand_overs": HandOver,
    "stuck": Stall,
    "conversions": Conversion,
    "processes": StreamsProcess,
    "streams_epochs": StreamsRebalance,
    "tasks": HeldTask,
    "task_moves": TaskHandOver,
}
"""List of a page -> facts whose fields are the columns that it asks for."""


def row_of(kind: str, fact: Fact, as_of_ms: int) -> dict[str, Any]:
    """As the query of the list gives it. Of a stall the rest is worked out from thresholds."""
    cls = next(query.cls for query in QUERIES if query.kind == kind)
    values = {name: getattr(fact, name) for name in (one.name for one in fields(fact))}
    if isinstance(fact, TaskHandOver):
        values["kind"] = fact.hand_over_kind
    row: dict[str, Any] = {
        one.name: values.get(one.name, values.get(one.name.removesuffix("_ms")))
        for one in fields(cls)
    }
    row["life"] = [values["log_incarnation"] or 0, values["incarnation"]]
    if kind == "stuck":
        end = row["until_at_ms"] or as_of_ms
        row |= {"stuck_ms": end - row["since_at_ms"], "is_open": row["until_at_ms"] is None}
    if kind in ("tasks", "task_moves"):
        row["task_id"] = f"{values['subtopology']}_{values['partition']}"
    if kind == "streams_epochs":
        began = (values["join_ended_at"], values["decided_at"], values["scheduled_at"])
        row["began_at_ms"] = next((at for at in began if at is not None), None)
    if row.get("topic", "") is None:
        row["topic"] = values["topic_id"]
    return row


@cache
def lives(recording: str) -> list[GroupLife]:
    found = []
    for each in groups(recording):
        facts = replayed(each.entries, each.names, (), each.group_id, each.offsets_partition)
        as_of_ms = max(entry.ts_ms for entry in each.entries)
        rows = {
            kind: [row_of(kind, fact, as_of_ms) for fact in facts if isinstance(fact, cls)]
            for kind, cls in KINDS.items()
        }
        found.append(
            read_group(
                rows,
                cluster="c",
                logical_date=date(2026, 11, 21),
                group_id=each.group_id,
                from_at_ms=None,
                as_of_ms=as_of_ms,
                version="0",
            )
        )
    return found


def marks(recording: str) -> Counter[str]:
    """The class attributes in the timelines of all its groups. The key beside a timeline has the
    same ones.
    """
    return Counter(
        found
        for life in lives(recording)
        for found in re.findall(r'class="([^"]+)"', timeline_of(group_page(life)))
    )


@pytest.mark.parametrize(
    ("recording", "drawn"),
    [
        ("streams-protocol-4.3", {"process", "standby", "warmup", "p-streams", "asked", "active"}),
        ("streams-classic-4.3", {"process", "standby", "warmup", "p-classic", "active"}),
        ("classic-3.9", {"p-classic", "syncing", "gone", "settle"}),
        ("compacted-4.3", {"hole", "fray"}),
        ("consumer-4.3", {"p-consumer", "waits", "asked", "hand", "bad", "away"}),
    ],
)
def test_pages_of_recordings_show_what_is_in_them(recording: str, drawn: set[str]) -> None:
    found = {name for looks in marks(recording) for name in looks.split()}
    assert drawn - found == set(), sorted(found)


@pytest.mark.parametrize(
    ("recording", "warm", "cold", "bounced"),
    [
        ("streams-protocol-4.3", 3, 26, 0),
        ("streams-classic-4.3", 21, 31, 4),
        ("classic-3.9", 1, 0, 1),
    ],
)
def test_each_task_that_went_over_is_an_arrow_as_it_went(
    recording: str, warm: int, cold: int, bounced: int
) -> None:
    """As many as there are: from one process to another, and back to the one that had lost it."""
    found = marks(recording)
    assert (found["hand"], found["hand cold"], found["hand bad"]) == (warm, cold, bounced)
    moves = [each for life in lives(recording) for each in life.task_moves if each.granted_at_ms]
    back = [each for each in moves if each.outcome == "RETURNED"]
    over = [each for each in moves if each.from_process_id != each.to_process_id]
    assert (len(over), len(back)) == (warm + cold, bounced)


EXPLAINED: Final = {
    *("hand", "hand cold", "hand bad", "gone", "gap", "f-mixed", "newlife", "hole", "fray"),
    *("epoch", "epoch never", "settle", "settle never", "joining", "syncing", "process"),
    *(f"hold p-consumer {role}" for role in ("active", "standby", "warmup")),
    *("sp stable", "sp asked", "sp waits", "sp away", "absent", "absent lost", "absent open"),
}
"""Looks of marks that the key explains. Bands and lanes have their names beside them."""


def explained(part: str) -> set[str]:
    """Those of a part of a page. Of what members do the key has one protocol for all."""
    looks = {re.sub(r"^(sp \w+) p-.*|^(hand) many$", r"\1\2", each) for each in classes(part)}
    return looks & EXPLAINED


def classes(part: str) -> set[str]:
    return set(re.findall(r'class="([^"]+)"', part))


def key_of(page: str) -> str:
    return page[page.index("tlkey") : page.index('<div class="tools')]


@pytest.mark.long
@pytest.mark.parametrize("recording", recordings())
def test_the_key_explains_what_is_drawn_and_nothing_else(recording: str) -> None:
    """Frays of the key lie on a bar, which is no member's."""
    for life in lives(recording):
        page = group_page(life)
        key, drawn = explained(key_of(page)), explained(timeline_of(page))
        frayed = {"sp stable"} if "fray" in key else set()
        assert key - frayed == drawn - frayed, life.group_id


@pytest.mark.parametrize("recording", ["streams-protocol-4.3", "compacted-4.3"])
def test_pages_of_recordings_are_within_budget(recording: str) -> None:
    for life in lives(recording):
        page = group_page(life)
        assert len(page.encode()) < 600_000, life.group_id
        assert len(Parsed(page).tags) < 10_000, life.group_id
