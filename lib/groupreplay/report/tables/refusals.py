"""Table `refusals`: who was refused what, and how often."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import BrokerSetting, Refusal
from groupreplay.report.joins.columns import instants, integer, night
from groupreplay.report.joins.lines.departures import evidence_column
from groupreplay.report.joins.lines.distinct_refusals import distinct_refusals, error_name
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec


def refusals(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    assert context.evidence is not None, "refusals come from lines"
    return _with_bounds(distinct_refusals(inputs.evidence), context.evidence).select(
        *night(context),
        "group_id",
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "subject",
        "api",
        integer("error_code"),
        error_name(sf.col("error_code")).alias("error"),
        "refusal",
        "message",
        *instants("first_at", "last_at"),
        "attempts",
        evidence_column().alias("evidence"),
        "is_final",
        "session_timeout_ms",
        _broken_bound().alias("broken_bound_ms"),
    )


def _with_bounds(runs: DataFrame, evidence: DataFrame) -> DataFrame:
    """With _least and _most: session timeouts of the classic protocol that the broker which refused
    allows, as it was last started; NULL where no line shows it.
    """

    def last(setting: str) -> Column:
        is_it = sf.col("setting") == setting
        told = sf.max_by(sf.when(is_it, sf.col("value")), sf.when(is_it, sf.col("occurred_at")))
        return told.cast("bigint")

    bounds = (
        evidence.where(sf.col("kind") == BrokerSetting.KIND)
        .groupBy(sf.col("broker").alias("_broker"))
        .agg(
            last("group.min.session.timeout.ms").alias("_least"),
            last("group.max.session.timeout.ms").alias("_most"),
        )
    )
    return runs.join(sf.broadcast(bounds), sf.col("broker") == sf.col("_broker"), "left")


def _broken_bound() -> Column:
    """The bound that an INVALID_SESSION_TIMEOUT broke."""
    asked = sf.col("session_timeout_ms")
    bound = sf.when(asked < sf.col("_least"), sf.col("_least")).when(
        asked > sf.col("_most"), sf.col("_most")
    )
    return sf.when(sf.col("error_code") == INVALID_SESSION_TIMEOUT, bound)


INVALID_SESSION_TIMEOUT: Final = 26


SPEC: Final = TableSpec(
    name="refusals",
    build=refusals,
    evidence=(Refusal,),
    is_owned=True,
    quotes=frozenset({"message"}),
)
