"""Table `member_assignments`: who held which partition, and who had it next."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import HeldPartition
from groupreplay.report.digest import GROUP, TOPIC
from groupreplay.report.joins.columns import fact_columns, instants, integer
from groupreplay.report.joins.lines.departures import (
    LEFT_OR_FENCED,
    end_columns,
    sharpened,
    with_departure,
)
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.report.tables.topics import with_topic_names


def member_assignments(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    held = with_topic_names(
        inputs.staged.where(sf.col("kind") == HeldPartition.KIND), inputs.stored.so_far("topics")
    )
    is_removed = sf.col("end_reason") == LEFT_OR_FENCED
    known = with_departure(
        held,
        context.evidence,
        is_removed,
        sf.col("assigned_at"),
        sf.col("released_at"),
        sf.col("released_epoch"),
    )
    return known.select(
        *fact_columns(context),
        "member_id",
        "instance_id",
        "topic",
        "topic_id",
        integer("partition"),
        *instants("assigned_at", "released_at"),
        integer("assigned_epoch"),
        integer("released_epoch"),
        sharpened("end_reason"),
        "next_member_id",
        *instants("next_assigned_at"),
        "unowned_ms",
        "idle_ms",
        *end_columns("end_reason"),
        "is_final",
        "rewound",
    )


SPEC: Final = TableSpec(
    name="member_assignments",
    build=member_assignments,
    facts=(HeldPartition,),
    tables=("topics",),
    earlier=("topics",),
    is_owned=True,
    digest=(
        *GROUP,
        "member_id",
        "instance_id",
        TOPIC,
        "topic_id",
        "partition",
        "assigned_at",
        "released_at",
        "assigned_epoch",
        "released_epoch",
        "end_reason",
        "next_member_id",
        "next_assigned_at",
        "unowned_ms",
        "idle_ms",
    ),
)
