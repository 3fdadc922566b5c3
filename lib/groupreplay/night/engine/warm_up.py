"""Work that a job begins early, on threads of its own, while its driver waits for something else.

No step needs it to have been done. A step that finds it done takes less time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from pyspark.sql import SparkSession

from groupreplay.compiled_core import running
from groupreplay.tables.warehouse import Warehouse
from groupreplay.workers.loading import load

SLOTS_MAX: Final = 256
"""On a large cluster the first workers are enough: the others start with the tasks that need
them.
"""

Work = Callable[[Event], None]
"""Ends soon after the event is set."""

_log = logging.getLogger(__name__)


@contextmanager
def started(*works: Work) -> Iterator[tuple[Thread, ...]]:
    """Runs each of these on a thread of its own while the body runs, and waits for all of them
    before it returns, so that no session is stopped while they use it.

    An error of one is logged and not raised: the step that needs the same work raises it again.
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


def workers(spark: SparkSession, tell: Callable[[str], None]) -> Work:
    """Starts a Python worker in every slot, which imports what the steps run. That saves a second
    or two of a night of half a minute.

    tell: is told which core they run; several where they differ. Other ones than the driver's are
        also logged.
    """

    def start(_: Event) -> None:
        slots = min(spark.sparkContext.defaultParallelism, SLOTS_MAX)
        rows = spark.range(0, slots, 1, slots).mapInArrow(load, "core STRING").collect()
        cores = sorted({row["core"] for row in rows})
        tell("; ".join(cores))
        if cores != [running()]:
            _log.warning("the pure core of workers is %s; no row differs", "; ".join(cores))

    return start


def table_logs(warehouse: Warehouse, names: Sequence[str]) -> Work:
    """Reads the Delta logs of these tables to the end, in this order. Without it the first write of
    a process to a table waits for the few Spark jobs that this takes.

    The driver has time for it while a night lands and replays, and none while it publishes.
    """

    def read(left: Event) -> None:
        for name in names:
            if left.is_set():
                return
            if warehouse.version(name) > 0:
                warehouse.log(name).snapshot().count_files()

    return read
