"""Table `streams_processes`: processes of Kafka Streams applications, as they came and went."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.streams_facts import StreamsProcess
from groupreplay.report.digest import GROUP, unordered
from groupreplay.report.joins.columns import fact_columns, instants, integer
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.report.words.sentences import sorted_params


def streams_processes(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    return inputs.staged.where(sf.col("kind") == StreamsProcess.KIND).select(
        *fact_columns(context),
        "process_id",
        *map(integer, ("threads", "members", "restarts")),
        "hosts",
        _client_tags(),
        "endpoint",
        sf.expr("transform(versions, each -> try_cast(each AS INT))").alias("versions"),
        *instants("joined_at", "left_at"),
        "end_reason",
        "is_final",
    )


def _client_tags() -> Column:
    """Client tags; of a tag that is named twice the first value, as a map has a key once."""
    names = sf.array_distinct("tag_names")

    def value(name: Column) -> Column:
        return sf.get("tag_values", sf.array_position("tag_names", name).cast("int") - 1)

    return sf.map_from_arrays(names, sf.transform(names, value)).alias("client_tags")


SPEC: Final = TableSpec(
    name="streams_processes",
    build=streams_processes,
    facts=(StreamsProcess,),
    is_owned=True,
    hosts=frozenset({"hosts", "endpoint"}),
    tags=frozenset({"client_tags"}),
    digest=(
        *GROUP,
        "process_id",
        "threads",
        "members",
        "restarts",
        unordered("hosts"),
        sorted_params("client_tags"),
        "endpoint",
        "to_json(versions)",
        "joined_at",
        "left_at",
        "end_reason",
    ),
)
