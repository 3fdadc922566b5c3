"""Step report: the rows of one night, and the frame of each table that is made of them. Nothing is
computed yet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.report.context import ReportContext
from groupreplay.report.joins.group_owners import with_owners
from groupreplay.report.table_inputs import StoredTables, TableInputs, as_they_are
from groupreplay.report.table_spec import StagedFacts, TableSpec
from groupreplay.workers.fact_frames import KINDS, UnionSchema
from groupreplay.workers.packed import unpacking


def unpacked(replayed: DataFrame, facts: StagedFacts) -> DataFrame:
    """Rows of table `replayed` -> `kind` and the columns of these facts, a row each; NULL where a
    kind has no such field. Spark also asks for columns that no query reads.
    """
    schema = UnionSchema(facts.kinds, facts.columns)
    packed = replayed.where(sf.col("kind").isin(*[kind.KIND for kind in facts.kinds]))
    return packed.select("kind", "frame").mapInArrow(unpacking(schema), schema.ddl)


@dataclass(frozen=True, slots=True)
class NightRows:
    """What tables are made of.

    replayed: the night's rows of that table.
    raw: the raw rows it replayed (`night.frames.replay.night_records`).
    lines: the rows of `raw_lines` that it landed, None if there are none.
    given_topics: (topic_id, topic, partitions) of the topics sources; duplicates are allowed.
    held: as in `TableInputs`.
    """

    replayed: DataFrame
    raw: DataFrame
    lines: DataFrame | None
    given_topics: DataFrame
    held: Callable[[DataFrame], DataFrame] = as_they_are

    def frame(self, spec: TableSpec, context: ReportContext, stored: StoredTables) -> DataFrame:
        """The rows of one table, with the owners of their groups."""
        frame = spec.build(self._inputs(spec, context, stored))
        return with_owners(frame, context.owners) if spec.is_owned else frame

    def group_ids(self, evidence_tonight: DataFrame | None) -> DataFrame:
        """Ids of all groups that a table of this night's facts can have a row of, with repetitions.

        evidence_tonight: rows of `evidence` that this night wrote, None where there are none.
        """
        staged = unpacked(self.replayed, StagedFacts(KINDS, frozenset({"group_id"})))
        ids = staged.select("group_id")
        return (
            ids
            if evidence_tonight is None
            else ids.unionByName(evidence_tonight.select("group_id"))
        )

    def _inputs(self, spec: TableSpec, context: ReportContext, stored: StoredTables) -> TableInputs:
        facts = spec.staged(with_evidence=context.evidence_tonight is not None)
        raw, lines = self.raw, self.lines
        if spec.is_of_tables:
            # Its rows are not hidden a second time, so it gets no names of clients.
            context = replace(context, evidence=None, evidence_tonight=None)
            raw, lines = raw.limit(0), None

        def unpack(kinds: Collection[type[Any]], columns: Collection[str] | None) -> DataFrame:
            return unpacked(self.replayed, facts.of(kinds, columns))

        return TableInputs(
            unpack, facts.kinds, context, raw, lines, self.given_topics, stored, self.held
        )
