"""What Python workers import before they can land or replay anything: a second of CPU time each;
and what they say of the core that they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from groupreplay.compiled_core import running
from groupreplay.workers.task import keep_loaded
from groupreplay.workers.zip_importers import forget_zips


def load(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Imports what landing and replay run into the worker that runs this. For each batch it says,
    in a column `core`, which core that worker runs.
    """
    import groupreplay.workers.read_units
    import groupreplay.workers.slices  # noqa: F401

    keep_loaded()
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"core": [running()]})
    forget_zips()
