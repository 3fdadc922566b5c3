"""Table `group_state`: the state of each group's machine, carried to the next night."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.report.joins.columns import integer, night
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.workers.fact_frames import GroupState


def group_state(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    return inputs.staged.where(sf.col("kind") == "group_state").select(
        *night(context), "group_id", integer("offsets_partition"), "state_bytes"
    )


SPEC: Final = TableSpec(
    name="group_state",
    build=group_state,
    facts=(GroupState,),
)
