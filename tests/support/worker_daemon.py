"""Starts the Python workers of the tests' session.

    python -m tests.support.worker_daemon

Before each task PySpark reads the listings of its zip files again. Tasks of the product spare
themselves that (`workers/zip_importers.py`); those of rows that a test gives as Python values are
PySpark's own, and would pay a sixth of a second each.
"""

from __future__ import annotations

from typing import IO

from pyspark import daemon

from groupreplay.workers.zip_importers import forget_zips

_run_task = daemon.worker_main


def run_task(infile: IO[bytes], outfile: IO[bytes]) -> None:
    forget_zips()
    _run_task(infile, outfile)


if __name__ == "__main__":
    daemon.worker_main = run_task
    daemon.manager()  # type: ignore[no-untyped-call]
