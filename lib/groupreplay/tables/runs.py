"""The table `runs` as a ledger: who runs which night, how far it came, and what belongs to it.

A night, (cluster, logical_date), is a partition. A cluster has one writer at a time: a night needs
the one before it finished, and maintenance needs that no night is under way.

Every change rewrites the partition's few rows in one commit. The commit carries the next number of
the cluster's own transaction id. Delta drops a commit whose number is not higher than the last one,
and refuses one that races another. So of two runs that saw the same rows one wins, and a run that
was given up for dead cannot write any more. Delta says nothing of a commit that it drops: the
number is read before the rows, and after the commit its metadata must be ours.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

from delta import exceptions as delta_exceptions
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.errors import NotReady, RunHeld
from groupreplay.shortcuts import OWN_FILES, is_on
from groupreplay.tables.delta.own_files import OwnFiles, partition_files
from groupreplay.tables.holder import this_process, why_dead
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.run_rows import (
    FAILED,
    FINISHED,
    LANDED,
    PLANNED,
    STEPS,
    Run,
    runs_frame,
    runs_table,
    stored_runs,
)
from groupreplay.tables.warehouse import Warehouse

RENEW_EVERY_S = 120.0

_TABLE = "runs"
_LOST_A_RACE = (
    delta_exceptions.ConcurrentAppendException,
    delta_exceptions.ConcurrentDeleteReadException,
    delta_exceptions.ConcurrentDeleteDeleteException,
    delta_exceptions.ConcurrentTransactionException,
)
_log = logging.getLogger(__name__)


class Ledger:
    """The runs of one cluster. One ledger holds one run at a time, and renews it while it does.

    config: JSON of what is in force, None unknown.
    core: how workers run the pure core, None until they said so.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        cluster: str,
        renew_every_s: float = RENEW_EVERY_S,
        config: str | None = None,
    ) -> None:
        self.warehouse, self.cluster, self.renew_every_s, self.config = (
            warehouse,
            cluster,
            renew_every_s,
            config,
        )
        self.core: str | None = None
        self._write_lock = threading.Lock()
        self._held: _Held | None = None

    # ------------------------------------------------------------ what was

    def of_night(self, night: date) -> list[Run]:
        """Every run of a night, in no order."""
        return self._runs(self._rows().where(sf.col("logical_date") == sf.lit(night)))

    def lives(self, run: Run) -> bool:
        """Whether a process that is not known to be dead is at work on the run."""
        return (
            not run.is_finished
            and run.holder is not None
            and not why_dead(run.holder, run.renewed_at or run.started_at, _now())
        )

    def holds(self, run: Run) -> bool:
        """Whether this process is the one."""
        return self._held is not None and self._held.run.run_id == run.run_id

    # ------------------------------------------------------------ what is done

    def acquire(
        self,
        logical_date: date,
        code_version: str,
        config_hash: str,
        plan: str,
        *,
        state: str = PLANNED,
        whole: bool = True,
        take_over: bool = False,
    ) -> Run:
        """A run of the night that this process holds from now on: one that a step let go of, one
        whose process died, or a new one.

        plan: plan of a new run, as JSON. A run that was let go keeps its own, unless it begins
            again at PLANNED.
        state: state of the run before the step that this process does first.
        whole: this process does all steps from there on.
        take_over: goes on with a run whose process died. It keeps its plan and the steps that it
            finished, if its code and configuration are the same and this process does all that is
            left. Else it is marked FAILED, and a new run begins.

        Raises RunHeld where a process is at work on the night, where one died and is not to be
        taken over, and where another process was quicker; NotReady where a step before `state` has
        not been done.
        """
        snapshot = self.warehouse.log(_TABLE).snapshot()
        # Nothing was ever written at version 0, and the first query of a process is a dear one.
        number, of_night = -1, []
        if snapshot.version > 0:
            number = snapshot.transaction(self._transaction_id)
            of_night = self._of_night_unless_another_runs(logical_date)
        values = {"cluster": self.cluster, "logical_date": str(logical_date)}
        files = partition_files(
            self.warehouse.log(_TABLE), snapshot.version, values, is_empty=not of_night
        )
        # A clock that was set back must not make this run look older than one that it follows: the
        # newest run of a night is what counts.
        now, me = max([_now(), *[each.started_at + 1 for each in of_night]]), this_process()
        mine: dict[str, Any] = {"holder": me, "renewed_at": now}
        begins: dict[str, Any] = {
            "state": state,
            "code_version": code_version,
            "config_hash": config_hash,
            "error": None,
            **mine,
        }
        run = None
        for other in [each for each in of_night if not each.is_finished]:
            _check_free(other, now, take_over)
            _check_order(other, state)
            of_night.remove(other)
            if run is None and other.holder is None:
                run = replace(other, plan=plan if state == PLANNED else other.plan, **begins)
            elif (
                run is None
                and (other.code_version, other.config_hash) == (code_version, config_hash)
                and (whole or other.state == state)
            ):
                run = replace(other, resumed=True, **mine)
            else:
                of_night.append(
                    replace(
                        other, state=FAILED, ended_at=now, error=f"its process {other.holder} died"
                    )
                )
        run = run or Run(
            cluster=self.cluster,
            logical_date=logical_date,
            run_id=f"{logical_date}-{uuid.uuid4().hex[:12]}",
            started_at=now,
            plan=plan,
            **begins,
        )
        run = replace(run, config=self.config)
        held = _Held(run, of_night, number, files)
        with self._write_lock:
            self._commit(held, run)
            self._held = held
        threading.Thread(target=self._renew, args=(held,), name="renew-run", daemon=True).start()
        return run

    def advance(self, run: Run, state: str, **changes: Any) -> Run:
        """The run in its new state, with these columns changed; DONE and FAILED give the night
        back, and so does holder=None. Raises RunHeld where it was taken away.
        """
        changes |= {"state": state, "renewed_at": _now()}
        if state in FINISHED:
            changes.setdefault("ended_at", _now())
        with self._write_lock:
            held = self._held
            if held is None or held.run.run_id != run.run_id:
                raise ValueError(f"this process does not hold the run {run.run_id}")
            advanced = replace(held.run, core=self.core or held.run.core, **changes)
            self._commit(held, advanced)
        if advanced.is_finished or advanced.holder is None:
            self.release()
        return advanced

    def replace_versions(self, run: Run, other: Run, table_versions: Mapping[str, int]) -> None:
        """Replaces the versions of tables in the row of another run of the same night.

        run: the run that this process holds.
        other: a run that is DONE.

        Raises RunHeld as `advance`.
        """
        with self._write_lock:
            held = self._held
            if held is None or held.run.run_id != run.run_id:
                raise ValueError(f"this process does not hold the run {run.run_id}")
            held.others = [
                replace(each, table_versions=dict(table_versions))
                if each.run_id == other.run_id
                else each
                for each in held.others
            ]
            self._commit(held, held.run)

    def fail(self, run: Run, why: str) -> Run:
        """Marks the run FAILED, with why in one sentence, and gives the night back."""
        return self.advance(run, FAILED, error=why)

    def note_core(self, core: str) -> None:
        """How workers run the pure core, for the rows that are written from now on."""
        self.core = core

    def release(self) -> None:
        """Stops renewing; a run that is not finished is then taken for dead once this process has
        ended.
        """
        with self._write_lock:
            held, self._held = self._held, None
        if held is not None:
            held.released.set()

    # ------------------------------------------------------------ how

    def _of_night_unless_another_runs(self, logical_date: date) -> list[Run]:
        """Every run of a night. Raises RunHeld where a process is at work on another night of the
        cluster.
        """
        is_asked = (sf.col("logical_date") == sf.lit(logical_date)) | ~sf.col("state").isin(
            *FINISHED
        )
        found = self._runs(self._rows().where(is_asked))
        for other in found:
            if other.logical_date != logical_date and self.lives(other):
                raise _held_by(other)
        return [run for run in found if run.logical_date == logical_date]

    def _rows(self) -> DataFrame:
        return self.warehouse.rows(_TABLE, RowRange(self.cluster))

    @property
    def _transaction_id(self) -> str:
        return f"groupreplay/{self.cluster}"

    def _commit(self, held: _Held, run: Run) -> None:
        """Writes the night's rows with this state of the run. On success `held` knows it; RunHeld
        where another process was quicker.
        """
        metadata = {
            "run_id": run.run_id,
            "holder": run.holder,
            "state": run.state,
            "number": held.number + 1,
        }
        night = RowRange(self.cluster, run.logical_date)
        try:
            version = self._commit_files(held, run, night, metadata)
            if version is None:
                version = self._commit_frame(held, run, night, metadata)
        except _LOST_A_RACE as error:
            raise self._lost(run) from error
        if version is None:
            raise self._lost(run)
        held.run, held.number = run, held.number + 1
        held.files = held.files.after(self.warehouse.log(_TABLE), version)

    def _commit_files(
        self, held: _Held, run: Run, night: RowRange, metadata: Mapping[str, Any]
    ) -> int | None:
        """The version that it made; None where `_commit_frame` has to."""
        if not is_on(OWN_FILES):
            return None
        schema = self.warehouse.schema(_TABLE)
        rows = runs_table(schema.struct, schema.partition_columns, [*held.others, run])
        transaction = self._transaction_id, held.number + 1
        return self.warehouse.replace_own(_TABLE, held.files, rows, night, metadata, transaction)

    def _commit_frame(
        self, held: _Held, run: Run, night: RowRange, metadata: Mapping[str, Any]
    ) -> int | None:
        """The version that it made; None where Delta dropped the commit."""
        options = {"txnAppId": self._transaction_id, "txnVersion": str(held.number + 1)}
        before = self.warehouse.version(_TABLE)
        after = self.warehouse.replace(
            _TABLE, self._frame([*held.others, run]), night, metadata, options
        )
        log = self.warehouse.log(_TABLE)
        made = range(after, before, -1)
        return next((each for each in made if log.commit_metadata(each) == metadata), None)

    def _lost(self, run: Run) -> RunHeld:
        unfinished = self._runs(self._rows().where(~sf.col("state").isin(*FINISHED)))
        winner = max(unfinished, key=lambda each: each.renewed_at or each.started_at, default=None)
        return _held_by(winner or replace(run, holder="another run that has ended since"))

    def _runs(self, rows: DataFrame) -> list[Run]:
        return stored_runs(rows, self.warehouse.schema(_TABLE).struct)

    def _frame(self, runs: Iterable[Run]) -> DataFrame:
        return runs_frame(self.warehouse.spark, self.warehouse.schema(_TABLE).struct, runs)

    def _renew(self, held: _Held) -> None:
        while not held.released.wait(self.renew_every_s):
            with self._write_lock:
                if self._held is not held or held.run.is_finished:
                    return
                try:
                    self._commit(held, replace(held.run, renewed_at=_now()))
                except RunHeld as error:
                    # The next advance meets the same and ends the run; nothing is gained by
                    # renewing on.
                    _log.warning("%s", error)
                    return
                # A store that fails once may do better in two minutes; five times in a row is a
                # dead run.
                except Exception as error:  # noqa: BLE001
                    _log.warning("the run could not be renewed: %s", error)


