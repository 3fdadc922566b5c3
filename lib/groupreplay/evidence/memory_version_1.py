"""How states of version 1 number the fields of evidence: by their order here, which never
changes.
"""

from groupreplay.state_codec import FirstVersion

FIRST = FirstVersion(
    mark=b"\x78",
    fingerprint="db8ed42d",
    fields={
        "Evidence": """
            group_id departures contacts silences refusals rebalance outage owner last_at
        """,
        "Departure": """
            group_id broker source input position is_final member_id instance_id ended_at
            outcome end_detail client_reason epoch
        """,
        "Refusal": """
            group_id broker source input position is_final member_id instance_id client_id
            client_host subject api error_code refusal message first_at last_at attempts
            times_at
        """,
        "Rebalance": """
            group_id broker source input position is_final generation started_at group_state
            reason cause cause_member_id client_reason joined_at members_joined synced_at
            members_missing members_dropped nobody_joined ended_at outcome
        """,
        "Contact": """
            group_id broker source input position is_final member_id instance_id client_id
            client_host principal software_name software_version protocol first_at
            last_heartbeat_at heartbeats longest_gap_ms error_codes error_counts connection
            last_seen_at is_away is_rejoining ended_at session_timeout_ms
        """,
        "Silence": """
            group_id broker source input position is_final member_id instance_id client_id
            client_host protocol since_at until_at ended_by session_timeout_ms
        """,
        "Outage": """
            group_id broker source input position is_final since_at last_at until_at attempts
        """,
    },
)
