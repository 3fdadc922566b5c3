"""What a Python worker does around each of its tasks so that the task costs what its rows cost."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from groupreplay.workers.zip_importers import forget_zips


@contextmanager
def worker_task() -> Iterator[None]:
    """Around the rows of one task: turns Python's cycle collector off.

    A task makes millions of objects without a cycle, and looking for cycles would take half of its
    time. Afterwards the collector is as it was: Spark uses the worker for other tasks too.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
        forget_zips()
