"""What Python workers import before they can land or replay anything: a second of CPU time each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from groupreplay.workers.zip_importers import forget_zips


def load(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Imports what landing and replay run into the worker that runs this, and gives the batches
    back.
    """
    import groupreplay.workers.read_units
    import groupreplay.workers.slices  # noqa: F401

    yield from batches
    forget_zips()
