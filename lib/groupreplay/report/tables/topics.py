"""Table `topics`, and the names that it gives to ids in other tables.

An id never changes its name in Kafka, so a row is written once, by the first night that knows the
id, and stays when the topic is deleted.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import TopicSeen
from groupreplay.report.joins.columns import instant, integer, night, sane_ms
from groupreplay.report.joins.context import ReportContext

GIVEN = "given"


def topics(
    staged: DataFrame, given: DataFrame, known: DataFrame, context: ReportContext
) -> DataFrame:
    """The ids that this night is the first to know.

    given: (topic_id, topic, partitions) of the topics sources; duplicates are allowed.
    known: (topic_id) of `topics`, of nights before this one. What was given goes before what was
        learnt. context.topics is not used.
    """
    as_of = sf.lit(context.as_of_ms)
    said = given.select(
        "topic_id",
        "topic",
        sf.lit(GIVEN).alias("source"),
        as_of.alias("seen_at"),
        sf.col("partitions").cast("bigint"),
    )
    seen = staged.where(sf.col("kind") == TopicSeen.KIND).select(
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


def topic_names(*named: DataFrame) -> DataFrame:
    """`ReportContext.topics` from frames that have topic_id and topic (given, known, tonight's
    `topics`); one row a topic id.
    """
    frames = [frame.select("topic_id", "topic") for frame in named]
    return (
        reduce(DataFrame.unionByName, frames)
        .groupBy("topic_id")
        .agg(sf.min("topic").alias("topic"))
    )


def with_topic_names(facts: DataFrame, names: DataFrame) -> DataFrame:
    """`topic` filled in: the fact's own name, else the name of its id, else the id's text.

    names: (topic_id, topic), one row an id.
    """
    learnt = sf.broadcast(names.select("topic_id", sf.col("topic").alias("learnt_topic")))
    return facts.join(learnt, "topic_id", "left").withColumn(
        "topic", sf.coalesce("topic", "learnt_topic", "topic_id")
    )
