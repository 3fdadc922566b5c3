"""What the cleaner leaves of a static member's return looks like its joining, and is none that was
seen.
"""

from __future__ import annotations

import pytest

from groupreplay.records.entries import Entry
from groupreplay.replay.facts import Epoch, Fact, HeldPartition, MemberLife
from tests.support.building import NAMES, Log
from tests.support.replaying import replayed


def joining() -> list[Entry]:
    """Of a static member, whole, behind a hole."""
    log = Log().skip(5)
    log.write(
        {"k5": "A", "instance": "i"},
        {"k3": 7},
        {"k7": "A", "target": {"foo": [0]}},
        {"k6": 7},
        {"k8": "A", "epoch": 7, "prev": 0, "assigned": {"foo": [0]}},
    )
    return log.entries


def starts(facts: list[Fact]) -> list[bool]:
    return [fact.start_observed for fact in facts if isinstance(fact, (HeldPartition, MemberLife))]


def causes(facts: list[Fact]) -> list[tuple[str, str]]:
    return [(fact.cause, fact.confidence) for fact in facts if isinstance(fact, Epoch)]


def test_a_static_member_joins_by_a_whole_operation() -> None:
    facts = replayed(joining(), NAMES)
    assert starts(facts) == [True, True]
    assert causes(facts) == [("JOIN", "EXACT")]


def test_records_lost_right_before_its_k5_may_have_been_the_tombstones_of_a_return() -> None:
    """They are in the same batch."""
    cleaned = [entry._replace(batch_base_offset=2) for entry in joining()]
    facts = replayed(cleaned, NAMES)
    assert starts(facts) == [False, False]
    assert causes(facts) == [("JOIN", "INFERRED")]


@pytest.mark.parametrize(("lost", "confidence"), [(0, "EXACT"), (1, "INFERRED")])
def test_a_k4_is_the_cause_where_nothing_else_can_be_lost(lost: int, confidence: str) -> None:
    """The operation of a member that replaces another has a K4 too."""
    log = Log().skip(5)
    log.write({"k4": {"foo": 3}}, {"k3": 7}, {"k6": 7})
    base = log.entries[0].offset
    cleaned = [entry._replace(batch_base_offset=base - lost) for entry in log.entries]
    assert causes(replayed(cleaned, NAMES)) == [("TOPIC_METADATA", confidence)]
