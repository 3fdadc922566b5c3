"""What a consumer cannot show, batches and leader epochs, is not missed: the seams of operations
alone split every recording alike.
"""

from __future__ import annotations

import dataclasses

import pytest

from groupreplay.replay.decision_facts import Failover
from groupreplay.replay.facts import Fact, HandOver, Stall
from tests.support.recordings import RecordedGroup, all_groups
from tests.support.replaying import difference, fact_keys, replayed

FAILOVER = "brokers-killed-4.2"
GROUPS = list(all_groups())


def name(group: RecordedGroup) -> str:
    return f"{group.recording}-{group.group_id}"


@pytest.mark.long
@pytest.mark.parametrize("group", GROUPS, ids=name)
def test_batches_add_nothing_to_the_seams(group: RecordedGroup) -> None:
    without = [entry._replace(batch_base_offset=-1) for entry in group.entries]
    assert (
        difference(
            fact_keys(replayed(group.entries, group.names)),
            fact_keys(replayed(without, group.names)),
        )
        == ""
    )


@pytest.mark.long
@pytest.mark.parametrize("group", GROUPS, ids=name)
def test_leader_epochs_tell_when_timers_began_anew_and_nothing_else(group: RecordedGroup) -> None:
    """A coordinator that took over has begun its timers anew: without the leader epoch deadlines
    are those of the coordinator before it, and that it took over is not told.
    """

    def kept(facts: list[Fact]) -> list[Fact]:
        told = [
            fact
            for fact in facts
            if not (isinstance(fact, Stall) and fact.reason == "NOT_RECONCILING")
        ]
        return [
            dataclasses.replace(fact, timeout_ms=None) if isinstance(fact, HandOver) else fact
            for fact in map(without_deadline, told)
        ]

    def without_deadline(fact: Fact) -> Fact:
        return dataclasses.replace(fact, deadline_at=None) if isinstance(fact, Stall) else fact

    known = replayed(group.entries, group.names)
    unknown = replayed(
        [entry._replace(leader_epoch=-1, batch_base_offset=-1) for entry in group.entries],
        group.names,
    )
    assert not [fact for fact in unknown if isinstance(fact, Failover)]
    known = [fact for fact in known if not isinstance(fact, Failover)]
    if group.recording == FAILOVER:
        known, unknown = kept(known), kept(unknown)
    assert difference(fact_keys(known), fact_keys(unknown)) == ""
