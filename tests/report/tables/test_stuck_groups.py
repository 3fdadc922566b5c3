"""Groups that only lines show to be stuck."""

from __future__ import annotations

from groupreplay.evidence.evidence_facts import (
    AssignorFailure,
    Outage,
    Rebalance,
    Refusal,
)
from groupreplay.replay.facts import GroupSnapshot
from groupreplay.report.tables.stuck_groups import stuck_groups
from tests.report.conftest import AS_OF_MS, Prove, Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, fact
from tests.support.table_inputs import inputs_of


def test_stuck_groups_of_lines(stage: Stage, prove: Prove) -> None:
    facts = (
        evidence(
            Refusal,
            group_id="refused",
            refusal="UPGRADE_REFUSED",
            message="CUSTOM_ASSIGNOR",
            subject="",
            is_final=True,
        ),
        evidence(
            Rebalance,
            group_id="join",
            started_at=AS_OF_MS - 60_000,
            members_missing=["a", "b"],
            nobody_joined=True,
        ),
        evidence(Rebalance, group_id="slow", started_at=AS_OF_MS - 59_999),
        evidence(
            Rebalance,
            group_id="sync",
            joined_at=AT,
            outcome="RESTARTED",
            ended_at=AT + 60_000,
            is_final=True,
        ),
        evidence(
            Rebalance,
            group_id="done",
            joined_at=AT,
            synced_at=AT + 900_000,
            outcome="COMPLETED",
            is_final=True,
        ),
        evidence(Outage, group_id="down", until_at=AT + 30_000, is_final=True),
        evidence(Outage, group_id="blink", until_at=AT + 29_999, is_final=True),
        evidence(AssignorFailure, group_id="once", until_at=AT + 5_000, is_final=True),
        evidence(
            AssignorFailure, group_id="given up", reason=None, last_at=AT + 4_000, is_final=True
        ),
        evidence(
            AssignorFailure,
            group_id="still",
            first_at=AS_OF_MS - 9_000,
            last_at=AS_OF_MS - 4_000,
            attempts=2,
            epoch=8,
        ),
    )
    rows = {
        row.group_id: row
        for row in stuck_groups(inputs_of(stage(fact(GroupSnapshot)), prove(*facts))).collect()
    }
    assert {group: (row.reason, row.stuck_ms, row.is_open) for group, row in rows.items()} == {
        "refused": ("UPGRADE_REFUSED", 0, False),
        "join": ("JOIN_NEVER_COMPLETES", 60_000, True),
        "sync": ("SYNC_NEVER_COMPLETES", 60_000, False),
        "down": ("COORDINATOR_UNAVAILABLE", 30_000, False),
        "once": ("ASSIGNOR_FAILED", 5_000, False),
        "given up": ("ASSIGNOR_FAILED", 4_000, False),
        "still": ("ASSIGNOR_FAILED", 9_000, True),
    }
    assert (
        rows["still"].detail == "2 attempts, the last for epoch 8: Partitions were left unassigned."
    )
    assert rows["given up"].detail == "1 attempts, the last for epoch 7"
    assert rows["still"].evidence.position == 7
    assert rows["refused"].detail == "CUSTOM_ASSIGNOR: 1 attempts"
    assert "missing: a, b" in rows["join"].detail
