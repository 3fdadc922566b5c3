"""The ledger: one holder a night, taken over from the dead, fenced against those who were taken for
dead.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from groupreplay.errors import NotReady, RunHeld
from groupreplay.tables import holder, runs
from groupreplay.tables.run_rows import DONE, FAILED, LANDED, PLANNED, REPLAYED, Run
from groupreplay.tables.runs import Ledger
from groupreplay.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST, SECOND, THIRD = date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 3)


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    made = Warehouse(spark, str(tmp_path_factory.mktemp("runs")), "c")
    made.create_all(["runs"])
    return made


def test_a_night_is_planned_advanced_done_and_found_again(warehouse: Warehouse) -> None:
    ledger = Ledger(warehouse, "found")
    assert ledger.of_night(THIRD) == []
    for night in (SECOND, THIRD):
        run = ledger.acquire(night, "1.0", "hash", '{"units":[]}')
        if night == THIRD:
            run = ledger.advance(run, LANDED, plan='{"units":[1]}', as_of_at=1_700_000_000_123)
        run = ledger.advance(
            run, DONE, table_versions={"topics": 3}, counts={"topics": 7}, digest={"topics": "ff"}
        )
        assert run.is_finished
    failed = ledger.acquire(THIRD, "1.0", "hash", "{}")
    assert [each for each in ledger.of_night(THIRD) if not each.is_finished] == [failed]
    failed = ledger.fail(failed, "why it failed")
    found = {each.run_id: each for each in ledger.of_night(THIRD)}
    assert found == {run.run_id: run, failed.run_id: failed}
    latest = found[run.run_id]
    assert (latest.plan, latest.as_of_at, latest.table_versions) == (
        '{"units":[1]}',
        1_700_000_000_123,
        {"topics": 3},
    )
    assert [each.logical_date for each in ledger.of_night(SECOND)] == [SECOND]
    with pytest.raises(ValueError, match="does not hold"):
        ledger.advance(run, LANDED)


def test_a_night_that_is_held_is_refused_with_who_and_since(warehouse: Warehouse) -> None:
    ledger = Ledger(warehouse, "held")
    ledger.acquire(FIRST, "1.0", "hash", "{}")
    with pytest.raises(RunHeld) as caught:
        Ledger(warehouse, "held").acquire(FIRST, "1.0", "hash", "{}", take_over=True)
    assert not caught.value.why_dead, "the living are never taken over"
    assert (caught.value.exit_code, caught.value.who) == (4, holder.this_process())
    with pytest.raises(RunHeld, match=f"night {FIRST}"):
        # Each night stands on the one before it.
        Ledger(warehouse, "held").acquire(SECOND, "1.0", "hash", "{}")
    Ledger(warehouse, "another-cluster").acquire(SECOND, "1.0", "hash", "{}")
    ledger.release()


def test_of_two_that_saw_the_same_rows_one_wins(warehouse: Warehouse) -> None:
    """All ledgers have read the night before any writes: the writes are what decides."""
    barrier = threading.Barrier(3)
    outcomes: list[str] = []

    class Slow(Ledger):
        has_met = False

        def _of_night_unless_another_runs(self, logical_date: date) -> list[Run]:
            rows = super()._of_night_unless_another_runs(logical_date)
            if not self.has_met:
                self.has_met = True
                barrier.wait(120)
            return rows

    def rival(night: date) -> None:
        ledger = Slow(warehouse, "race")
        try:
            ledger.acquire(night, "1.0", "hash", "{}")
            outcomes.append("won")
        except RunHeld as error:
            outcomes.append(str(error))

    threads = [
        threading.Thread(target=rival, args=(night,), name=f"rival-{place}")
        for place, night in enumerate((FIRST, FIRST, SECOND))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert outcomes.count("won") == 1, outcomes
    assert (
        sum("another run holds cluster race, night 2026-01-0" in outcome for outcome in outcomes)
        == 2
    ), outcomes


def test_a_dead_run_is_taken_over_and_can_write_no_more(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    zombie = Ledger(warehouse, "dead")
    run = zombie.advance(zombie.acquire(FIRST, "1.0", "hash", '{"units":[1]}'), LANDED)

    monkeypatch.setattr(runs, "why_dead", lambda *_: "its process is gone")
    other = Ledger(warehouse, "dead")
    with pytest.raises(
        RunHeld,
        match=(
            "a dead run holds .*; its process is gone: run the same job with --take-over to"
            " finish it"
        ),
    ):
        other.acquire(FIRST, "1.0", "hash", '{"units":[]}')
    taken = other.acquire(FIRST, "1.0", "hash", '{"units":[]}', take_over=True)
    assert (taken.run_id, taken.state, taken.plan, taken.resumed) == (
        run.run_id,
        LANDED,
        '{"units":[1]}',
        True,
    )
    with pytest.raises(RunHeld):
        zombie.advance(run, DONE)
    other.release()

    changed = Ledger(warehouse, "dead")
    anew = changed.acquire(FIRST, "1.1", "hash", "{}", take_over=True)
    assert (anew.state, anew.resumed) == ("PLANNED", False)
    assert anew.run_id != run.run_id
    states = {each.run_id: each.state for each in changed.of_night(FIRST)}
    assert states == {run.run_id: FAILED, anew.run_id: "PLANNED"}
    changed.release()
    zombie.release()


def test_a_run_is_renewed_while_it_lasts(warehouse: Warehouse) -> None:
    ledger = Ledger(warehouse, "renewed", renew_every_s=0.2)
    run = ledger.acquire(FIRST, "1.0", "hash", "{}")
    until = time.monotonic() + 30
    while _renewed_at(ledger) == run.renewed_at and time.monotonic() < until:
        time.sleep(0.2)
    assert _renewed_at(ledger) > (run.renewed_at or 0)
    done = ledger.advance(run, DONE)
    time.sleep(0.6)
    assert _renewed_at(ledger, DONE) == done.renewed_at


def _renewed_at(ledger: Ledger, state: str = "PLANNED") -> int:
    (run,) = [each for each in ledger.of_night(FIRST) if each.state == state]
    assert run.renewed_at is not None
    return run.renewed_at


def test_a_run_that_a_step_let_go_of_is_taken_by_the_next_in_order(warehouse: Warehouse) -> None:
    ledger = Ledger(warehouse, "steps")
    landed = ledger.advance(
        ledger.acquire(FIRST, "1.0", "a", "{}", whole=False),
        LANDED,
        plan='{"landing":1}',
        holder=None,
    )
    assert landed.holder is None
    with pytest.raises(
        NotReady,
        match=(
            r"night 2026-01-01 of cluster steps has landed and was not replayed yet; run"
            r" replay_groups first"
        ),
    ):
        ledger.acquire(FIRST, "1.0", "a", "{}", state=REPLAYED, whole=False)
    replaying = ledger.acquire(FIRST, "1.0", "b", "{}", state=LANDED, whole=False)
    assert (replaying.run_id, replaying.plan, replaying.config_hash) == (
        landed.run_id,
        '{"landing":1}',
        "b",
    )
    replayed = ledger.advance(replaying, REPLAYED, holder=None)
    again = ledger.acquire(FIRST, "1.0", "b", '{"landing":1,"units":[]}', whole=False)
    assert (again.run_id, again.state, again.plan) == (
        replayed.run_id,
        PLANNED,
        '{"landing":1,"units":[]}',
    )
    ledger.release()
    assert len(ledger.of_night(FIRST)) == 1


def test_a_step_takes_over_its_own_work_alone(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another step left half done is its to finish; what it finished is not done again."""
    ledger = Ledger(warehouse, "dead-step")
    ledger.acquire(FIRST, "1.0", "a", "{}", whole=False)
    ledger.release()
    monkeypatch.setattr(runs, "why_dead", lambda *_: "its process is gone")
    with pytest.raises(NotReady, match="has not landed; with --take-over run land_logs first"):
        ledger.acquire(FIRST, "1.0", "a", "{}", state=LANDED, whole=False, take_over=True)
    landed = ledger.advance(
        ledger.acquire(FIRST, "1.0", "a", "{}", whole=False, take_over=True), LANDED
    )
    assert landed.resumed
    ledger.release()
    anew = ledger.acquire(FIRST, "1.0", "a", "{}", whole=False, take_over=True)
    assert (anew.state, anew.resumed) == (
        PLANNED,
        False,
    ), "it lands what is new since, in a run of its own"
    ledger.release()


def test_a_run_keeps_what_it_has(warehouse: Warehouse) -> None:
    columns: Any = {each.name for each in warehouse.schema("runs").struct}
    assert columns >= {name for name in Run.__dataclass_fields__ if name != "resumed"}
    one = Run(
        cluster="c",
        logical_date=FIRST,
        run_id="r",
        state=DONE,
        started_at=1,
        code_version="1",
        config_hash="h",
    )
    assert one == replace(one, resumed=True)
