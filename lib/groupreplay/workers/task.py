"""What a Python worker does around each of its tasks so that the task costs what its rows cost."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from zipimport import zipimporter


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


def forget_zips() -> None:
    """Drops the importers of zip files; an import makes its own anew, from the listing that
    `zipimport` keeps.

    Before each task PySpark has every importer forget what it knows (`setup_spark_files`). One of a
    zip file then reads the whole listing again, and there is one for every package inside of
    pyspark.zip: a sixth of a second of CPU time a task.
    """
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimporter):
            del sys.path_importer_cache[path]
