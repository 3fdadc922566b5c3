"""What one table of a night is built of: facts of the night, its raw rows and lines, and rows of
other tables.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.report.context import ReportContext


@dataclass(frozen=True, slots=True)
class StoredTables:
    """Tables that another table is made of, as they are stored. Private columns of them are hashed
    already, where the configuration hashes any.

    logical_date: date of the night that is published.
    rows: name -> all rows of the cluster in that table.
    of_tonight: names of tables that were committed before this one is built.
    of_earlier: names of tables whose rows of earlier nights may be read.
    new: names of tables that had no rows before this night.
    kept: name -> rows that this night committed, where they can be read without Delta.
    """

    logical_date: date
    rows: Callable[[str], DataFrame]
    of_tonight: Collection[str] = ()
    of_earlier: Collection[str] = ()
    new: Collection[str] = ()
    kept: Mapping[str, DataFrame] = field(default_factory=dict)

    def tonight(self, name: str) -> DataFrame:
        """Rows that this night committed. Raises LookupError for a table that the spec does not
        name in `tables`.
        """
        self._check(name, "tables", self.of_tonight)
        if name in self.kept:
            return self.kept[name]
        return self.rows(name).where(sf.col("logical_date") == sf.lit(self.logical_date))

    def earlier(self, name: str) -> DataFrame:
        """Rows of all nights before this one that no later night can change. Raises LookupError for
        a table that the spec does not name in `earlier`.

        Rows that were open then are left out: this night's commit of that table replaces them, and
        may have been done or not.
        """
        self._check(name, "earlier", self.of_earlier)
        if name in self.new:
            # Spark knows that there is nothing, and looks for no file.
            return self.rows(name).limit(0)
        rows = self.rows(name).where(sf.col("logical_date") < sf.lit(self.logical_date))
        return rows.where("is_final") if "is_final" in rows.columns else rows

    def so_far(self, name: str) -> DataFrame:
        """The rows of `tonight` and of `earlier`, in one scan where they are stored together.
        Raises LookupError unless the spec names the table in both.
        """
        self._check(name, "earlier", self.of_earlier)
        self._check(name, "tables", self.of_tonight)
        if name in self.kept:
            return self.earlier(name).unionByName(self.kept[name])
        # This night's commit is done, so every row before it that was open is gone.
        return self.rows(name).where(sf.col("logical_date") <= sf.lit(self.logical_date))

    def _check(self, name: str, where: str, names: Collection[str]) -> None:
        if name not in names:
            raise LookupError(f"the spec of this table does not name {name} in its `{where}`")


def as_they_are(rows: DataFrame) -> DataFrame:
    """`held` where each query computes its rows again."""
    return rows


@dataclass(frozen=True, slots=True)
class TableInputs:
    """What `TableSpec.build` is given.

    unpack: kinds of facts that the spec names, and names of columns or None for all -> the night's
        facts of these kinds, a row each.
    kinds: those that the spec names.
    context: the night.
    raw: the raw rows that the night replays: those it landed, and as kind `record` the commits of
        earlier nights that its markers settled.
    lines: the rows of `raw_lines` that it landed, None if there are none.
    given_topics: (topic_id, topic, partitions) of the topics sources; duplicates are allowed.
    stored: the tables that the spec names.
    held: gives rows that a table reads more than once, and that are few: they are computed once.
    """

    unpack: Callable[[Collection[type[Any]], Collection[str] | None], DataFrame]
    kinds: tuple[type[Any], ...]
    context: ReportContext
    raw: DataFrame
    lines: DataFrame | None
    given_topics: DataFrame
    stored: StoredTables
    held: Callable[[DataFrame], DataFrame] = as_they_are

    @property
    def staged(self) -> DataFrame:
        """The night's facts of all kinds that the spec names, a row each."""
        return self.unpack(self.kinds, None)

    def facts(self, *kinds: type[Any], columns: Collection[str] | None = None) -> DataFrame:
        """The night's facts of these kinds, a row each: `kind`, and these columns, or all that the
        kinds have. Spark unpacks facts at each place of a query that reads them, and does not see
        which of them the place needs. Raises LookupError for a kind that the spec does not name.
        """
        if missing := [kind.__name__ for kind in kinds if kind not in self.kinds]:
            raise LookupError(f"the spec of this table does not name {', '.join(missing)}")
        return self.unpack(kinds, columns)

    @property
    def evidence(self) -> DataFrame:
        """The rows of `evidence` that the night wrote. Only for tables that are not built without
        them.
        """
        evidence = self.context.evidence_tonight
        assert evidence is not None, "a table of broker logs alone is built where there are some"
        return evidence
