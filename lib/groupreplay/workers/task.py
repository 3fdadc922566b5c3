"""What a Python worker does around each of its tasks so that the task costs what its rows cost."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from groupreplay.workers.zip_importers import forget_zips


@contextmanager
def worker_task() -> Iterator[None]:
    """Around the rows of one task: Python's cycle collector is off, which would take half of the
    time of a worker that makes millions of objects that hold no cycles, and afterwards as it was,
    for the worker is used again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
        forget_zips()
