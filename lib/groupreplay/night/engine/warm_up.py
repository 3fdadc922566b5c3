"""Work that a job begins early, on its own threads, while its driver waits for something else.

No step depends on it. A step that finds it done takes less time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from pyspark.sql import SparkSession

from groupreplay.compiled_core import running
from groupreplay.report.catalog import SPECS
from groupreplay.tables.warehouse import Warehouse
from groupreplay.workers.loading import load

SLOTS_MAX: Final = 256
"""Workers that are started early at most. On a large cluster the others start with their tasks."""

QUERIED: Final = frozenset(
    {
        "group_state",
        "raw_records",
        "evidence",
        *(name for each in SPECS.values() for name in each.earlier),
    }
)
"""Tables whose rows of earlier nights a night reads."""

Work = Callable[[Event], None]
"""A piece of such work. It ends soon after the event is set."""

_log = logging.getLogger(__name__)


@contextmanager
def started(*works: Work) -> Iterator[tuple[Thread, ...]]:
    """Runs each of these on its own thread while the body runs, and waits for all of them at the
    end, so that the session is not stopped while they use it.

    Their errors are logged and not raised: the step that needs the same work raises them again.
    """
    left = Event()
    threads = tuple(Thread(target=_try, args=(work, left), daemon=True) for work in works)
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        left.set()
        for thread in threads:
            thread.join()


def _try(work: Work, left: Event) -> None:
    try:
        work(left)
    except Exception as error:  # noqa: BLE001  # the step that cannot go on raises it again
        _log.debug("work begun early failed: %s", error)


def workers(spark: SparkSession, note_core: Callable[[str], None]) -> Work:
    """Starts a Python worker in every slot, which imports what the steps run. That saves one or two
    seconds of a night of half a minute.

    note_core: called with the core that the workers run, or all cores where they differ. A core
        that is not the driver's is also logged.
    """

    def start(_: Event) -> None:
        slots = min(spark.sparkContext.defaultParallelism, SLOTS_MAX)
        rows = spark.range(0, slots, 1, slots).mapInArrow(load, "core STRING").collect()
        cores = sorted({row["core"] for row in rows})
        note_core("; ".join(cores))
        if cores != [running()]:
            _log.warning("the pure core of workers is %s; no row differs", "; ".join(cores))

    return start


def table_logs(warehouse: Warehouse, names: Sequence[str]) -> Work:
    """Reads the Delta logs of these tables to the end, in this order. Otherwise the first query or
    write of each table waits for the Spark jobs that do this.

    The driver is idle while a night lands and replays, and busy while it publishes. A log is left
    out where nothing will wait for it.
    """

    def read(left: Event) -> None:
        for name in names:
            if left.is_set():
                return
            version = warehouse.version(name)
            if version > 0 and not warehouse.is_known(name, version, for_rows=name in QUERIED):
                warehouse.log(name).snapshot().count_files()

    return read
