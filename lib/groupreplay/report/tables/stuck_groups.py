"""Table `stuck_groups`: groups that were, or are, stuck as a whole."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import AssignorFailure, Outage, Rebalance, Refusal
from groupreplay.replay.facts import Chain, Stall
from groupreplay.report.digest import EPISODE, GROUP
from groupreplay.report.stuck.episodes import (
    FACTS_BESIDE_EVIDENCE,
    episode_columns,
    stuck_episodes,
    stuck_fact_columns,
)
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import Sentence, TableSpec
from groupreplay.report.words.sentences import said_columns, sorted_params


def stuck_groups(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    detail, *made_of = said_columns(sf.col("detail_code"), sf.col("detail_params"))
    return stuck_episodes(inputs, of_members=False).select(
        *stuck_fact_columns(context),
        "reason",
        *episode_columns(context),
        sf.col("episode.until_ms").isNull().alias("is_open"),
        sf.col("episode.repetitions").alias("repetitions"),
        detail,
        "evidence",
        "is_final",
        *made_of,
    )


SPEC: Final = TableSpec(
    name="stuck_groups",
    build=stuck_groups,
    facts=(Stall, Chain),
    evidence=(Refusal, Rebalance, Outage, AssignorFailure),
    facts_with_evidence=FACTS_BESIDE_EVIDENCE,
    is_owned=True,
    sentences=(Sentence("detail_code", "detail_params", "detail"),),
    clear=frozenset({"reason"}),
    digest=(
        *GROUP,
        *EPISODE,
        "repetitions",
        "detail_code",
        sorted_params("detail_params"),
    ),
)
