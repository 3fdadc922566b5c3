"""Table `what_if`: what the waves of `departure_waves` would have cost under another protocol.

The prices are pure functions of one wave (`report.what_if`); this gives them the wave, event by
event, and the times that it is priced by.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.decision_facts import Churn
from groupreplay.replay.facts import Epoch, HandOver, HeldPartition
from groupreplay.report.digest import GROUP
from groupreplay.report.joins.columns import fact_columns, instants, integer
from groupreplay.report.joins.horizons import COVERAGE
from groupreplay.report.joins.lines.departure_ends import WAVE_KEY, with_ends
from groupreplay.report.joins.lines.settings_in_force import broker_settings
from groupreplay.report.joins.measured_times import line_times, record_times
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.report.what_if.rows import PRICED_DDL, Pricing, price_batches
from groupreplay.workers.waves.wave_frames import CHAIN_COLUMNS, EVENTS_DDL, cutting_events

WITHOUT_ROWS: Final = ("START", "STOP")
"""Classes of waves in which partitions come from nobody, or go to nobody."""


OF_WAVES: Final = (
    *WAVE_KEY,
    *("class", "started_at", "to_offset", "start_observed", "is_cut", "is_final"),
    *("est_ms", "est_is_partial"),
)
"""What it takes of `departure_waves`: nothing that is hidden there, for it is hidden as a whole."""


def what_if(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    waves = _with_times(with_ends(_waves(inputs), context), inputs)
    if context.evidence is not None:
        waves = waves.crossJoin(sf.broadcast(broker_settings(context.evidence)))
    own = Pricing(brokers=context.brokers, what_if=context.what_if)
    return waves.mapInArrow(price_batches(own), PRICED_DDL).select(
        *fact_columns(context),
        *instants("started_at"),
        "scenario",
        "is_actual",
        *map(integer, ("events", "rebalances", "moved_min", "stopped_partitions")),
        *("low_ms", "mid_ms", "high_ms", "actual_ms", "delta_pct", "model_error_pct"),
        *("r_ms", "y_ms", "session_ms", "heartbeat_ms", "basis", "refused"),
        "is_final",
    )


# ---------------------------------------------------------------- the waves


def _waves(inputs: TableInputs) -> DataFrame:
    """The waves that `departure_waves` has of this night, event by event, with what is told there:
    so a row here is final with its wave, and no night writes it twice.
    """
    chains = inputs.facts(Churn, columns=CHAIN_COLUMNS).select(*CHAIN_COLUMNS)
    events = chains.mapInArrow(cutting_events(inputs.context.waves.gap_ms), EVENTS_DDL)
    told = inputs.stored.tonight("departure_waves").select(*OF_WAVES)
    told = told.where(~sf.col("class").isin(*WITHOUT_ROWS)).withColumns(
        {"started_at": sf.unix_millis("started_at"), **{f"_{key}": sf.col(key) for key in WAVE_KEY}}
    )
    told = told.drop("class", *WAVE_KEY)
    is_same = [sf.col(name).eqNullSafe(sf.col(f"_{name}")) for name in WAVE_KEY]
    return events.join(told, is_same).drop(*[f"_{name}" for name in WAVE_KEY])


# ---------------------------------------------------------------- the times


def _with_times(waves: DataFrame, inputs: TableInputs) -> DataFrame:
    """With own_times of the group and fleet_times of all groups: of each measure (`what_if.times`)
    how many there are, their percentiles, and the longest.
    """
    # Few, and made of most facts of the night: computed once for both.
    times = inputs.held(_percentiles(_samples(inputs)))
    of_groups, of_all = times.where(~sf.col("is_of_all")), times.where("is_of_all")
    own = of_groups.groupBy("_id").agg(sf.collect_list("times").alias("own_times"))
    fleet = of_all.agg(sf.collect_list("times").alias("fleet_times"))
    joined = waves.join(own, sf.col("group_id") == sf.col("_id"), "left").drop("_id")
    return joined.crossJoin(sf.broadcast(fleet))


def _samples(inputs: TableInputs) -> DataFrame:
    """Times of the night. Another measure comes in there."""
    lines = inputs.context.evidence_tonight
    found = record_times(inputs)
    return found if lines is None else found.unionByName(line_times(lines, inputs))


def _percentiles(samples: DataFrame) -> DataFrame:
    """A row for each group and measure, and one for each measure of all groups: _id, is_of_all,
    and times: a struct with the fields of `Sample` and the measure.
    """
    each = samples.groupingSets([("_id", "measure"), ("measure",)], "_id", "measure")
    found = each.agg(
        (sf.grouping("_id") == 1).alias("is_of_all"),
        sf.count("ms").alias("count"),
        sf.expr("percentile(ms, array(0.1D, 0.5D, 0.9D))").alias("at"),
        sf.max("ms").alias("most"),
    )
    percentiles = [_rounded(sf.col("at")[i]).alias(name) for i, name in enumerate(_PERCENTILES)]
    times = sf.struct("measure", "count", *percentiles, "most").alias("times")
    return found.select("_id", "is_of_all", times)


_PERCENTILES: Final = ("p10", "p50", "p90")


def _rounded(ms: Column) -> Column:
    return sf.floor(ms + 0.5).cast("bigint")


SPEC: Final = TableSpec(
    name="what_if",
    build=what_if,
    facts=(Churn,),
    beside=(HandOver, Epoch, HeldPartition),
    tables=("departure_waves", *COVERAGE),
    earlier=COVERAGE,
    is_owned=True,
    clear=frozenset({"scenario", "basis", "refused"}),
    digest=(*GROUP, "scenario", "started_at", "is_actual", "events"),
)
