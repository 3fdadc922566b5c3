"""What the cleaner leaves of an offline conversion looks like the birth of a group, and is none that
was seen.
"""

from __future__ import annotations

import pytest

from groupreplay.records.entries import Entry
from groupreplay.replay.facts import GroupSnapshot
from tests.support.building import NAMES, Log
from tests.support.replaying import replayed, snapshot_of


def first_operation() -> list[Entry]:
    """Of a group whose first member joined."""
    log = Log()
    log.skip(1)
    log.write(
        {"k5": "A"},
        {"k3": 1},
        {"k7": "A", "target": {"foo": [0]}},
        {"k6": 1},
        {"k8": "A", "epoch": 1, "prev": 0, "assigned": {"foo": [0]}},
    )
    return log.entries


def end_of(entries: list[Entry]) -> GroupSnapshot:
    found = snapshot_of(replayed(entries, NAMES))
    assert found is not None
    return found


def test_what_opens_a_batch_is_a_birth_whatever_was_lost_before() -> None:
    snapshot = end_of(first_operation())
    assert (snapshot.phase, snapshot.history_complete) == ("NATIVE", True)


@pytest.mark.parametrize("base_offset", [0, -1])
def test_a_record_lost_right_before_it_may_have_been_the_tombstone_of_a_classic_group(
    base_offset: int,
) -> None:
    """base_offset: of the batch, -1 where a consumer read it and none is known."""
    cleaned = [entry._replace(batch_base_offset=base_offset) for entry in first_operation()]
    snapshot = end_of(cleaned)
    assert (snapshot.phase, snapshot.history_complete) == ("CONSUMER", False)


def test_the_first_record_of_a_log_has_lost_none() -> None:
    first = [
        entry._replace(offset=entry.offset - 1, batch_base_offset=-1, last_hole=-1)
        for entry in first_operation()
    ]
    assert end_of(first).phase == "NATIVE"


CLASSIC = [
    {"k2": generation, "members": {"a": {"foo": [0]}} if generation else {}}
    for generation in (0, 1)
]


@pytest.mark.parametrize(
    ("lost", "generations", "is_birth"),
    [(0, (0, 1), True), (0, (1,), True), (1, (0, 1), True), (1, (1,), False)],
)
def test_a_hole_may_have_the_first_k2_with_the_tombstones_of_a_consumer_group(
    lost: int, generations: tuple[int, ...], is_birth: bool
) -> None:
    log = Log()
    log.skip(lost)
    for generation in generations:
        log.write(CLASSIC[generation])
    snapshot = end_of(log.entries)
    assert (snapshot.phase, snapshot.history_complete) == ("CLASSIC", is_birth)


def test_the_first_k2_may_have_lost_the_tombstones_of_a_consumer_group() -> None:
    log = Log()
    log.skip(1)
    for form in CLASSIC:
        log.write(form)
    cleaned = [entry._replace(batch_base_offset=entry.offset - 1) for entry in log.entries]
    assert end_of(cleaned).history_complete is False
