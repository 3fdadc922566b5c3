"""Columns of rows that lines of broker logs prove, or complete by joins of Spark."""

from __future__ import annotations

from typing import Final

COLUMNS_OF_LINES: Final[dict[str, tuple[str, ...]]] = {
    "member_ends": (
        *("group_id", "incarnation", "from_offset", "member_id", "joined_at", "ended_at"),
        *("end_reason", "end_detail", "end_confidence"),
    ),
    "member_evidence": ("group_id", "from_offset", "member_id", "evidence"),
    "span_evidence": (
        *("group_id", "member_id", "topic_id", "topic", "partition", "from_offset", "to_offset"),
        *("end_reason", "evidence"),
    ),
    "absence_evidence": (
        *("group_id", "incarnation", "offsets_partition", "from_offset", "to_offset"),
        *("member_id", "instance_id", "outcome", "returned_as", "removed_at", "returned_at"),
        *("identity", "client_id", "client_host", "membership", "evidence"),
    ),
    "stuck_member_lines": (
        *("group_id", "from_offset", "member_id", "instance_id", "reason", "since_at"),
        *("until_at", "is_open", "detail_params", "evidence"),
    ),
    "stuck_group_lines": (
        *("group_id", "from_offset", "reason", "since_at", "until_at", "is_open"),
        *("detail_params", "evidence"),
    ),
    "flap_scores": (
        *("group_id", "incarnation", "offsets_partition", "day", "from_at", "moved", "returned"),
        *("joins", "departures", "flap_score"),
    ),
    "contacts": (
        *("group_id", "incarnation", "from_offset", "member_id", "principal", "software_name"),
        *("software_version", "last_heartbeat_at", "longest_gap_ms", "heartbeats", "errors"),
        *("error_apis", "error_first_at", "error_last_at", "client_reason"),
    ),
    "assignment_ends": (
        *("group_id", "member_id", "topic_id", "topic", "partition", "from_offset", "to_offset"),
        *("end_reason", "end_detail", "end_confidence"),
    ),
    "epoch_lines": (
        *("group_id", "epoch", "protocol", "from_offset", "cause", "cause_member_id"),
        *("confidence", "cause_detail", "client_reason", "evidence"),
    ),
    "flips": (
        *("group_id", "incarnation", "offsets_partition", "from_offset", "as_of_at", "phase"),
        *("verdict", "flip_tier", "cohort", "members_total", "members_static", "partitions"),
        *("assignor", "is_cooperative", "suggested_assignor", "suggested_session_timeout_ms"),
        *("suggested_heartbeat_ms", "rules", "rules_unseen", "observed_ms", "broker_version"),
        *("migration_policy", "brokers_known", "checks"),
    ),
    "mixed": ("group_id", "as_of_at", "mixed_since_at", "is_stalled"),
    "rebalances": (
        *("group_id", "generation", "started_at", "group_state", "cause", "cause_member_id"),
        *("reason", "client_reason", "joined_at", "members_joined", "synced_at"),
        *("members_missing", "members_dropped", "nobody_joined", "outcome", "evidence", "is_final"),
    ),
    "phases": ("group_id", "generation", "started_at", "joined_at", "synced_at", "outcome"),
    "refusals": (
        *("group_id", "member_id", "instance_id", "client_id", "client_host", "subject", "api"),
        *("error_code", "error", "refusal", "message", "first_at", "last_at", "attempts"),
        *("evidence", "is_final", "session_timeout_ms"),
    ),
    "rejoins": (
        *("group_id", "member_id", "instance_id", "client_id", "client_host", "generation"),
        *("told_at", "joined_at", "answered_at", "synced_at", "new_generation", "rejoin_ms"),
        *("wait_ms", "evidence", "is_final"),
    ),
    "absences": (
        *("group_id", "incarnation", "offsets_partition", "from_offset", "to_offset"),
        *("start_observed", "member_id", "instance_id", "member_protocol", "membership"),
        *("outcome", "returned_as", "removed_at", "returned_at", "gap_low_ms", "gap_high_ms"),
        *("partitions", "avoided_moves", "epochs", "identity", "client_id", "client_host"),
        *("moved", "left_at", "left_shown_by", "gap_ms", "own_timeout_ms", "absorbed_own"),
        *("absorbed_45s", "absorbed_60s", "is_cliff", "blind_ms", "blind_extra_ms"),
        *("owner_was_alive", "is_final"),
    ),
    "failover_lines": (
        *("group_id", "incarnation", "offsets_partition", "from_offset", "leader_epoch"),
        *("last_offset", "phase", "loaded_at", "load_ms", "broker", "moved_from", "rearmed"),
        *("unavailable_ms", "gap_ms", "doc_phase", "is_final", "evidence"),
    ),
    "rebalance_joins": (
        *("group_id", "started_at", "evidence", "join_ms", "sync_ms", "first_joined_at"),
        *("last_joined_at", "last_joined_member_id", "members_back"),
    ),
    "event_groups": (
        *("offsets_partition", "broker", "event", "occurred_at", "evidence"),
        *("groups", "group_ids", "epochs_after"),
    ),
    "outages": ("group_id", "since_at", "last_at", "until_at", "attempts"),
    "unavailable": (
        *("group_id", "incarnation", "offsets_partition", "to_offset", "start_observed"),
        *("is_final", "reason", "since_at", "until_at", "stuck_ms", "is_open", "repetitions"),
        *("detail_code", "detail_params"),
    ),
    "stuck_phases": (
        *("group_id", "incarnation", "offsets_partition", "to_offset", "start_observed"),
        *("is_final", "reason", "since_at", "until_at", "stuck_ms", "is_open", "repetitions"),
        *("detail_code", "detail_params"),
    ),
    "silences": (
        *("group_id", "incarnation", "offsets_partition", "to_offset", "start_observed"),
        *("log_incarnation", "member_id", "instance_id", "client_id", "client_host"),
        *("member_protocol", "reason", "since_at", "until_at", "stuck_ms", "blocked_by"),
        *("partitions_waiting", "partitions_held", "deadline_at", "is_open", "repetitions"),
        *("detail", "detail_code", "detail_params", "is_final"),
    ),
    "rejected": (
        *("group_id", "incarnation", "offsets_partition", "to_offset", "start_observed"),
        *("member_id", "instance_id", "client_id", "client_host", "reason", "since_at"),
        *("until_at", "stuck_ms", "blocked_by", "partitions_waiting", "partitions_held"),
        *("deadline_at", "is_open", "repetitions", "detail_code", "detail_params"),
    ),
    "upgrades": (
        *("group_id", "incarnation", "offsets_partition", "to_offset", "start_observed"),
        *("is_final", "reason", "since_at", "until_at", "stuck_ms", "is_open", "repetitions"),
        *("detail_code", "detail_params"),
    ),
    "assignor_failures": (
        *("group_id", "incarnation", "offsets_partition", "to_offset", "start_observed"),
        *("is_final", "reason", "since_at", "until_at", "stuck_ms", "is_open", "repetitions"),
        *("detail_code", "detail_params"),
    ),
    "refusal_words": (
        *("group_id", "api", "error_code", "subject", "first_at", "message", "broken_bound_ms"),
    ),
    "rejected_words": (
        *("group_id", "instance_id", "member_id", "reason", "since_at", "detail_params"),
    ),
    "phase_words": ("group_id", "reason", "since_at", "detail_params"),
    "what_if": (
        *("group_id", "incarnation", "offsets_partition", "from_offset", "to_offset"),
        *("start_observed", "started_at", "scenario", "is_actual", "events", "rebalances"),
        *("moved_min", "stopped_partitions", "low_ms", "mid_ms", "high_ms", "actual_ms"),
        *("delta_pct", "model_error_pct", "r_ms", "y_ms", "session_ms", "heartbeat_ms"),
        *("basis", "refused"),
    ),
    "coordinator_events": (
        *("offsets_partition", "broker", "event", "occurred_at", "duration_ms", "records"),
        *("moved_from", "detail", "evidence"),
    ),
}
"""Table -> its columns here."""

STORED: Final = {
    "member_ends": "members",
    "contacts": "members",
    "stuck_member_lines": "stuck_members",
    "stuck_group_lines": "stuck_groups",
    "flap_scores": "group_days",
    "member_evidence": "members",
    "span_evidence": "member_assignments",
    "absence_evidence": "static_accounting",
    "assignment_ends": "member_assignments",
    "epoch_lines": "group_epochs",
    "mixed": "migration_progress",
    "flips": "readiness",
    "absences": "static_accounting",
    "wave_classes": "departure_waves",
    "wave_estimates": "departure_waves",
    "failover_lines": "coordinator_failovers",
    "rebalance_joins": "rebalances",
    "event_groups": "coordinator_events",
    "unavailable": "stuck_groups",
    "stuck_phases": "stuck_groups",
    "silences": "stuck_members",
    "rejected": "stuck_members",
    "upgrades": "stuck_groups",
    "assignor_failures": "stuck_groups",
    "phase_words": "stuck_groups",
    "rejected_words": "stuck_members",
    "refusal_words": "refusals",
    "phases": "rebalances",
}
"""Tables here that are part of another one's rows."""
