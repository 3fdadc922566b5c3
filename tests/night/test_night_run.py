"""What a night says of itself in `runs` when something fails; without Spark."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, cast

import pytest

from groupreplay.config.model import Config
from groupreplay.night.night_run import acquire
from groupreplay.night.plans.inputs import Inputs
from groupreplay.night.plans.night import Night
from groupreplay.night.plans.plan import Plan
from groupreplay.night.plans.results import Results
from groupreplay.tables.run_rows import DONE, FAILED, PLANNED, REPLAYED, Run
from groupreplay.tables.runs import Ledger
from groupreplay.tables.warehouse import Warehouse

DAY = date(2026, 11, 21)


@dataclass
class Told:
    """A ledger that remembers what it was told, and why."""

    states: list[tuple[str, str | None]] = field(default_factory=list)

    def acquire(
        self, logical_date: date, code_version: str, config_hash: str, plan: str, **_: Any
    ) -> Run:
        run = Run(
            cluster="c",
            logical_date=logical_date,
            run_id="r",
            state=PLANNED,
            started_at=1,
            code_version=code_version,
            config_hash=config_hash,
        )
        return replace(run, plan=plan)

    def advance(self, run: Run, state: str, error: str | None = None, **_: Any) -> Run:
        self.states.append((state, error))
        return replace(run, state=state)


@pytest.mark.parametrize(
    ("reached", "told"),
    [(REPLAYED, [(REPLAYED, None), (FAILED, "a table was lost")]), (DONE, [(DONE, None)])],
    ids=["a step fails", "the summary of a published night fails"],
)
def test_only_a_run_that_is_not_done_is_marked_failed(
    reached: str, told: list[tuple[str, str | None]]
) -> None:
    ledger, config = Told(), Config(cluster="c", warehouse="w", sources=())
    night = Night(
        config, cast(Warehouse, None), cast(Ledger, ledger), DAY, [], Inputs((), (), 0, ())
    )
    run = acquire(night, Plan(()), Results(), PLANNED, whole=True)

    def go_on_and_fail() -> None:
        with run.failing():
            run.advance(reached, run.results)
            raise ValueError("a table was lost")

    with pytest.raises(ValueError, match="a table was lost"):
        go_on_and_fail()
    assert ledger.states == told
