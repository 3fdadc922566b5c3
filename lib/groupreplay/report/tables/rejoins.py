"""Table `rejoins`: when each member of the classic protocol was told to join again, and did."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.report.joins.columns import duration_ms, instants, integer, night
from groupreplay.report.joins.lines.departures import evidence_column
from groupreplay.report.joins.lines.rejoin_times import rejoin_ms
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec


def rejoins(inputs: TableInputs) -> DataFrame:
    return inputs.evidence.where(sf.col("kind") == Rejoin.KIND).select(
        *night(inputs.context),
        "group_id",
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        integer("generation"),
        *instants("told_at", "joined_at", "answered_at", "synced_at"),
        integer("new_generation"),
        rejoin_ms().alias("rejoin_ms"),
        duration_ms("joined_at", "answered_at").alias("wait_ms"),
        evidence_column().alias("evidence"),
        "is_final",
    )


SPEC: Final = TableSpec(name="rejoins", build=rejoins, evidence=(Rejoin,), is_owned=True)
