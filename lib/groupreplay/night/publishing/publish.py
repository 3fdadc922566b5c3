"""Steps report and publish of one night: what was staged -> every table, the statements that read
them, and the summary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import EVIDENCE_FACTS
from groupreplay.night.catalog_names import register_names
from groupreplay.night.engine.held_rows import (
    HELD_BYTES,
    HELD_ROWS,
    PACKED_BYTES,
    held,
    held_in_one_partition,
)
from groupreplay.night.engine.query_compiler import ASKED_ROWS, fit_to
from groupreplay.night.frames.evidence import EVIDENCE_TABLE
from groupreplay.night.frames.night_rows import Extent, replayed_records
from groupreplay.night.landing.record_stream import RAW_RECORDS
from groupreplay.night.night_run import NightRun
from groupreplay.night.pages import asked_tables, begin_pages, drawn_pages, write_pages
from groupreplay.night.plans.night import Night
from groupreplay.night.plans.results import Results
from groupreplay.night.publishing.publisher import PUBLISHED, THREADS, Published, Publisher
from groupreplay.night.replay import lines_of
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.group_owners import owners
from groupreplay.report.statements import statements
from groupreplay.report.summary.frames import SUMMARY_TABLES, summary_frames, summary_rows
from groupreplay.report.summary.model import NightSummary
from groupreplay.report.summary.read import night_summary
from groupreplay.report.table_frames import NightRows
from groupreplay.tables.run_rows import DONE
from groupreplay.tables.sql_files import write_sql
from groupreplay.workers.evidence_slices import EvidenceState


def publish_replayed(
    run: NightRun, extent: Extent, *, summarized: bool = False
) -> NightSummary | None:
    """REPLAYED -> DONE.

    extent: what was replayed.
    summarized: gives the summary of the night, else None.
    """
    kept: dict[str, DataFrame] = {}
    try:
        summary = _publish(run, extent, kept, summarized=summarized)
        # What comes next in the session may have more rows.
        fit_to(run.night.warehouse.spark, run.results.staged_rows)
        return summary
    finally:
        for frame in kept.values():
            frame.unpersist()


def _publish(
    run: NightRun, extent: Extent, kept: dict[str, DataFrame], *, summarized: bool
) -> NightSummary | None:
    """kept: gets the frames that are held in memory."""
    night, results, earlier = run.night, run.results, run.night.earlier
    is_small = results.staged_rows + extent.landing.rows <= HELD_ROWS
    fit_to(night.warehouse.spark, results.staged_rows, in_one_task=is_small)
    with run.timed("publish") as progress:
        lines = lines_of(night, results)
        raw = replayed_records(night.rows(RAW_RECORDS), extent)
        replayed = night.rows("replayed", results.staged_version)
        if is_small:
            replayed, raw = held_in_one_partition(replayed), held_in_one_partition(raw)
            kept |= {"replayed": replayed, "raw_records": raw}
        elif night.warehouse.size_bytes("replayed") <= PACKED_BYTES:
            kept["replayed"] = replayed = held(replayed)
        rows = NightRows(replayed, raw, lines, _given_topics(night))
        digest_final, metadata = earlier.digest_final if earlier else {}, run.metadata("publish")
        publisher = Publisher(
            night.warehouse,
            night.logical_date,
            digest_final,
            results.staged_rows,
            metadata,
            night.keys,
            (*SUMMARY_TABLES, *asked_tables(night.config.page)),
            in_one_task=is_small,
        )
        kinds = {*results.kinds, *_evidence_kinds(night, results)}
        context = _context(night, results, _evidence(night, results, kept, is_small=is_small))
        if night.config.owner_rules:
            kept["owners"] = held(
                owners(rows.group_ids(context.evidence_tonight), night.config.owner_rules)
            )
            context = replace(context, owners=kept["owners"])
        progress.expect(len(PUBLISHED), "tables", counted=lambda: len(publisher.published.versions))
        publisher.publish(rows, kinds, context)
        kept |= publisher.kept
    published = publisher.published
    counts = {**published.counts, "landed": extent.landing.rows, "left_out": results.left_out}
    fit_to(
        night.warehouse.spark,
        sum(published.counts.values()),
        few=ASKED_ROWS,
        in_one_task=is_small,
    )
    begin_pages(night, results.landed.as_of_ms)
    with ThreadPoolExecutor(2) as thread:
        # The summary and the page ask tables that are there already, while `runs` is written: a
        # commit keeps one core busy for a second.
        summary = thread.submit(_summary, run, kept, counts) if summarized else None
        pages = thread.submit(drawn_pages, night, results.landed.as_of_ms, kept, counts)
        run.advance(DONE, results, **_columns(published), counts=counts)
        # Where nights after this one run again too, the statements are those of the last.
        is_newest = all(each.logical_date <= night.logical_date for each in night.nights)
        if is_newest:
            texts = statements(night.config.waves, night.config.brokers)
            write_sql(night.warehouse, night.logical_date, published.versions, texts)
        try:
            if is_newest:
                register_names(
                    night.config, night.warehouse, night.logical_date, published.versions
                )
        finally:
            # Only a night that is DONE has a page, and a catalog that refuses costs it none.
            page = write_pages(night, pages.result())
    return replace(summary.result(), page=page) if summary else None


def _summary(
    run: NightRun, kept: Mapping[str, DataFrame], counts: Mapping[str, int]
) -> NightSummary:
    """Summary of the night that was just published.

    kept: frames that are held in memory.
    counts: rows of each table.
    """
    night = run.night
    empty = {name for name, rows in counts.items() if rows == 0}
    frames = summary_frames(
        lambda name: kept[name] if name in kept else night.rows(name),
        night.logical_date,
        night.config.report.top,
        empty,
    )
    with ThreadPoolExecutor(THREADS) as threads:
        rows = threads.map(lambda frame: summary_rows(frame.collect()), frames.values())
        found = dict(zip(frames, rows, strict=True))
    as_of_ms = run.results.landed.as_of_ms
    return night_summary(
        found,
        cluster=night.config.cluster,
        logical_date=night.logical_date,
        as_of_ms=as_of_ms if as_of_ms >= 0 else None,
    )


def _evidence_kinds(night: Night, results: Results) -> Sequence[str]:
    """Kinds that `evidence` may hold for this night; any, where lines came with a later one."""
    later = any(
        each.lines is not None for each in night.nights if each.logical_date > night.logical_date
    )
    return [kind.KIND for kind in EVIDENCE_FACTS] if later else results.evidence_kinds


def _given_topics(night: Night) -> DataFrame:
    """`NightRows.given_topics`."""
    columns = {"topic_id": pa.string(), "topic": pa.string(), "partitions": pa.int32()}
    given = {
        name: pa.array([getattr(topic, name) for topic in night.inputs.topics], kind)
        for name, kind in columns.items()
    }
    return night.warehouse.spark.createDataFrame(pa.table(given))


def _evidence(
    night: Night, results: Results, kept: dict[str, DataFrame], *, is_small: bool
) -> tuple[DataFrame, DataFrame] | None:
    """Evidence that may say something of this night, and what it wrote itself; None where no line
    of a broker was ever landed.

    kept: gets the frame, where it is held in memory.
    is_small: the night is small enough to be held in one partition.
    """
    of_lines = [each.logical_date for each in night.nights if each.lines is not None]
    if results.evidence_version < 0 and not (of_lines and night.warehouse.exists(EVIDENCE_TABLE)):
        return None
    # Lines may have come with a later night. Every night reports again what is open, and the newest
    # knows most.
    version = results.evidence_version if results.evidence_version >= 0 else None
    newest = max([night.logical_date, *of_lines])
    is_current = sf.col("is_final") | (sf.col("logical_date") == sf.lit(newest))
    is_of_tonight = sf.col("logical_date") == sf.lit(night.logical_date)
    rows = night.rows(EVIDENCE_TABLE, version).where(sf.col("kind") != EvidenceState.KIND)
    if is_small and night.warehouse.size_bytes(EVIDENCE_TABLE) <= HELD_BYTES:
        rows = kept[EVIDENCE_TABLE] = held_in_one_partition(rows.where(is_current | is_of_tonight))
    return rows.where(is_current), rows.where(is_of_tonight)


def _context(
    night: Night, results: Results, evidence: tuple[DataFrame, DataFrame] | None
) -> ReportContext:
    of_all, of_tonight = evidence or (None, None)
    before = night.earlier.landing if night.earlier else None
    return ReportContext(
        cluster=night.config.cluster,
        logical_date=night.logical_date,
        as_of_ms=max(results.landed.as_of_ms, 0),
        thresholds=night.config.thresholds,
        thresholds_by_group=night.config.thresholds_by_group,
        evidence=of_all,
        evidence_tonight=of_tonight,
        lines_as_of_ms=results.lines.newest_ms if results.lines else -1,
        log_kinds=frozenset(source.kind for source in night.config.sources),
        groups=results.groups,
        brokers=night.config.brokers,
        waves=night.config.waves,
        static=night.config.static,
        what_if=night.config.what_if,
        readiness=night.config.readiness,
        clients=night.config.clients,
        read_until_ms=results.landed.read_until_ms(before),
    )


def _columns(published: Published) -> dict[str, Any]:
    return {
        "table_versions": dict(published.versions),
        "digest": dict(published.digest),
        "digest_final": dict(published.digest_final),
    }
