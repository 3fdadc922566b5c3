"""Order-free digests of tables, to say that two runs gave the same rows (measures.md section 7).

A row is hashed over its key and contract columns, and the hashes are summed mod 2^64: the sum of
two disjoint parts is that of the whole, so a night adds its final rows to those of the nights
before. Left out, since they depend on how the input was cut into nights: names of runs and nights,
is_final, times of first sight, and learnt names (a topic is its id where it has one).
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sf

_GROUP: Final = (
    "group_id",
    "incarnation",
    "offsets_partition",
    "from_offset",
    "to_offset",
    "start_observed",
)
_MEMBER: Final = ("member_id", "instance_id", "client_id", "client_host", "member_protocol")
_TOPIC: Final = "topic or its id"
_STUCK: Final = ("reason", "since_at", "until_at", "stuck_ms", "is_open")

DIGESTED: Final[dict[str, tuple[str, ...]]] = {
    "migration_progress": (
        *(
            "group_id",
            "incarnation",
            "offsets_partition",
            "protocol",
            "phase",
            "last_phase",
            "history_complete",
        ),
        *(
            "members_total",
            "members_consumer",
            "members_classic",
            "progress_pct",
            "mixed_since_at",
            "upgraded_at",
            "downgraded_at",
        ),
        *("conversions", "blockers", "is_stalled", "group_epoch"),
    ),
    "group_conversions": (
        *_GROUP,
        "converted_at",
        "direction",
        "mode",
        "trigger_member_id",
        "epoch_before",
        "epoch_after",
    ),
    "group_epochs": (
        *_GROUP,
        *(
            "epoch",
            "protocol",
            "started_at",
            "cause",
            "cause_member_id",
            "confidence",
            "target_at",
            "converged_at",
            "superseded_at",
        ),
        *("members", "members_classic", "partitions_moved", "assign_ms", "converge_ms", "outcome"),
    ),
    "member_states": (
        *_GROUP,
        *_MEMBER,
        *(
            "member_epoch",
            "state",
            "from_at",
            "to_at",
            "partitions_assigned",
            "partitions_pending",
            "waiting_on",
        ),
    ),
    "member_assignments": (
        *_GROUP,
        *(
            "member_id",
            "instance_id",
            _TOPIC,
            "topic_id",
            "partition",
            "assigned_at",
            "released_at",
            "assigned_epoch",
            "released_epoch",
        ),
        *("end_reason", "next_member_id", "next_assigned_at", "unowned_ms", "idle_ms"),
    ),
    "revocation_latencies": (
        *_GROUP,
        *(
            "epoch",
            "member_id",
            "member_protocol",
            _TOPIC,
            "topic_id",
            "partition",
            "target_at",
            "requested_at",
            "ended_at",
            "acked_at",
        ),
        *(
            "granted_at",
            "granted_to",
            "first_commit_at",
            "notify_ms",
            "revoke_ms",
            "grant_ms",
            "resume_ms",
            "unowned_ms",
            "timeout_ms",
        ),
        *("outcome", "is_censored"),
    ),
    "stuck_members": (
        *_GROUP,
        *_MEMBER,
        *_STUCK,
        "blocked_by",
        "partitions_waiting",
        "partitions_held",
        "deadline_at",
        "repetitions",
        "detail",
    ),
    "stuck_groups": (*_GROUP, *_STUCK, "repetitions", "detail"),
    "anomalies": (
        *_GROUP,
        "rule",
        "severity",
        "detected_at",
        "evidence_partition",
        "evidence_offset",
        "detail",
    ),
    "topics": ("topic_id",),
}
"""Table -> columns of its digest. Tables that are not here have none: they tell of runs and inputs,
not of groups.
"""

_ARRAYS: Final = ("waiting_on", "blocked_by")
_HALF: Final = 0xFFFF_FFFF
_MODULUS: Final = 1 << 64

EMPTY: Final = "0" * 16
"""Digest of no rows."""


def row_hash(table: str) -> Column:
    """64-bit hash of one row. Spark's hash passes over NULLs, so each column is hashed together
    with whether it is one.
    """
    values = [_value(name) for name in DIGESTED[table]]
    # As one text: built of columns, a night's digests are thousands of calls of Java.
    return sf.expr(f"xxhash64({', '.join(f'{value}, {value} IS NULL' for value in values)})")


def _value(name: str) -> str:
    if name == _TOPIC:
        return "coalesce(topic_id, topic)"
    if name == "blockers":
        return "to_json(sort_array(blockers))"
    if name in _ARRAYS:
        return rf"concat_ws('\0', sort_array(`{name}`))"
    return f"`{name}`"


def digest_of(hashes: str) -> Column:
    """An aggregate: row hashes (SQL of a BIGINT, NULL counts for nothing) summed mod 2^64, as 16
    hex digits.

    The halves are summed apart, because a sum past BIGINT is an error in Spark.
    """
    low = f"coalesce(sum({hashes} & {_HALF}L), 0L)"
    high = f"coalesce(sum(shiftrightunsigned({hashes}, 32)), 0L)"
    carried = f"shiftleft(({high} + shiftright({low}, 32)) & {_HALF}L, 32)"
    # Not lower(hex(..)): the first call of lower keeps Spark's scheduler busy for two seconds,
    # making tables of all letters there are.
    return sf.expr(f"format_string('%016x', {carried} | ({low} & {_HALF}L))")


def add_digests(*digests: str) -> str:
    """Digest of the union of disjoint parts."""
    return f"{sum(int(digest, 16) for digest in digests) % _MODULUS:016x}"


def observed(frame: DataFrame, table: str, observation: Observation) -> DataFrame:
    """The same frame; when it is written, `observation` has rows, rows_final, and for tables of
    DIGESTED digest and digest_final.

    Tables without is_final have none that is final but `topics`, whose rows never change.
    """
    is_final = "is_final" if "is_final" in frame.columns else str(table == "topics")
    counts = [
        sf.expr("count(1)").alias("rows"),
        sf.expr(f"count_if({is_final})").alias("rows_final"),
    ]
    if table not in DIGESTED:
        return frame.observe(observation, *counts)
    digests = [
        digest_of("_row_hash").alias("digest"),
        digest_of(f"if({is_final}, _row_hash, NULL)").alias("digest_final"),
    ]
    return (
        frame.withColumn("_row_hash", row_hash(table))
        .observe(observation, *counts, *digests)
        .drop("_row_hash")
    )
