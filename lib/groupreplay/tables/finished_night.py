"""The newest night that is finished, and its tables: all at the versions that belong together,
whatever a run that is at work has published since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.errors import NotReady
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.run_rows import DONE
from groupreplay.tables.schemas import PUBLIC
from groupreplay.tables.views import VIEWS, View, over
from groupreplay.tables.warehouse import Warehouse

_OF_NIGHT: Final = "of_finished_night_"


@dataclass(frozen=True, slots=True)
class FinishedNight:
    """versions: public table -> its Delta version; `runs` has none, it is read as it is."""

    warehouse: Warehouse
    logical_date: date
    versions: Mapping[str, int]

    @classmethod
    def newest(cls, spark: SparkSession, root: str, cluster: str) -> FinishedNight:
        """The newest night of the cluster in the warehouse at `root`. Raises NotReady where none is
        DONE yet, WarehouseDamaged.
        """
        warehouse = Warehouse(spark, root, cluster)
        warehouse.check_all(["runs"])
        rows = (
            warehouse.rows("runs", RowRange(cluster))
            .where((sf.col("state") == DONE) & sf.col("table_versions").isNotNull())
            .select("logical_date", "started_at", "run_id", "table_versions")
            .collect()
        )
        if not rows:
            raise NotReady(
                f"no night of cluster {cluster} in {warehouse.root} is done yet",
                "run run_nightly first",
            )
        newest = max(rows, key=lambda row: (row["logical_date"], row["started_at"], row["run_id"]))
        return cls(warehouse, newest["logical_date"], public_versions(newest["table_versions"]))

    def read(self, name: str) -> DataFrame:
        """The rows of the cluster in a public table, or of a view. Raises NotReady where the night
        has no such table, since a version without it ran the night.
        """
        if name in VIEWS:
            return self._view(VIEWS[name])
        if name != "runs" and name not in self.versions:
            raise NotReady(
                f"night {self.logical_date} was run by a version that has no table {name}",
                "run the next night first",
            )
        return self.warehouse.rows(name, RowRange(self.warehouse.cluster), self.versions.get(name))

    def _view(self, view: View) -> DataFrame:
        """What the view answers over the tables as they are read here, which get names for it."""
        for table in view.tables:
            self.read(table).createOrReplaceTempView(f"{_OF_NIGHT}{table}")
        rows = {table: f"SELECT * FROM {_OF_NIGHT}{table}" for table in view.tables}
        return self.warehouse.spark.sql(over(view, rows))


def public_versions(versions: Mapping[str, int]) -> dict[str, int]:
    """Without internal tables and `runs`."""
    return {
        name: version for name, version in versions.items() if name in PUBLIC and name != "runs"
    }
