"""Columns that checks look at, of each table: those of the facts that give it rows, and what the
report adds."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from groupreplay.replay.facts import (
    Anomaly,
    Conversion,
    Epoch,
    GroupSnapshot,
    HandOver,
    HeldPartition,
    MemberLife,
    MemberState,
    Stall,
)
from tests.simulator.line_columns import COLUMNS_OF_LINES
from tests.simulator.replayed import Coverage, Undecoded


def fields(kind: type[Any], *without: str) -> tuple[str, ...]:
    return tuple(each.name for each in dataclasses.fields(kind) if each.name not in without)


BLOCKER: Final = ("member_id", "instance_id", "client_id", "client_host")
NOT_IN_SNAPSHOTS: Final = (
    "to_offset",
    "start_observed",
    "is_final",
    *(f"blocker_{name}s" for name in BLOCKER),
    *(f"static_{name}" for name in ("ended_at", "gap_low_ms", "gap_high_ms", "outcomes")),
    *("protocol_type", "protocol_name", "k2_offset", "cooperative", "unbroken_since_at"),
    *("partitions_held", "epoch_times_at", "emptied_at", "recreated_at", "downgrade_offset"),
)
SAID: Final = ("detail_code", "detail_names", "detail_values")
"""What a sentence is made of. The check of `detail` is the check of these."""

_OF_MEMBERS: Final = (
    "member_id",
    "instance_id",
    *BLOCKER[2:],
    "member_protocol",
    "blocked_by",
    "deadline_at",
)

_NOT_OF_GROUPS: Final = ("partitions_waiting", "partitions_held", "epochs", "repetitions")

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "member_states": fields(MemberState),
    "member_assignments": fields(HeldPartition),
    "members": fields(MemberLife),
    "group_epochs": fields(Epoch),
    "revocation_latencies": fields(HandOver),
    "group_conversions": fields(Conversion),
    "migration_progress": (
        *fields(GroupSnapshot, *NOT_IN_SNAPSHOTS),
        "as_of_at",
        "progress_pct",
        "blockers",
    ),
    "stuck_members": (
        *fields(Stall, "epochs", "repetitions", *SAID),
        "detail",
        "stuck_ms",
        "is_open",
        "repetitions",
    ),
    "stuck_groups": (
        *fields(Stall, *_OF_MEMBERS, *_NOT_OF_GROUPS, *SAID),
        "detail",
        "stuck_ms",
        "is_open",
        "repetitions",
    ),
    "readiness": (
        *("criteria", "group_id", "incarnation", "offsets_partition", "from_offset", "now_ms"),
        *("phase", "verdict", "is_eligible", "members_total", "members_static"),
        *("partitions_held", "assignor", "cooperative", "suggested_assignor"),
        *("suggested_session_timeout_ms", "rules", "rules_unseen", "observed_ms", "software"),
        *("broker_version", "migration_policy", "brokers_known"),
    ),
    "anomalies": (*fields(Anomaly, *SAID), "evidence_partition", "detail"),
    "undecoded": fields(Undecoded),
    "topics": ("topic_id", "topic", "first_seen_at", "partitions", "source"),
    "coverage": fields(Coverage),
    "coordinator_failovers": (
        *("group_id", "incarnation", "offsets_partition", "from_offset", "to_offset"),
        *("start_observed", "leader_epoch_before", "leader_epoch", "last_offset", "last_at"),
        "first_at",
        *("protocol", "phase", "epoch", "target_epoch", "members", "at_epoch", "revoking"),
        *("waiting", "away", "partitions_pending", "partitions_unowned"),
        *("epochs_after", "joined_after", "removed_after", "lost_after", "moved_after"),
    ),
    "departure_waves": (
        *("group_id", "incarnation", "offsets_partition", "from_offset", "to_offset"),
        *("start_observed", "started_at", "ended_at", "members_before", "members_after"),
        *("members_low", "joined", "departed", "replaced", "away", "epochs", "settled_at"),
        *("cycles", "touched", "moved", "returned", "moves_floor", "low_ms", "high_ms"),
        *("hosts_out", "hosts_in", "clients", "high_unknown", "longest_idle_ms", "is_cut"),
        *("epochs_registration", "epochs_expansion", "registration_pending", "is_final"),
    ),
    "wave_classes": (
        *("group_id", "incarnation", "offsets_partition", "from_offset", "class", "ends"),
        "class_confidence",
    ),
    "wave_estimates": (
        *("group_id", "incarnation", "offsets_partition", "from_offset"),
        *("est_ms", "est_is_partial"),
    ),
    "group_days": (
        *("group_id", "incarnation", "offsets_partition", "start_observed", "day", "from_at"),
        *("to_at", "unobserved_ms", "members_ms", "members_max", "empty_ms", "mixed_ms"),
        *("consumer_ms", "classic_ms", "epochs", "partitions_ms", "unowned_ms", "away_ms"),
        *("joins", "departures", "replaced", "away", "availability_least_pct"),
        "availability_most_pct",
        *("moved", "returned"),
        *("low_ms", "high_ms", "sync_ms", "rebalancing_ms", "from_offset", "causes"),
        *("high_unknown", "handovers", "handover_hist", "transitions_hidden"),
        *("handover_p50_ms", "handover_p95_ms", "handover_max_ms", "is_final"),
    ),
    "static_accounting": (
        *("group_id", "incarnation", "offsets_partition", "from_offset", "to_offset"),
        *("start_observed", "member_id", "instance_id", "member_protocol", "membership"),
        *("outcome", "returned_as", "removed_at", "returned_at", "gap_low_ms", "gap_high_ms"),
        *("partitions", "avoided_moves", "epochs", "identity", "client_id", "client_host"),
        *("moved", "is_final"),
    ),
    **COLUMNS_OF_LINES,
}
"""Table -> its columns here."""
