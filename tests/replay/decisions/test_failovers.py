"""Changes of the coordinator in recordings, by records alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from groupreplay.replay.decision_facts import Failover
from tests.support.recordings import groups, recordings
from tests.support.replaying import replayed

BASE_AT = 1_795_241_000_000
KILLED = "brokers-killed-4.2"
RESTARTED = "streams-protocol-4.3"


@cache
def failovers(recording: str) -> dict[tuple[str, int], Failover]:
    """By group and the new leader epoch."""
    return {
        (group.group_id, fact.leader_epoch): fact
        for group in groups(recording)
        for fact in replayed(
            group.entries, group.names, (), group.group_id, group.offsets_partition
        )
        if isinstance(fact, Failover)
    }


SEVEN = [
    # group, partition, leader epochs, last, first and gap, phase,
    # members, at the epoch, revoking, waiting, away, pending, unowned,
    # epochs, joined, removed, lost, moved in the 60 s after
    (
        *("churn-a", 40, (0, 1), (718, 896_196), (719, 905_440), 9_244, "REVOKING"),
        *((6, 2, 1, 3, 1, 1, 1), (26, 12, 14, 6, 25)),
    ),
    (
        *("churn-mixed-a", 40, (0, 1), (717, 896_084), (725, 905_441), 9_357, "REVOKING"),
        *((2, 1, 1, 1, 0, 5, 0), (19, 10, 9, 1, 26)),
    ),
    (
        *("churn-a", 40, (1, 2), (2281, 991_652), (2291, 1_005_692), 14_040, "STEADY"),
        *((3, 3, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
    ),
    (
        *("churn-mixed-a", 40, (1, 2), (2290, 991_850), (2298, 1_006_095), 14_245),
        *("PARTLY_THERE", (2, 1, 0, 0, 0, 0, 1), (2, 0, 1, 1, 5)),
    ),
    (
        *("scale-up-a", 8, (0, 1), (636, 992_153), (637, 1_005_612), 13_459, "STEADY"),
        *((2, 2, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
    ),
    (
        *("mixed-stall-a", 34, (0, 1), (589, 991_550), (590, 1_005_637), 14_087, "STEADY"),
        *((3, 3, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
    ),
    (
        *("classic-coop-a", 46, (0, 1), (351, 944_218), (352, 954_172), 9_954, "UNKNOWN"),
        *((2, 2, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
    ),
]
"""Times are ms after BASE_AT."""


@pytest.mark.parametrize("row", SEVEN, ids=lambda row: f"{row[0]}-{row[2][1]}")
def test_brokers_that_were_killed(row: tuple[Any, ...]) -> None:
    group_id, partition, epochs, last, first, gap_ms, phase, before, after = row
    fact = failovers(KILLED)[group_id, epochs[1]]
    assert (fact.leader_epoch_before, fact.leader_epoch) == epochs
    assert (fact.offsets_partition, fact.phase, fact.start_observed) == (partition, phase, True)
    assert (fact.last_offset, fact.last_at - BASE_AT) == last
    assert (fact.from_offset, fact.first_at - BASE_AT) == first
    assert fact.first_at - fact.last_at == gap_ms
    assert before == (
        *(fact.members, fact.at_epoch, fact.revoking, fact.waiting, fact.away),
        *(fact.partitions_pending, fact.partitions_unowned),
    )
    assert after == (
        *(fact.epochs_after, fact.joined_after, fact.removed_after),
        *(fact.lost_after, fact.moved_after),
    )


def test_no_other_group_of_the_killed_brokers_has_one() -> None:
    assert failovers(KILLED).keys() == {(row[0], row[2][1]) for row in SEVEN}


@pytest.mark.parametrize("recording", sorted(recordings().keys() - {KILLED, RESTARTED}))
def test_no_failover_where_no_broker_went(recording: str) -> None:
    assert not failovers(recording)


def test_a_clean_restart_of_a_lone_broker_is_two_epochs() -> None:
    """Every group that wrote before and after it; the recording's broker was away for 71 s."""
    found = failovers(RESTARTED)
    assert {group_id: (fact.protocol, fact.phase) for (group_id, _), fact in found.items()} == {
        "kstreams-broker-restart": ("streams", "STEADY"),
        "kstreams-churn": ("streams", "STEADY"),
        "kstreams-slow": ("streams", "STEADY"),
        "kstreams-standby": ("streams", "STEADY"),
        "kstreams-threads": ("streams", "STEADY"),
        "streams-offline": ("classic", "UNKNOWN"),
    }
    assert {(fact.leader_epoch_before, fact.leader_epoch) for fact in found.values()} == {(0, 2)}
    assert all(70_000 < fact.first_at - fact.last_at < 72_000 for fact in found.values())


def test_who_was_lost_is_named_with_the_time_it_went() -> None:
    fact = failovers(KILLED)["churn-a", 1]
    assert fact.lost_after == len(fact.lost_member_ids) == len(fact.lost_at) == 6
    lost = dict(zip(fact.lost_member_ids, fact.lost_at, strict=True))
    (at,) = [at for member_id, at in lost.items() if member_id.startswith("DToAX6")]
    assert at - BASE_AT == 917_421
    assert fact.lost_session_ms == [None] * 6, "it is the group's, which no record has"
