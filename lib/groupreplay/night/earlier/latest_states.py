"""The states that a night goes on with: of each group, and of each subject of evidence, the one
that the newest night before it left.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.workers.evidence_slices import EvidenceState


def latest_states(group_state: DataFrame, logical_date: date, states_from: str = "") -> DataFrame:
    """The state that the nights before this one left of each group that is alive.

    group_state: the table's rows of one cluster.
    states_from: as in `RecordsLanding`.
    """
    return _newest_of(
        group_state.where(_left_before(logical_date, states_from)), "group_id", "offsets_partition"
    )


def latest_evidence_states(
    evidence: DataFrame, logical_date: date, states_from: str = ""
) -> DataFrame:
    """The state that the nights before left of each subject, where one is kept.

    evidence: the table's rows of one cluster.
    states_from: as in `RecordsLanding`.
    """
    states = evidence.where(
        (sf.col("kind") == EvidenceState.KIND) & _left_before(logical_date, states_from)
    )
    return _newest_of(states, "subject")


def _newest_of(states: DataFrame, *key: str) -> DataFrame:
    """Key and state_bytes of the state that the newest night left of each key, if it is alive.

    states: rows with logical_date, one a key and night.

    Asks Spark first which nights these are, by the keys alone: a state has hundreds of bytes, and
    those of most nights have been superseded.
    """

    def nights_of(rows: DataFrame) -> DataFrame:
        return rows.groupBy(*key).agg(sf.max("logical_date").alias("logical_date"))

    nights = [
        row["logical_date"] for row in nights_of(states).select("logical_date").distinct().collect()
    ]
    rows = states.where(sf.col("logical_date").isin(nights))
    if len(nights) > 1:
        rows = rows.join(nights_of(rows), [*key, "logical_date"], "left_semi")
    return rows.where(sf.col("state_bytes").isNotNull()).select(*key, "state_bytes")


def _left_before(logical_date: date, states_from: str) -> Column:
    """Whether a row was left by a night before this one, and not before a rebuild began."""
    is_before = sf.col("logical_date") < sf.lit(logical_date)
    return (
        is_before & (sf.col("logical_date") >= sf.lit(date.fromisoformat(states_from)))
        if states_from
        else is_before
    )
