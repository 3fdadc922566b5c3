"""Table `streams_subtopologies`: the parts of Kafka Streams applications, and whether they have
state.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.streams_facts import StreamsSubtopology
from groupreplay.report.digest import GROUP, unordered
from groupreplay.report.joins.columns import fact_columns, integer
from groupreplay.report.joins.tasks import subtopology_columns
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec


def streams_subtopologies(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    return inputs.staged.where(sf.col("kind") == StreamsSubtopology.KIND).select(
        *fact_columns(context),
        *subtopology_columns(),
        integer("tasks"),
        "source_topics",
        "changelog_topics",
        "is_stateful",
        "stateful_basis",
        integer("standby_replicas"),
        "has_source_changelog",
        "is_final",
    )


SPEC: Final = TableSpec(
    name="streams_subtopologies",
    build=streams_subtopologies,
    facts=(StreamsSubtopology,),
    is_owned=True,
    clear=frozenset(
        {"topology", "subtopology", "source_topics", "changelog_topics", "stateful_basis"}
    ),
    digest=(
        *GROUP,
        "topology",
        "subtopology",
        "tasks",
        unordered("source_topics"),
        unordered("changelog_topics"),
        "is_stateful",
        "stateful_basis",
        "standby_replicas",
        "has_source_changelog",
    ),
)
