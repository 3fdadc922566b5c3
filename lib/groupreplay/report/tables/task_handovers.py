"""Table `task_handovers`: every task that left a process as active, and what became of it."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.streams_facts import TaskHandOver
from groupreplay.report.digest import GROUP
from groupreplay.report.joins.columns import durations, fact_columns, instants, integer
from groupreplay.report.joins.tasks import task_columns
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec


def task_handovers(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    return inputs.staged.where(sf.col("kind") == TaskHandOver.KIND).select(
        *fact_columns(context),
        "protocol",
        *task_columns(),
        "from_member_id",
        "from_process_id",
        "to_member_id",
        "to_process_id",
        sf.col("hand_over_kind").alias("kind"),
        "cause",
        *instants("learning_started_at"),
        *durations("learning_ms"),
        integer("probes"),
        *instants("last_not_ready_at", "ready_at"),
        "ready_sum",
        *instants("target_at", "requested_at", "released_at", "granted_at", "first_commit_at"),
        *durations(*_STEPS),
        "gap_records",
        "gap_confidence",
        "outcome",
        "is_final",
    )


_STEPS: Final = ("notify_ms", "revoke_ms", "grant_ms", "unowned_ms", "resume_ms", "idle_ms")

SPEC: Final = TableSpec(
    name="task_handovers",
    build=task_handovers,
    facts=(TaskHandOver,),
    is_owned=True,
    members=frozenset({"from_member_id", "from_process_id", "to_member_id", "to_process_id"}),
    clear=frozenset({"topology", "subtopology", "task_id", "kind", "gap_confidence"}),
    digest=(
        *GROUP,
        "protocol",
        "task_id",
        "from_member_id",
        "from_process_id",
        "to_member_id",
        "to_process_id",
        "kind",
        "cause",
        "learning_started_at",
        "learning_ms",
        "probes",
        "last_not_ready_at",
        "ready_at",
        "ready_sum",
        "target_at",
        "requested_at",
        "released_at",
        "granted_at",
        "first_commit_at",
        *_STEPS,
        "gap_records",
        "gap_confidence",
        "outcome",
    ),
)
