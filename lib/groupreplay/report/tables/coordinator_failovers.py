"""Table `coordinator_failovers`: what each move of a coordinator touched, one row a group and
change of its partition's leader.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.decision_facts import Failover
from groupreplay.replay.decisions.failovers import AFTER_MS
from groupreplay.report.digest import GROUP
from groupreplay.report.joins.columns import durations, fact_columns, instant, instants, integer
from groupreplay.report.joins.horizons import COVERAGE, closed, horizons, with_horizon
from groupreplay.report.joins.lines.failover_lines import with_lines
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

DOC_PHASES: Final = {
    "EMPTY": 0,
    "STEADY": 0,
    "ASSIGNING": 1,
    "TARGET_UNTOLD": 2,
    "REVOKING": 3,
    "PARTLY_THERE": 4,
    "PREPARING": 2,
    "COMPLETING": 4,
    "SYNCED": 5,
}
"""Phase -> step of "Co-ordinator failure during rebalance" (the design of 0.9), the first of those
that cannot be parted: PARTLY_THERE is 4 or 5, PREPARING 2 or 3. UNKNOWN has none.
"""

_BEFORE: Final = (
    *("epoch", "target_epoch", "members", "at_epoch", "revoking", "waiting", "away"),
    *("partitions_pending", "partitions_unowned"),
)
_AFTER: Final = ("epochs_after", "joined_after", "removed_after", "lost_after", "moved_after")


def coordinator_failovers(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    facts = with_horizon(inputs.staged.where(sf.col("kind") == Failover.KIND), horizons(inputs))
    facts = closed(facts, sf.col("first_at") + AFTER_MS)
    gap = sf.when(sf.col("start_observed"), sf.col("first_at") - sf.col("last_at"))
    told = with_lines(facts.withColumn("gap_ms", gap), context)
    return told.select(
        *fact_columns(context),
        integer("leader_epoch_before"),
        integer("leader_epoch"),
        "last_offset",
        *instants("last_at", "first_at"),
        *durations("gap_ms"),
        "protocol",
        "phase",
        _doc_phase(),
        *[integer(name) for name in (*_BEFORE, *_AFTER)],
        instant(sf.col("load.occurred_at"), "loaded_at"),
        sf.col("load.duration_ms").alias("load_ms"),
        sf.col("load.broker").cast("int").alias("broker"),
        sf.col("load.moved_from").cast("int").alias("moved_from"),
        "rearmed",
        *durations("unavailable_ms"),
        sf.col("load.evidence").alias("evidence"),
        "is_final",
    )


def _doc_phase() -> Column:
    steps = sf.create_map(
        *[sf.lit(each) for name, step in DOC_PHASES.items() for each in (name, step)]
    )
    return sf.try_element_at(steps, sf.col("phase")).alias("doc_phase")


SPEC: Final = TableSpec(
    name="coordinator_failovers",
    build=coordinator_failovers,
    facts=(Failover,),
    tables=COVERAGE,
    earlier=COVERAGE,
    is_owned=True,
    members=frozenset({"rearmed"}),
    digest=(
        *GROUP,
        *("leader_epoch_before", "leader_epoch", "last_offset", "last_at", "first_at", "gap_ms"),
        *("protocol", "phase", *_BEFORE, *_AFTER),
    ),
)
