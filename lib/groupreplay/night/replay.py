"""Step replay of one night: what it landed and the states of the night before -> facts and states,
staged for the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as sf

from groupreplay.errors import ConfigError, StatesOutdated
from groupreplay.night.frames.evidence import EVIDENCE_TABLE, latest_evidence_states, proved
from groupreplay.night.frames.replay import latest_states, replayed, slices_for
from groupreplay.night.land_lines import RAW_LINES
from groupreplay.night.night import Night
from groupreplay.night.plan import Plan
from groupreplay.night.query_compiler import fit_to
from groupreplay.report.tables.topics import GIVEN
from groupreplay.tables.damage import is_state_error
from groupreplay.tables.runs import REPLAYED


def replay_landed(night: Night) -> None:
    """LANDED -> REPLAYED."""
    night.choose_groups()
    spark, landing, left_out = night.warehouse.spark, night.landing, night.left_out
    fit_to(spark, landing.rows)
    with night.timed("replay") as progress:
        _check_kept(night)
        states = (
            latest_states(
                left_out.kept_states(night.rows("group_state")),
                night.logical_date,
                landing.states_from,
            )
            if _has_states(night)
            else None
        )
        slices = night.config.replay.slices or slices_for(
            landing.rows, spark.sparkContext.defaultParallelism
        )
        progress.expect(landing.rows, "rows", tasks=slices)
        records = left_out.kept_records(night.records())
        facts = replayed(
            spark, records, states, night.holes(), _given_names(night), slices, night.ended_logs()
        )
        observation = Observation("replayed")
        shaped = night.warehouse.shaped("replayed", facts.withColumns(night.labels()))
        rows = shaped.observe(
            observation,
            sf.coalesce(sf.sum("rows"), sf.lit(0)).alias("rows"),
            sf.collect_set("kind").alias("kinds"),
        )
        with _reading_states("group_state"):
            version = night.warehouse.replace(
                "replayed", rows, f"cluster = '{night.config.cluster}'", night.metadata("replay")
            )
        plan = _prove(night)
    found = observation.get
    staged = {
        "staged_version": version,
        "staged_rows": found["rows"],
        "staged_kinds": tuple(sorted(found["kinds"])),
    }
    plan = replace(plan, **staged, left_out=left_out.records)
    night.advance(REPLAYED, plan)


def _has_states(night: Night) -> bool:
    """Whether a night before this one can have left any that count."""
    return night.earlier is not None and night.landing.states_from != str(night.logical_date)


@contextmanager
def _reading_states(table: str) -> Iterator[None]:
    """Raises StatesOutdated where a worker could not read the state of a group."""
    try:
        yield
    except Exception as error:
        if not is_state_error(error):
            raise
        raise StatesOutdated(table) from error


def _check_kept(night: Night) -> None:
    """A night that runs again needs its raw rows: without them it would be published empty. Raises
    ConfigError where they were deleted.
    """
    if not night.landing.rows or night.plan.units:
        return
    if night.records().where(sf.col("logical_date") == sf.lit(night.logical_date)).isEmpty():
        raise ConfigError(
            "--logical-date",
            "",
            f"{night.logical_date} cannot run again: its rows were deleted from raw_records",
        )


def _prove(night: Night) -> Plan:
    """What lines of broker logs prove, into `evidence`; nothing where none was ever landed."""
    warehouse, plan = night.warehouse, night.plan
    if plan.lines is None:
        return plan
    warehouse.create_all([EVIDENCE_TABLE])
    states_from = night.landing.states_from
    is_first = warehouse.version(EVIDENCE_TABLE) == 0 or states_from == str(night.logical_date)
    kept = night.left_out.kept_evidence(night.rows(EVIDENCE_TABLE))
    states = None if is_first else latest_evidence_states(kept, night.logical_date, states_from)
    slices = night.config.replay.slices or slices_for(
        plan.lines.rows, warehouse.spark.sparkContext.defaultParallelism
    )
    facts = proved(_replayed_lines(night), states, plan.lines.newest_ms, slices)
    if facts is None:
        return plan
    observation = Observation("evidence")
    shaped = warehouse.shaped(EVIDENCE_TABLE, facts.withColumns(night.labels()))
    rows = shaped.observe(observation, sf.collect_set("kind").alias("kinds"))
    where = f"cluster = '{night.config.cluster}' AND logical_date = DATE'{night.logical_date}'"
    with _reading_states(EVIDENCE_TABLE):
        version = warehouse.replace(EVIDENCE_TABLE, rows, where, night.metadata("replay"))
    return replace(
        plan, evidence_version=version, evidence_kinds=tuple(sorted(observation.get["kinds"]))
    )


def _replayed_lines(night: Night) -> DataFrame | None:
    """Those of this night, and what it missed of groups that come back."""
    own, left_out = night.lines(), night.left_out
    if own is not None:
        own = left_out.kept_lines(own)
    if left_out.since is None:
        return own
    missed = night.rows(RAW_LINES).where(
        (sf.col("logical_date") < sf.lit(night.logical_date)) & left_out.is_missed()
    )
    return missed if own is None else own.unionByName(missed)


def _given_names(night: Night) -> dict[str, str]:
    """Topic id -> name as topics sources gave it, on this night or one before: a topic that was
    deleted keeps its name.
    """
    names: dict[str, str] = {}
    if night.earlier is not None:
        known = night.rows("topics").where(
            (sf.col("source") == GIVEN) & (sf.col("logical_date") < sf.lit(night.logical_date))
        )
        names = {
            row["topic_id"]: row["topic"] for row in known.select("topic_id", "topic").collect()
        }
    return names | {topic.topic_id: topic.topic for topic in night.inputs.topics}
