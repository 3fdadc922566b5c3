"""The machine of evidence: what it keeps from line to line, from night to night, and no longer.

Each machine below it has a test of its own; together they are held by `test_recordings.py`.
"""

from __future__ import annotations

from typing import Any

from groupreplay.evidence.evidence_facts import Contact, Departure, EvidenceFact, ShardEvent
from groupreplay.evidence.evidence_replay import EvidenceReplay
from groupreplay.evidence.memory import FORGET_MS, Line
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG, LogEvent


def line(
    at: int, event: str, source: str = SERVER_LOG, group: str | None = "g", **more: Any
) -> Line:
    return Line(LogEvent(event=event, at_ms=at, group_id=group, **more), 1, source, "a", at, at)


def heartbeat(at: int) -> Line:
    return line(
        at,
        "CONSUMER_GROUP_HEARTBEAT",
        REQUEST_LOG,
        member_id="m",
        epoch=3,
        error_code=0,
        response_epoch=3,
        started_ms=at,
        duration_ms=0,
        protocol="consumer",
    )


def kinds(facts: list[EvidenceFact]) -> list[type[EvidenceFact]]:
    return [type(fact) for fact in facts]


def test_lines_of_no_group_are_of_the_partition() -> None:
    replay = EvidenceReplay("")
    replay.replay(line(1_000, "SHARD_LOADED", group=None, offsets_partition=7))
    assert kinds(replay.take_facts()) == [ShardEvent]
    assert replay.take_facts() == [], "each once"
    assert replay.state() is not None, "who has it is asked for when another loads it"


def test_a_departure_waits_for_its_epoch_and_is_shown_meanwhile() -> None:
    replay = EvidenceReplay("g")
    replay.replay(line(1_000, "MEMBER_FENCED", member_id="m", detail="SESSION_EXPIRED"))
    told = replay.take_facts() + replay.open_facts()
    assert Departure in kinds(told)
    replay.forget(1_000 + FORGET_MS)
    assert Departure not in kinds(replay.open_facts())


def test_what_is_shown_open_changes_nothing() -> None:
    replay = EvidenceReplay("g")
    replay.replay(heartbeat(1_000))
    (shown,) = (each for each in replay.open_facts() if isinstance(each, Contact))
    shown.heartbeats = 99
    (again,) = (each for each in replay.open_facts() if isinstance(each, Contact))
    assert again.heartbeats == 1


def test_a_night_between_two_lines_changes_nothing() -> None:
    whole, cut = EvidenceReplay("g"), EvidenceReplay("g")
    for at in (1_000, 4_000, 7_000):
        whole.replay(heartbeat(at))
        cut.replay(heartbeat(at))
        state = cut.state()
        assert state is not None
        cut = EvidenceReplay.restore("g", state)
    assert whole.open_facts() == cut.open_facts()
    assert whole.state() == cut.state()


def test_after_a_day_nothing_of_a_member_is_kept() -> None:
    replay = EvidenceReplay("g")
    assert replay.state() is None
    replay.replay(heartbeat(1_000))
    assert replay.state() is not None
    replay.forget(1_000 + FORGET_MS + 1)
    assert Contact in kinds(replay.take_facts())
    assert replay.state() is None
