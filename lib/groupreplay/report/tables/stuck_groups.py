"""Table `stuck_groups`: groups that were, or are, stuck as a whole."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import AssignorFailure, Outage, Rebalance, Refusal
from groupreplay.replay.facts import Chain, Stall
from groupreplay.report.joins.digest import EPISODE, GROUP
from groupreplay.report.joins.episodes import (
    FACTS_BESIDE_EVIDENCE,
    episode_columns,
    stuck_episodes,
    stuck_fact_columns,
)
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec


def stuck_groups(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    return stuck_episodes(inputs.staged, context, of_members=False).select(
        *stuck_fact_columns(context),
        "reason",
        *episode_columns(context),
        sf.col("episode.until_ms").isNull().alias("is_open"),
        sf.col("episode.repetitions").alias("repetitions"),
        "detail",
        "evidence",
        "is_final",
    )


SPEC: Final = TableSpec(
    name="stuck_groups",
    build=stuck_groups,
    facts=(Stall, Chain),
    evidence=(Refusal, Rebalance, Outage, AssignorFailure),
    facts_with_evidence=FACTS_BESIDE_EVIDENCE,
    is_owned=True,
    texts=frozenset({"detail"}),
    clear=frozenset({"reason"}),
    digest=(
        *GROUP,
        *EPISODE,
        "repetitions",
        "detail",
    ),
)
