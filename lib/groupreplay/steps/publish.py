"""Step publish: each table's frame replaces, in one commit, what the night may change; all commits back to back, on a few driver threads."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as sf

from groupreplay.sources.topics import GivenTopic
from groupreplay.tables.warehouse import Warehouse
from groupreplay.transforms.context import ReportContext
from groupreplay.transforms.digest import EMPTY, add_digests, observed
from groupreplay.transforms.topics import topics

THREADS: Final = 4
"""A commit costs about a second, most of it planning on the driver; more threads than this gain nothing."""

TASK_ROWS: Final = 250_000
"""Rows of `replayed` for each task that writes a table: small nights write one file, not one a task."""


@dataclass(slots=True)
class Published:
    """Of each table its version, the rows of this night, and for those that have one the digest of all its rows and of all that are final."""

    versions: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    digest: dict[str, str] = field(default_factory=dict)
    digest_final: dict[str, str] = field(default_factory=dict)


class Publisher:
    """Commits one night's tables. earlier: digest_final of the night before."""

    def __init__(
        self, warehouse: Warehouse, logical_date: date, earlier: Mapping[str, str], staged_rows: int, user_metadata: Mapping[str, Any]
    ) -> None:
        self._warehouse, self._logical_date, self._earlier = warehouse, logical_date, earlier
        self._tasks = max(1, -(-staged_rows // TASK_ROWS))
        self._user_metadata = user_metadata
        self.published = Published()

    def publish(self, frames: Mapping[str, DataFrame]) -> None:
        """Commits these tables; an error of one is raised when all have ended."""
        with ThreadPoolExecutor(THREADS) as threads:
            commits = [threads.submit(self.commit, name, frame) for name, frame in frames.items()]
        for commit in commits:
            commit.result()

    def commit(self, name: str, frame: DataFrame) -> int:
        """Commits one table; returns its version."""
        observation = Observation(name)
        rows = observed(frame, name, observation).coalesce(self._tasks)
        version = self._warehouse.replace(name, rows, self._where(name), self._user_metadata)
        self._note(name, version, observation.get)
        return version

    def _where(self, name: str) -> str:
        """Rows that are not final are written anew by every night and stand once; final ones belong to the night that wrote them."""
        night = f"logical_date = DATE'{self._logical_date}'"
        replaced = f"(NOT is_final OR {night})" if "is_final" in self._warehouse.schema(name).partition_columns else night
        return f"cluster = '{self._warehouse.cluster}' AND {replaced}"

    def _note(self, name: str, version: int, found: Mapping[str, Any]) -> None:
        published = self.published
        published.versions[name], published.counts[name] = version, found["rows"]
        if "digest" in found:
            earlier = self._earlier.get(name, EMPTY)
            published.digest[name] = add_digests(earlier, found["digest"])
            published.digest_final[name] = add_digests(earlier, found["digest_final"])


def publish_topics(publisher: Publisher, warehouse: Warehouse, staged: DataFrame, given: list[GivenTopic], context: ReportContext) -> DataFrame:
    """Commits the table `topics`; returns (topic_id, topic) of all ids known by now: `ReportContext.topics`."""
    columns = {"topic_id": pa.string(), "topic": pa.string(), "partitions": pa.int32()}
    table = pa.table({name: pa.array([getattr(topic, name) for topic in given], kind) for name, kind in columns.items()})
    known = warehouse.read("topics").where((sf.col("cluster") == warehouse.cluster) & (sf.col("logical_date") < sf.lit(context.logical_date)))
    frame = topics(staged, warehouse.spark.createDataFrame(table), known, context)
    version = publisher.commit("topics", frame)
    named = warehouse.read("topics", version).where(
        (sf.col("cluster") == warehouse.cluster) & (sf.col("logical_date") <= sf.lit(context.logical_date))
    )
    return named.select("topic_id", "topic")
