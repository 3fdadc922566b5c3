"""Table `topics`, and the names that it gives to ids in other tables.

An id never changes its name in Kafka, so a row is written once, by the first night that knows the
id, and stays when the topic is deleted.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import TopicSeen
from groupreplay.report.joins.columns import instant, integer, night, sane_ms
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

GIVEN = "given"


def topics(inputs: TableInputs) -> DataFrame:
    """The ids that this night is the first to know. What was given goes before what was learnt."""
    context, known = inputs.context, inputs.stored.earlier("topics")
    as_of = sf.lit(context.as_of_ms)
    said = inputs.given_topics.select(
        "topic_id",
        "topic",
        sf.lit(GIVEN).alias("source"),
        as_of.alias("seen_at"),
        sf.col("partitions").cast("bigint"),
    )
    seen = inputs.staged.where(sf.col("kind") == TopicSeen.KIND).select(
        "topic_id", "topic", "source", sane_ms(sf.col("seen_at")).alias("seen_at"), "partitions"
    )
    # A struct's order is that of its fields: given first, then the oldest record; name and source
    # make it the same on every run.
    best = sf.min(sf.struct(sf.col("source") != GIVEN, "seen_at", "topic", "source"))
    merged = (
        said.unionByName(seen)
        .groupBy("topic_id")
        .agg(
            best.alias("best"),
            sf.min("seen_at").alias("seen_at"),
            sf.max("partitions").alias("partitions"),
        )
    )
    return merged.join(
        sf.broadcast(known.select("topic_id").distinct()), "topic_id", "left_anti"
    ).select(
        *night(context),
        "topic_id",
        sf.col("best.topic").alias("topic"),
        instant(sf.col("seen_at"), "first_seen_at"),
        integer("partitions"),
        sf.col("best.source").alias("source"),
    )


def with_topic_names(facts: DataFrame, names: DataFrame) -> DataFrame:
    """`topic` filled in: the fact's own name, else the name of its id, else the id's text.

    names: (topic_id, topic), one row an id.
    """
    learnt = sf.broadcast(names.select("topic_id", sf.col("topic").alias("learnt_topic")))
    return facts.join(learnt, "topic_id", "left").withColumn(
        "topic", sf.coalesce("topic", "learnt_topic", "topic_id")
    )


SPEC: Final = TableSpec(
    name="topics",
    build=topics,
    facts=(TopicSeen,),
    is_built_always=True,
    earlier=("topics",),
    are_rows_final=True,
    digest=("topic_id",),
)
