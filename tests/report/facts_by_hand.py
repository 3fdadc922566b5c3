"""Facts with everything a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from groupreplay.replay.facts import (
    Anomaly,
    Chain,
    Conversion,
    Epoch,
    Fact,
    GroupSnapshot,
    HandOver,
    HeldPartition,
    MemberLife,
    MemberState,
    Stall,
    TopicSeen,
)

AT = 1_699_999_000_000
"""A usual time: 1000 s before the as-of of these tests."""

_USUAL: dict[type[Fact], dict[str, Any]] = {
    Epoch: {
        "epoch": 7,
        "protocol": "consumer",
        "started_at": AT,
        "cause": "JOIN",
        "cause_member_id": None,
        "confidence": "EXACT",
        "members": 2,
        "members_classic": 0,
    },
    Conversion: {
        "converted_at": AT,
        "direction": "UPGRADE",
        "mode": "ONLINE",
        "trigger_member_id": "m",
        "epoch_before": 3,
        "epoch_after": 4,
    },
    MemberState: {
        "member_id": "m",
        "instance_id": None,
        "client_id": "client",
        "client_host": "/host",
        "member_protocol": "consumer",
        "member_epoch": 7,
        "state": "STABLE",
        "from_at": AT,
        "partitions_assigned": 2,
        "partitions_pending": 0,
        "waiting_on": ["n"],
    },
    MemberLife: {
        "member_id": "m",
        "instance_id": None,
        "client_id": "app",
        "client_host": "/10.0.0.1",
        "member_protocol": "consumer",
        "joined_at": AT,
    },
    HeldPartition: {
        "member_id": "m",
        "instance_id": None,
        "topic": None,
        "topic_id": "id-orders",
        "partition": 1,
        "assigned_at": AT,
        "assigned_epoch": 7,
    },
    HandOver: {
        "epoch": 7,
        "member_id": "m",
        "instance_id": None,
        "client_id": "app",
        "client_host": "/10.0.0.1",
        "member_protocol": "consumer",
        "topic": None,
        "topic_id": "id-orders",
        "partition": 1,
        "target_at": AT,
        "requested_at": AT,
    },
    Stall: {"reason": "SLOW_REVOCATION", "member_id": "m", "since_at": AT, "blocked_by": []},
    Chain: {"reason": "FENCE_LOOP", "member_id": "m", "times_at": [], "ends_at": []},
    GroupSnapshot: {
        "protocol": "consumer",
        "phase": "MIGRATING",
        "last_phase": None,
        "history_complete": True,
        "members_total": 3,
        "members_consumer": 2,
        "members_classic": 1,
        "mixed_since_at": AT,
        "upgraded_at": None,
        "downgraded_at": None,
        "conversions": 1,
        "group_epoch": 7,
        "blocker_member_ids": ["m1"],
        "blocker_instance_ids": [None],
        "blocker_client_ids": ["client"],
        "blocker_client_hosts": ["/host"],
    },
    Anomaly: {
        "rule": "I1",
        "severity": "ERROR",
        "detected_at": AT,
        "evidence_offset": 12,
        "detail_code": "EPOCH_NOT_NEXT",
        "detail_names": ["epoch", "before"],
        "detail_values": ["3", "4"],
    },
    TopicSeen: {
        "topic_id": "id-orders",
        "topic": "orders",
        "partitions": None,
        "seen_at": AT,
        "source": "K1",
    },
}


def fact(kind: type[Fact], **values: Any) -> Fact:
    """One fact of a kind; `values` say what matters."""
    return kind(
        **{
            "group_id": "g",
            "incarnation": 1,
            "offsets_partition": 3,
            "from_offset": 10,
            **_USUAL[kind],
            **values,
        }
    )
