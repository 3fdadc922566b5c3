"""Table `task_assignments`: who held which task of a Kafka Streams application, in which role."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.streams_facts import HeldTask
from groupreplay.report.digest import GROUP
from groupreplay.report.joins.columns import durations, fact_columns, instants, integer
from groupreplay.report.joins.lines.departures import (
    LEFT_OR_FENCED,
    end_columns,
    sharpened,
    with_departure,
)
from groupreplay.report.joins.tasks import task_columns
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec


def task_assignments(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    known = with_departure(
        inputs.staged.where(sf.col("kind") == HeldTask.KIND),
        context.evidence,
        sf.col("end_reason") == LEFT_OR_FENCED,
        sf.col("assigned_at"),
        sf.col("released_at"),
        sf.col("released_epoch"),
    )
    return known.withColumn("restored_records", _restored_records()).select(
        *fact_columns(context),
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "process_id",
        *task_columns(),
        "role",
        "role_confidence",
        *instants("assigned_at", "released_at"),
        integer("assigned_epoch"),
        integer("released_epoch"),
        *instants("owed_since_at"),
        sharpened("end_reason"),
        "first_sum",
        *instants("first_sum_at"),
        "last_sum",
        *instants("last_sum_at"),
        "restored_records",
        _records_per_s(),
        integer("generations"),
        integer("probes"),
        "next_member_id",
        "next_process_id",
        *instants("next_assigned_at"),
        *durations("unowned_ms", "idle_ms"),
        *end_columns("end_reason"),
        "is_final",
    )


def _restored_records() -> Column:
    """NULL where a sum is a sentinel: a running task reports -2, whatever its offsets are."""
    grown = sf.try_subtract(sf.col("last_sum"), sf.col("first_sum"))
    return sf.when((sf.col("first_sum") >= 0) & (grown >= 0), grown)


def _records_per_s() -> Column:
    lasted_ms = sf.try_subtract(sf.col("last_sum_at"), sf.col("first_sum_at"))
    rate = sf.round(1000.0 * sf.col("restored_records") / lasted_ms, 1)
    return sf.when(lasted_ms > 0, rate).alias("records_per_s")


SPEC: Final = TableSpec(
    name="task_assignments",
    build=task_assignments,
    facts=(HeldTask,),
    is_owned=True,
    members=frozenset({"next_process_id"}),
    clear=frozenset({"topology", "subtopology", "task_id", "role", "role_confidence"}),
    digest=(
        *GROUP,
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "process_id",
        "task_id",
        "role",
        "role_confidence",
        "assigned_at",
        "released_at",
        "assigned_epoch",
        "released_epoch",
        "owed_since_at",
        "end_reason",
        "first_sum",
        "first_sum_at",
        "last_sum",
        "last_sum_at",
        "generations",
        "probes",
        "next_member_id",
        "next_process_id",
        "next_assigned_at",
        "unowned_ms",
        "idle_ms",
    ),
)
