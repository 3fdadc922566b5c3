"""Table `member_states`: what each member was doing, span by span."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import MemberState
from groupreplay.report.digest import GROUP, MEMBER, unordered
from groupreplay.report.joins.columns import fact_columns, instants, integer
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec


def member_states(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    return inputs.staged.where(sf.col("kind") == MemberState.KIND).select(
        *fact_columns(context),
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "member_protocol",
        integer("member_epoch"),
        "state",
        *instants("from_at", "to_at"),
        integer("partitions_assigned"),
        integer("partitions_pending"),
        "waiting_on",
        "end_observed",
        "is_final",
    )


SPEC: Final = TableSpec(
    name="member_states",
    build=member_states,
    facts=(MemberState,),
    is_owned=True,
    digest=(
        *GROUP,
        *MEMBER,
        "member_epoch",
        "state",
        "from_at",
        "to_at",
        "partitions_assigned",
        "partitions_pending",
        unordered("waiting_on"),
    ),
)
