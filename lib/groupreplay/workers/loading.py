"""What Python workers import before they can land or replay anything: a second of CPU time each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Final

import pyarrow as pa

from groupreplay.workers.task import forget_zips

MODULES: Final = ("groupreplay.workers.read_units", "groupreplay.workers.slices")


def load(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Imports MODULES into the worker that runs this, and gives the batches back."""
    for module in MODULES:
        import_module(module)
    yield from batches
    forget_zips()
