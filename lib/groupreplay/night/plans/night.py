"""One night as it is given to its steps: nothing here changes while they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.config.model import Config
from groupreplay.night.earlier.history import PastNight, before, of_date
from groupreplay.night.landing.landed import LinesLanding, RecordsLanding
from groupreplay.night.plans.inputs import Inputs
from groupreplay.report.words.privacy import HashKeys
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.runs import Ledger
from groupreplay.tables.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Night:
    """What a night is given.

    nights: all nights of the cluster that landed, in order (`past_nights`).
    inputs: what the sources hold; of a job that lands nothing, its topics alone.
    keys: keys that values are hashed with, None where nothing is hidden.
    take_over: goes on with a run whose process died.
    """

    config: Config
    warehouse: Warehouse
    ledger: Ledger
    logical_date: date
    nights: Sequence[PastNight]
    inputs: Inputs
    keys: HashKeys | None = None
    take_over: bool = False

    @property
    def hashed(self) -> str:
        """As of `Plan`."""
        return self.keys.fingerprint if self.keys else ""

    @property
    def earlier(self) -> PastNight | None:
        """The night before."""
        return before(self.nights, self.logical_date)

    def records_before(self) -> RecordsLanding:
        """What the nights before had landed of the offsets topic, and this one if it ran before."""
        own = of_date(self.nights, self.logical_date)
        if own is not None:
            return own.landing
        return self.earlier.landing.next_night() if self.earlier is not None else RecordsLanding()

    def lines_before(self) -> LinesLanding | None:
        """As `records_before`, for logs of brokers; None: there were none so far."""
        own = of_date(self.nights, self.logical_date)
        if own is not None and own.lines is not None:
            return own.lines
        if self.earlier is not None and self.earlier.lines is not None:
            return self.earlier.lines.next_night()
        return None

    def rows(self, name: str, version: int | None = None) -> DataFrame:
        """The rows of a table that are this cluster's, not yet read."""
        return self.warehouse.rows(name, RowRange(self.config.cluster), version)

    def labels(self) -> dict[str, Any]:
        """The columns that say whose and which night's a row is."""
        return {"cluster": sf.lit(self.config.cluster), "logical_date": sf.lit(self.logical_date)}
