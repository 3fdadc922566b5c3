"""How states of version 1 number the fields of a life: by their order here, which never changes."""

from groupreplay.state_codec import FirstVersion

FIRST = FirstVersion(
    mark=b"\x01",
    fingerprint="8bedbf7a",
    fields={
        "Life": """
            group_id offsets_partition incarnation protocol birth_seen hole_seen last_hole
            conversions last_direction upgraded_at downgraded_at mixed last_phase protocol_type
            protocol_name epoch epoch_offset target_epoch metadata_hash topic_metadata_epoch
            epoch_row assigning members moved_from targets trails departures loops storm
            topic_names seen_topics contested unbumped commits committers leader_epoch
            leader_since stamps_assignments unnamed_topics last_change_offset last_offset
            last_at
        """,
        "Epoch": """
            group_id incarnation offsets_partition from_offset to_offset start_observed
            is_final epoch protocol started_at cause cause_member_id confidence target_at
            converged_at superseded_at members members_classic partitions_moved assign_ms
            converge_ms outcome
        """,
        "Member": """
            member_id instance_id client_id client_host protocol subscription regex assignor
            rebalance_timeout_ms subscription_epoch epoch previous_epoch state assigned pending
            target target_offset current_offset current_at spans requests taken revoking_since
            revocation state_row wait waiting limbo last_commit_at last_commit_offset
            owns_since_at owns_since_offset joined_at joined_offset join_observed
        """,
        "Span": """
            assigned_at from_offset assigned_epoch start_observed other_name stamped given_back
        """,
        "MemberState": """
            group_id incarnation offsets_partition from_offset to_offset start_observed
            is_final member_id instance_id client_id client_host member_protocol member_epoch
            state from_at to_at partitions_assigned partitions_pending waiting_on
        """,
        "Departure": """
            removed_at member_id client_id client_host
        """,
        "Stall": """
            group_id incarnation offsets_partition from_offset to_offset start_observed
            is_final reason member_id instance_id client_id client_host member_protocol
            since_at until_at blocked_by partitions_waiting partitions_held deadline_at detail
        """,
        "Trail": """
            released handed granted_spans granted last_commit_at released_offset granted_offset
            grant_observed released_at_k2
        """,
        "HeldPartition": """
            group_id incarnation offsets_partition from_offset to_offset start_observed
            is_final member_id instance_id topic topic_id partition assigned_at released_at
            assigned_epoch released_epoch end_reason next_member_id next_assigned_at unowned_ms
            idle_ms
        """,
        "HandOver": """
            group_id incarnation offsets_partition from_offset to_offset start_observed
            is_final epoch member_id instance_id client_id client_host member_protocol topic
            topic_id partition target_at requested_at ended_at acked_at granted_at granted_to
            first_commit_at notify_ms revoke_ms grant_ms resume_ms unowned_ms timeout_ms
            outcome is_censored
        """,
        "Chain": """
            group_id incarnation offsets_partition from_offset to_offset start_observed
            is_final reason member_id instance_id client_id client_host member_protocol
            times_at ends_at
        """,
    },
)