@dataclass(slots=True)
class _Held:
    """The run as last committed, the night's other rows, the number of that commit, the files that
    hold the night's rows since, and whether the run was given back.
    """

    run: Run
    others: list[Run]
    number: int
    files: OwnFiles
    released: threading.Event = field(default_factory=threading.Event)


def _now() -> int:
    return int(time.time() * 1000)


def _check_free(run: Run, now: int, take_over: bool) -> None:
    """Raises RunHeld unless a step let go of the run, or its holder is dead and may be taken
    over.
    """
    if run.holder is None:
        return
    why = why_dead(run.holder, run.renewed_at or run.started_at, now)
    if not (why and take_over):
        raise _held_by(run, why)


def _check_order(run: Run, state: str) -> None:
    """Raises NotReady where the run has not come as far as `state`."""
    steps = list(STEPS)
    if steps.index(run.state) < steps.index(state):
        how = "run" if run.holder is None else "with --take-over run"
        what = {PLANNED: "has not landed", LANDED: "has landed and was not replayed yet"}[run.state]
        raise NotReady(
            f"night {run.logical_date} of cluster {run.cluster} {what}",
            f"{how} {STEPS[run.state]} first",
        )


def _held_by(run: Run, why: str = "") -> RunHeld:
    since = datetime.fromtimestamp(run.started_at / 1000, UTC)
    return RunHeld(
        run.cluster, run.logical_date, run.holder or "a process that left no name", since, why
    )
