"""What a job starts ahead, while its driver waits for something else: no step needs it, but one
that finds it done is sooner through.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from pyspark.sql import SparkSession

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
    """Each of these has a thread of its own while the body runs. Where one fails nothing is raised:
    the step that needs it says why.

    They are over when this is left, so that no session is stopped under them.
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
    except Exception as error:  # noqa: BLE001  # told by the step that cannot go on
        _log.debug("could not be done ahead: %s", error)


def workers(spark: SparkSession) -> Work:
    """A Python worker in every slot imports what the steps run: a night of half a minute is a
    second or two shorter by it.
    """

    def start(_: Event) -> None:
        slots = min(spark.sparkContext.defaultParallelism, SLOTS_MAX)
        spark.range(0, slots, 1, slots).mapInArrow(load, "id BIGINT").write.format("noop").mode(
            "overwrite"
        ).save()

    return start


def table_logs(warehouse: Warehouse, names: Sequence[str]) -> Work:
    """The logs of tables, in this order, are read to the end: a few jobs of Spark for each, which
    the first write of a process to it else waits for.

    While a night lands and replays, the driver has nothing better to do; while it publishes, it has
    no time left.
    """

    def read(left: Event) -> None:
        for name in names:
            if left.is_set():
                return
            if warehouse.version(name) > 0:
                warehouse.log(name).snapshot().count_files()

    return read
