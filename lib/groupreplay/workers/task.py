"""What a Python worker does around each of its tasks so that the task costs what its rows cost."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from groupreplay.workers.zip_importers import forget_zips


@cache
def keep_loaded() -> None:
    """Takes what a worker has loaded out of the cycle collector's sight, once a process.

    PySpark's daemon collects after each task. Each time it would walk over all modules: 50 ms of
    CPU time, as much as a short task takes. What later tasks make is looked at as before.
    """
    gc.freeze()


@contextmanager
def worker_task() -> Iterator[None]:
    """Around the rows of one task: turns Python's cycle collector off.

    A task makes millions of objects without a cycle, and looking for cycles would take half of its
    time. Afterwards the collector is as it was: Spark uses the worker for other tasks too.
    """
    keep_loaded()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
        forget_zips()
