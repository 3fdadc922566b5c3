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
from groupreplay.night.frames.evidence import EVIDENCE_TABLE
from groupreplay.night.night import Night
from groupreplay.night.publisher import PUBLISHED, SMALL_ROWS, THREADS, Published, Publisher
from groupreplay.night.query_compiler import fit_to
from groupreplay.report.joins.context import ReportContext
from groupreplay.report.joins.owners import owners
from groupreplay.report.night_rows import NightRows
from groupreplay.report.summary.frames import SUMMARY_TABLES, summary_frames, summary_rows
from groupreplay.report.summary.model import NightSummary
from groupreplay.report.summary.read import night_summary
from groupreplay.tables.runs import DONE
from groupreplay.tables.sql_files import write_sql


def publish_replayed(night: Night, *, tells: bool = False) -> NightSummary | None:
    """REPLAYED -> DONE. tells: gives the summary of the night, otherwise None."""
    landing, plan, earlier = night.landing, night.plan, night.earlier
    fit_to(night.warehouse.spark, plan.staged_rows)
    with night.timed("publish") as progress:
        lines = night.lines()
        replayed, raw = night.rows("replayed", plan.staged_version), night.records()
        if plan.staged_rows + landing.rows <= SMALL_ROWS:
            replayed, raw = replayed.persist(), raw.persist()
            night.kept |= {"replayed": replayed, "raw_records": raw}
        rows = NightRows(replayed, raw, lines, _given_topics(night))
        digest_final, metadata = earlier.digest_final if earlier else {}, night.metadata("publish")
        publisher = Publisher(
            night.warehouse,
            night.logical_date,
            digest_final,
            plan.staged_rows,
            metadata,
            night.keys,
        )
        kinds = {
            *plan.staged_kinds,
            *landing.kinds,
            *(plan.lines.kinds if plan.lines else ()),
            *_evidence_kinds(night),
        }
        context = _context(night)
        if night.config.owner_rules:
            night.kept["owners"] = owners(
                rows.group_ids(context.evidence_tonight), night.config.owner_rules
            ).persist()
            context = replace(context, owners=night.kept["owners"])
        progress.expect(len(PUBLISHED), "tables", counted=lambda: len(publisher.published.versions))
        publisher.publish(rows, kinds, context)
        night.kept |= publisher.kept
    published = publisher.published
    counts = {**published.counts, "landed": landing.rows, "left_out": plan.left_out}
    with ThreadPoolExecutor(1) as thread:
        # What is told is asked of tables that are there already, while `runs` is written: a commit
        # keeps one core busy for a second.
        telling = thread.submit(_summary, night, counts) if tells else None
        night.advance(DONE, plan, **_columns(published), counts=counts)
        # Where nights after this one run again too, the last of them is what readers are told to
        # read.
        if all(each.logical_date <= night.logical_date for each in night.nights):
            write_sql(night.warehouse, night.logical_date, published.versions)
    return telling.result() if telling else None


def _summary(night: Night, counts: Mapping[str, int]) -> NightSummary:
    """Of the night that was just published. counts: rows of each table."""
    tables = {
        name: night.kept[name] if name in night.kept else night.rows(name)
        for name in SUMMARY_TABLES
    }
    empty = {name for name, rows in counts.items() if rows == 0}
    frames = summary_frames(tables, night.logical_date, night.config.report.top, empty)
    with ThreadPoolExecutor(THREADS) as threads:
        rows = threads.map(lambda frame: summary_rows(frame.collect()), frames.values())
        found = dict(zip(frames, rows, strict=True))
    return night_summary(
        found,
        cluster=night.config.cluster,
        logical_date=night.logical_date,
        as_of_ms=night.landing.as_of_ms if night.landing.as_of_ms >= 0 else None,
    )


def _evidence_kinds(night: Night) -> Sequence[str]:
    """Kinds that `evidence` may hold for this night; any, where lines came with a later one."""
    later = any(
        each.lines is not None for each in night.nights if each.logical_date > night.logical_date
    )
    return [kind.KIND for kind in EVIDENCE_FACTS] if later else night.plan.evidence_kinds


def _given_topics(night: Night) -> DataFrame:
    """`NightRows.given_topics`."""
    columns = {"topic_id": pa.string(), "topic": pa.string(), "partitions": pa.int32()}
    given = {
        name: pa.array([getattr(topic, name) for topic in night.inputs.topics], kind)
        for name, kind in columns.items()
    }
    return night.warehouse.spark.createDataFrame(pa.table(given))


def _context(night: Night) -> ReportContext:
    plan, evidence, tonight = night.plan, None, None
    of_lines = [each.logical_date for each in night.nights if each.lines is not None]
    if plan.evidence_version >= 0 or (of_lines and night.warehouse.exists(EVIDENCE_TABLE)):
        # Lines may have come with a later night. What was open is told again by every night, and
        # the newest knows most.
        version = plan.evidence_version if plan.evidence_version >= 0 else None
        rows = night.rows(EVIDENCE_TABLE, version)
        newest = max([night.logical_date, *of_lines])
        evidence = rows.where(sf.col("is_final") | (sf.col("logical_date") == sf.lit(newest)))
        tonight = rows.where(sf.col("logical_date") == sf.lit(night.logical_date))
    return ReportContext(
        cluster=night.config.cluster,
        logical_date=night.logical_date,
        as_of_ms=max(night.landing.as_of_ms, 0),
        thresholds=night.config.thresholds,
        thresholds_by_group=night.config.thresholds_by_group,
        evidence=evidence,
        evidence_tonight=tonight,
        lines_as_of_ms=plan.lines.newest_ms if plan.lines else -1,
        log_kinds=frozenset(source.kind for source in night.config.sources),
        groups=plan.groups,
    )


def _columns(published: Published) -> dict[str, Any]:
    return {
        "table_versions": dict(published.versions),
        "digest": dict(published.digest),
        "digest_final": dict(published.digest_final),
    }
