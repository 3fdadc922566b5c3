"""Table `group_conversions`: every change of a group between the two protocols."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import Conversion
from groupreplay.report.digest import GROUP
from groupreplay.report.joins.columns import fact_columns, instants, integer
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec


def group_conversions(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    return inputs.staged.where(sf.col("kind") == Conversion.KIND).select(
        *fact_columns(context),
        *instants("converted_at"),
        "direction",
        "mode",
        "trigger_member_id",
        integer("epoch_before"),
        integer("epoch_after"),
        "is_final",
    )


SPEC: Final = TableSpec(
    name="group_conversions",
    build=group_conversions,
    facts=(Conversion,),
    is_owned=True,
    digest=(
        *GROUP,
        "converted_at",
        "direction",
        "mode",
        "trigger_member_id",
        "epoch_before",
        "epoch_after",
    ),
)
