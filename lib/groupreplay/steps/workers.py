"""Python workers that start while the driver is busy with tables, before any step needs one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final

from pyspark.sql import SparkSession

from groupreplay.grouped.loading import load

SLOTS_MAX: Final = 256
"""On a large cluster the first workers are enough: the others start with the tasks that need them."""

_log = logging.getLogger(__name__)


@contextmanager
def workers_starting(spark: SparkSession) -> Iterator[Thread]:
    """A worker in every slot imports what the steps run, while the body runs and beyond: a night of half a minute is a second or two shorter by it.

    Where no worker starts nothing is raised: the step that needs one says why. Where the body fails the thread is waited for, so that no session is
    stopped under it.
    """
    thread = Thread(target=_start, args=(spark,), daemon=True)
    thread.start()
    try:
        yield thread
    except BaseException:
        thread.join()
        raise


def _start(spark: SparkSession) -> None:
    try:
        slots = min(spark.sparkContext.defaultParallelism, SLOTS_MAX)
        spark.range(0, slots, 1, slots).mapInArrow(load, "id BIGINT").write.format("noop").mode("overwrite").save()
    except Exception as error:  # noqa: BLE001  # told by the step that cannot go on
        _log.debug("no Python worker could be started ahead: %s", error)
