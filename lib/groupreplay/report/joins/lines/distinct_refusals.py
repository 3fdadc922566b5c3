"""Refusals of the night, each once, and Kafka's names of their errors."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Refusal
from groupreplay.evidence.refusal_runs import ERRORS

OF_INSTANCES: Final = (82, 111)
"""FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID: the same line whichever request was refused."""


def distinct_refusals(evidence: DataFrame) -> DataFrame:
    """Rows of `evidence` that are refusals, each once: where the request log has a run of the
    same refusal, the broker's own lines of it are the same attempts again; a line of an instance
    that is fenced, or that another member owns, names no request. An answer without a text gets
    that of the lines, where all of them say the same.

    evidence: the rows that the night wrote.
    """
    runs = evidence.where(sf.col("kind") == Refusal.KIND)
    is_of_instance = sf.col("error_code").isin(*OF_INSTANCES)
    request = sf.when(is_of_instance, sf.lit("")).otherwise(sf.col("api"))
    asker = Window.partitionBy("group_id", request, "error_code", "subject")
    is_request = sf.col("source") == "request_log"
    in_requests = sf.max(is_request).over(asker)
    of_lines = sf.when(~is_request, sf.col("message"))
    said = sf.when(
        sf.min(of_lines).over(asker) == sf.max(of_lines).over(asker), sf.min(of_lines).over(asker)
    )
    told = runs.withColumns({"_in_requests": in_requests, "message": sf.coalesce("message", said)})
    return told.where(is_request | ~sf.col("_in_requests")).drop("_in_requests")


def error_name(code: Column) -> Column:
    """Kafka's name of an error code, ERROR_<code> for one that is not known."""
    names = sf.create_map(
        *[sf.lit(each) for number, name in ERRORS.items() for each in (number, name)]
    )
    return sf.coalesce(
        sf.element_at(names, code.cast("int")), sf.concat(sf.lit("ERROR_"), code.cast("string"))
    )
