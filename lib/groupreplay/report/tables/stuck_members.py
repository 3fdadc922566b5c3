"""Table `stuck_members`: who was, or is, stuck, since when, why, on whom, until when."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Contact, Refusal, Silence
from groupreplay.replay.facts import Chain, Stall
from groupreplay.report.digest import EPISODE, GROUP, MEMBER, unordered
from groupreplay.report.joins.columns import instants, integer
from groupreplay.report.stuck.episodes import (
    FACTS_BESIDE_EVIDENCE,
    episode_columns,
    stuck_episodes,
    stuck_fact_columns,
)
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import Sentence, TableSpec
from groupreplay.report.words.sentences import said_columns, sorted_params


def stuck_members(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    detail, *made_of = said_columns(sf.col("detail_code"), sf.col("detail_params"))
    return stuck_episodes(inputs, of_members=True).select(
        *stuck_fact_columns(context),
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "member_protocol",
        "reason",
        *episode_columns(context),
        sf.coalesce("blocked_by", sf.array().cast("array<string>")).alias("blocked_by"),
        integer("partitions_waiting"),
        integer("partitions_held"),
        *instants("deadline_at"),
        sf.col("episode.until_ms").isNull().alias("is_open"),
        sf.col("episode.repetitions").alias("repetitions"),
        detail,
        "evidence",
        "is_final",
        *made_of,
    )


SPEC: Final = TableSpec(
    name="stuck_members",
    build=stuck_members,
    facts=(Stall, Chain),
    evidence=(Contact, Silence, Refusal),
    facts_with_evidence=FACTS_BESIDE_EVIDENCE,
    is_owned=True,
    sentences=(Sentence("detail_code", "detail_params", "detail"),),
    clear=frozenset({"reason"}),
    digest=(
        *GROUP,
        *MEMBER,
        *EPISODE,
        unordered("blocked_by"),
        "partitions_waiting",
        "partitions_held",
        "deadline_at",
        "repetitions",
        "detail_code",
        sorted_params("detail_params"),
    ),
)
