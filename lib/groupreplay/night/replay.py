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
from groupreplay.night.earlier.latest_states import latest_evidence_states, latest_states
from groupreplay.night.engine.query_compiler import fit_to
from groupreplay.night.extent import find_extent
from groupreplay.night.frames.evidence import EVIDENCE_TABLE, proved
from groupreplay.night.frames.night_rows import (
    Extent,
    landed_lines,
    log_incarnations,
    missed_lines,
    replayed_holes,
    replayed_records,
)
from groupreplay.night.frames.replay import replayed, slices_for
from groupreplay.night.landing.line_stream import RAW_LINES
from groupreplay.night.landing.record_stream import RAW_RECORDS
from groupreplay.night.night_run import NightRun
from groupreplay.night.plans.night import Night
from groupreplay.night.plans.results import Results
from groupreplay.report.tables.topics import GIVEN
from groupreplay.tables.delta.damage import is_state_error
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.run_rows import REPLAYED


def replay_landed(run: NightRun) -> Extent:
    """LANDED -> REPLAYED. Gives what was replayed, for `publish_replayed`."""
    run.keep(replace(run.results, groups=run.night.config.groups))
    extent = find_extent(run.night, run.results)
    fit_to(run.night.warehouse.spark, extent.landing.rows)
    with run.timed("replay") as progress:
        _check_kept(run, extent)
        slices = _slices(run.night, extent.landing.rows)
        progress.expect(extent.landing.rows, "rows", tasks=slices)
        results = _stage(run, extent, slices)
        results = _prove(run, extent, results)
    run.advance(REPLAYED, results)
    return extent


def _slices(night: Night, rows: int) -> int:
    cores = night.warehouse.spark.sparkContext.defaultParallelism
    return night.config.replay.slices or slices_for(rows, cores)


def _stage(run: NightRun, extent: Extent, slices: int) -> Results:
    """Facts and states of the groups, into `replayed`."""
    night, left_out = run.night, extent.left_out
    counted, staged = Observation("left_out"), Observation("replayed")
    raw = replayed_records(night.rows(RAW_RECORDS), extent)
    facts = replayed(
        night.warehouse.spark,
        left_out.kept_records(raw, counted),
        _states(night, extent),
        replayed_holes(extent),
        _given_names(night),
        slices,
        log_incarnations(extent),
    )
    shaped = night.warehouse.shaped("replayed", facts.withColumns(night.labels()))
    rows = shaped.observe(
        staged,
        sf.coalesce(sf.sum("rows"), sf.lit(0)).alias("rows"),
        sf.collect_set("kind").alias("kinds"),
    )
    with _reading_states("group_state"):
        version = night.warehouse.replace(
            "replayed", rows, RowRange(night.config.cluster), run.metadata("replay")
        )
    return replace(
        run.results,
        staged_version=version,
        staged_rows=staged.get["rows"],
        staged_kinds=tuple(sorted(staged.get["kinds"])),
        left_out=int(counted.get["records"]) if left_out.groups else 0,
    )


def _states(night: Night, extent: Extent) -> DataFrame | None:
    """States of the groups, None where no night before this one can have left any that count."""
    states_from = extent.landing.states_from
    if night.earlier is None or states_from == str(night.logical_date):
        return None
    kept = extent.left_out.kept_states(night.rows("group_state"))
    return latest_states(kept, night.logical_date, states_from)


@contextmanager
def _reading_states(table: str) -> Iterator[None]:
    """Raises StatesOutdated where a worker could not read the state of a group."""
    try:
        yield
    except Exception as error:
        if not is_state_error(error):
            raise
        raise StatesOutdated(table) from error


def _check_kept(run: NightRun, extent: Extent) -> None:
    """Raises ConfigError where the night runs again and its raw rows were deleted: without them it
    would be published empty.
    """
    if not extent.landing.rows or run.plan.units:
        return
    logical_date = extent.logical_date
    rows = replayed_records(run.night.rows(RAW_RECORDS), extent)
    if rows.where(sf.col("logical_date") == sf.lit(logical_date)).isEmpty():
        raise ConfigError(
            "--logical-date",
            "",
            f"{logical_date} cannot run again: its rows were deleted from {RAW_RECORDS}",
        )


def _prove(run: NightRun, extent: Extent, results: Results) -> Results:
    """What lines of broker logs prove, into `evidence`. Where none was ever landed there is no such
    table.
    """
    night, warehouse = run.night, run.night.warehouse
    if results.lines is None:
        return results
    warehouse.create_all([EVIDENCE_TABLE])
    states_from = extent.landing.states_from
    is_first = warehouse.version(EVIDENCE_TABLE) == 0 or states_from == str(night.logical_date)
    kept = extent.left_out.kept_evidence(night.rows(EVIDENCE_TABLE))
    states = None if is_first else latest_evidence_states(kept, night.logical_date, states_from)
    facts = proved(
        _replayed_lines(night, extent, results),
        states,
        results.lines.newest_ms,
        _slices(night, results.lines.rows),
    )
    if facts is None:
        return results
    observation = Observation("evidence")
    shaped = warehouse.shaped(EVIDENCE_TABLE, facts.withColumns(night.labels()))
    rows = shaped.observe(observation, sf.collect_set("kind").alias("kinds"))
    of_night = RowRange(night.config.cluster, night.logical_date)
    with _reading_states(EVIDENCE_TABLE):
        version = warehouse.replace(EVIDENCE_TABLE, rows, of_night, run.metadata("replay"))
    return replace(
        results, evidence_version=version, evidence_kinds=tuple(sorted(observation.get["kinds"]))
    )


def _replayed_lines(night: Night, extent: Extent, results: Results) -> DataFrame | None:
    """Lines of this night, and those that nights before left out of groups that come back; None
    without any.
    """
    own, left_out = lines_of(night, results), extent.left_out
    if own is not None:
        own = left_out.kept_lines(own)
    if left_out.since is None:
        return own
    missed = missed_lines(night.rows(RAW_LINES), extent)
    return missed if own is None else own.unionByName(missed)


def lines_of(night: Night, results: Results) -> DataFrame | None:
    """The rows of `raw_lines` that the night landed, None if there are none."""
    if results.lines is None or results.lines.raw_version < 0:
        return None
    return landed_lines(night.rows(RAW_LINES), night.logical_date)


def _given_names(night: Night) -> dict[str, str]:
    """Topic id -> name as sources of topics gave it, on this night or one before: a topic that was
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
