"""Step publish: each table's frame replaces, in one commit, what the night may change; all commits
back to back, on a few driver threads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sf

from groupreplay.report.catalog import (
    KINDS,
    NAME_TOPICS,
    OF_EVIDENCE,
    OF_STAGED,
    OF_STAGED_AND_RAW,
    Sources,
)
from groupreplay.report.joins.context import ReportContext
from groupreplay.report.joins.digest import DIGESTED, EMPTY, add_digests, observed
from groupreplay.report.joins.privacy import HashKeys, hidden
from groupreplay.report.summary.frames import SUMMARY_TABLES
from groupreplay.report.tables.topics import topics
from groupreplay.sources.given_topics import GivenTopic
from groupreplay.tables.schemas import INTERNAL
from groupreplay.tables.warehouse import Warehouse

THREADS: Final = 4
"""A commit costs about a second, most of it planning on the driver; more threads than this gain
nothing.
"""

TASK_ROWS: Final = 250_000
"""Rows of `replayed` for each task that writes a table: small nights write one file, not one a
task.
"""


SMALL_ROWS: Final = 100_000
"""A night of so few rows is kept in memory while tables and summary are made of it: a scan of a
Delta table costs a job to find its files.
"""


PUBLISHED: Final = (*OF_STAGED, *OF_STAGED_AND_RAW, *OF_EVIDENCE, "topics")
"""Every table that a night publishes."""


@dataclass(slots=True)
class Published:
    """Of each table its version, the rows of this night, and for those that have one the digest of
    all its rows and of all that are final.
    """

    versions: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    digest: dict[str, str] = field(default_factory=dict)
    digest_final: dict[str, str] = field(default_factory=dict)


class Publisher:
    """Commits one night's tables.

    earlier: digest_final of the night before.
    keys: of what analysts must not see, None where they may see everything. kept: tables whose rows
        of this night are still in memory, as they were committed.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        logical_date: date,
        earlier: Mapping[str, str],
        staged_rows: int,
        user_metadata: Mapping[str, Any],
        keys: HashKeys | None = None,
    ) -> None:
        self._warehouse, self._logical_date, self._earlier = warehouse, logical_date, earlier
        self._tasks = max(1, -(-staged_rows // TASK_ROWS))
        self._keeps = SUMMARY_TABLES if staged_rows <= SMALL_ROWS else ()
        self._user_metadata, self._keys = user_metadata, keys
        self.published = Published()
        self.kept: dict[str, DataFrame] = {}

    def publish(
        self,
        sources: Sources,
        given: Sequence[GivenTopic],
        kinds: Collection[str],
        context: ReportContext,
    ) -> None:
        """Commits all tables; an error of one is raised when all have ended.

        kinds: of the staged, raw and evidence rows there are.

        context.topics is not used: the tables that name topics wait for the one that holds the
        names.
        """
        first = [
            name
            for name in (*OF_STAGED, *OF_STAGED_AND_RAW, *OF_EVIDENCE)
            if name not in NAME_TOPICS
        ]
        with ThreadPoolExecutor(THREADS) as threads:
            topics_known = threads.submit(
                self._commit_topics, sources.staged("topics", context), given, context
            )
            commits = [
                threads.submit(self._commit_table, name, sources, kinds, context) for name in first
            ]
            named = replace(context, topics=topics_known.result())
            commits += [
                threads.submit(self._commit_table, name, sources, kinds, named)
                for name in sorted(NAME_TOPICS)
            ]
        for commit in commits:
            commit.result()

    def _commit_table(
        self, name: str, sources: Sources, kinds: Collection[str], context: ReportContext
    ) -> None:
        version = self._warehouse.version(name)
        never_had_rows = name in OF_EVIDENCE and context.evidence_tonight is None
        if never_had_rows or (name in KINDS and KINDS[name].isdisjoint(kinds) and version == 0):
            # No rows, and none of this cluster to replace: even the empty commit that Delta would
            # leave out costs a second.
            self._note(
                name,
                version,
                {"rows": 0, "digest": EMPTY, "digest_final": EMPTY}
                if name in DIGESTED
                else {"rows": 0},
            )
            return
        frame = sources.frame(name, context)
        if name not in INTERNAL:
            frame = hidden(name, frame, self._keys)
        if name in self._keeps:
            frame = self.kept[name] = frame.persist()
        self.commit(name, frame)

    def _commit_topics(
        self, staged: DataFrame, given: Sequence[GivenTopic], context: ReportContext
    ) -> DataFrame:
        """Commits the table `topics`; gives (topic_id, topic) of all ids known by now:
        `ReportContext.topics`.
        """
        columns = {"topic_id": pa.string(), "topic": pa.string(), "partitions": pa.int32()}
        table = pa.table(
            {
                name: pa.array([getattr(topic, name) for topic in given], kind)
                for name, kind in columns.items()
            }
        )
        known = self._topics(sf.col("logical_date") < sf.lit(self._logical_date))
        self.commit(
            "topics", topics(staged, self._warehouse.spark.createDataFrame(table), known, context)
        )
        return self._topics(sf.col("logical_date") <= sf.lit(self._logical_date)).select(
            "topic_id", "topic"
        )

    def _topics(self, nights: Column) -> DataFrame:
        return self._warehouse.read("topics").where(
            (sf.col("cluster") == self._warehouse.cluster) & nights
        )

    def commit(self, name: str, frame: DataFrame) -> None:
        """Commits one table."""
        observation = Observation(name)
        rows = observed(frame, name, observation).coalesce(self._tasks)
        version = self._warehouse.replace(name, rows, self._where(name), self._user_metadata)
        self._note(name, version, observation.get)

    def _where(self, name: str) -> str:
        """Rows that are not final are written anew by every night and stand once; final ones belong
        to the night that wrote them.
        """
        night = f"logical_date = DATE'{self._logical_date}'"
        replaced = (
            f"(NOT is_final OR {night})"
            if "is_final" in self._warehouse.schema(name).partition_columns
            else night
        )
        return f"cluster = '{self._warehouse.cluster}' AND {replaced}"

    def _note(self, name: str, version: int, found: Mapping[str, Any]) -> None:
        published = self.published
        published.versions[name], published.counts[name] = version, found["rows"]
        if "digest" in found:
            earlier = self._earlier.get(name, EMPTY)
            published.digest[name] = add_digests(earlier, found["digest"])
            published.digest_final[name] = add_digests(earlier, found["digest_final"])
