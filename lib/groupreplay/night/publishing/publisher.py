"""Step publish: each table's frame replaces, in one commit, what the night may change; all commits
back to back, on a few driver threads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import date
from graphlib import TopologicalSorter
from typing import Any, Final

from pyspark.sql import DataFrame, Observation

from groupreplay.night.engine.held_rows import HELD_ROWS, held, held_in_one_partition
from groupreplay.report.catalog import SPECS, waits
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import EMPTY, add_digests, observed
from groupreplay.report.summary.frames import SUMMARY_TABLES
from groupreplay.report.table_frames import NightRows
from groupreplay.report.table_inputs import StoredTables
from groupreplay.report.table_spec import TableSpec
from groupreplay.report.words.privacy import HashKeys, hidden
from groupreplay.tables.row_range import RowRange
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


PUBLISHED: Final = tuple(SPECS)
"""Every table that a night publishes."""

_READ_AGAIN: Final = frozenset(name for spec in SPECS.values() for name in spec.tables)
"""Tables that others are made of."""


@dataclass(slots=True)
class Published:
    """Version and rows of this night of each table, and for tables that have one the digest of all
    rows and of all final rows.
    """

    versions: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    digest: dict[str, str] = field(default_factory=dict)
    digest_final: dict[str, str] = field(default_factory=dict)


def run_in_order(waits_for: Mapping[str, Iterable[str]], run: Callable[[str], None]) -> None:
    """Runs each key on THREADS threads, when those that it waits for have ended; of keys that wait
    for nothing, the first goes first. The error of a key is raised when all that run have ended;
    keys that wait for it are not run.
    """
    places = {name: place for place, name in enumerate(waits_for)}
    waiting = TopologicalSorter(waits_for)
    waiting.prepare()
    running: dict[Future[None], str] = {}
    failed: list[Future[None]] = []
    with ThreadPoolExecutor(THREADS) as threads:
        while True:
            ready = sorted(waiting.get_ready(), key=places.__getitem__)
            running |= {threads.submit(run, name): name for name in ready}
            if not running:
                break
            for ended in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(ended)
                if ended.exception() is None:
                    waiting.done(name)
                else:
                    failed.append(ended)
    for each in failed:
        each.result()


class Publisher:
    """Commits one night's tables.

    earlier: table -> digest_final of the night before.
    keys: keys that hash what analysts must not see, None where they may see everything.
    asked: tables that are asked again once they are committed.
    in_one_task: as in `fit_to`.
    kept: asked tables -> the rows that this night committed: those in memory, or in its files.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        logical_date: date,
        earlier: Mapping[str, str],
        staged_rows: int,
        user_metadata: Mapping[str, Any],
        keys: HashKeys | None = None,
        asked: Collection[str] = SUMMARY_TABLES,
        *,
        in_one_task: bool = False,
    ) -> None:
        self._warehouse, self._logical_date, self._earlier = warehouse, logical_date, earlier
        self._tasks = max(1, -(-staged_rows // TASK_ROWS))
        self._asked = {*asked, *_READ_AGAIN}
        self._keeps = self._asked if staged_rows <= HELD_ROWS else frozenset[str]()
        self._held = held_in_one_partition if in_one_task else held
        self._new: frozenset[str] = frozenset()
        self._within: list[DataFrame] = []
        self._user_metadata, self._keys = user_metadata, keys
        self.published = Published()
        self.kept: dict[str, DataFrame] = {}

    def publish(self, rows: NightRows, kinds: Collection[str], context: ReportContext) -> None:
        """Commits all tables, each when those that it is made of are committed. An error of one is
        raised when all have ended; tables that wait for that one are not committed.

        kinds: kinds of the staged, raw and evidence rows that there are.
        """

        of_earlier = {name for spec in SPECS.values() for name in spec.earlier}
        self._new = frozenset(name for name in of_earlier if self._warehouse.version(name) == 0)

        def commit(name: str) -> None:
            self._commit_table(SPECS[name], rows, kinds, context)

        rows = replace(rows, held=self._hold)
        try:
            run_in_order(waits(SPECS.values()), commit)
        finally:
            for each in self._within:
                each.unpersist()

    def _hold(self, frame: DataFrame) -> DataFrame:
        self._within.append(held_frame := self._held(frame))
        return held_frame

    def _commit_table(
        self, spec: TableSpec, rows: NightRows, kinds: Collection[str], context: ReportContext
    ) -> None:
        version = self._warehouse.version(spec.name)
        never_had_rows = spec.is_of_evidence and context.evidence_tonight is None
        if never_had_rows or (version == 0 and not self._can_have_rows(spec, kinds)):
            # No rows, and none of this cluster to replace: even the empty commit that Delta would
            # leave out costs a second.
            digests = {"digest": EMPTY, "digest_final": EMPTY} if spec.digest else {}
            self._note(spec.name, version, {"rows": 0, **digests})
            return
        stored = StoredTables(
            self._logical_date, self._rows, spec.tables, spec.earlier, self._new, self.kept
        )
        frame = rows.frame(spec, context, stored)
        if spec.name not in INTERNAL and not spec.is_of_tables:
            frame = hidden(spec, frame, self._keys)
        if spec.name in self._keeps:
            frame = self._held(self._warehouse.shaped(spec.name, frame))
            self.kept[spec.name] = frame
        self._commit(spec, frame)

    def _can_have_rows(self, spec: TableSpec, kinds: Collection[str]) -> bool:
        if not spec.is_of_tables:
            return spec.has_rows_of(kinds)
        return any(self.published.counts[name] for name in spec.tables) or any(
            self._warehouse.version(name) > 0 for name in spec.earlier
        )

    def _rows(self, name: str) -> DataFrame:
        """Rows of the cluster, of all nights."""
        return self._warehouse.rows(name, RowRange(self._warehouse.cluster))

    def _commit(self, spec: TableSpec, frame: DataFrame) -> None:
        observation = Observation(spec.name)
        rows = observed(frame, spec, observation).coalesce(self._tasks)
        version = self._warehouse.replace(
            spec.name, rows, self._replaced(spec.name), self._user_metadata
        )
        self._note(spec.name, version, observation.get)
        if spec.name in self._asked and spec.name not in self.kept and observation.get["rows"]:
            committed = self._warehouse.committed(spec.name, version, self._user_metadata)
            if committed is not None:
                self.kept[spec.name] = committed

    def _replaced(self, name: str) -> RowRange:
        """The rows that a night replaces: its own, and all that are not final, which every night
        writes again. Final rows of other nights stay.
        """
        with_open = "is_final" in self._warehouse.schema(name).partition_columns
        return RowRange(self._warehouse.cluster, self._logical_date, with_open=with_open)

    def _note(self, name: str, version: int, found: Mapping[str, Any]) -> None:
        published = self.published
        published.versions[name], published.counts[name] = version, found["rows"]
        if "digest" in found:
            earlier = self._earlier.get(name, EMPTY)
            published.digest[name] = add_digests(earlier, found["digest"])
            published.digest_final[name] = add_digests(earlier, found["digest_final"])
