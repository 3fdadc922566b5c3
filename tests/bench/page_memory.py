"""What pages take of the driver's memory, without Spark: rows of a made-up fleet, read and drawn, and
the pages of groups that moved all night.

    python -m tests.bench.page_memory [--groups 50000] [--pages 50]

Prints by how much the memory of Python grows at most, in MB, above the rows as text.
"""

from __future__ import annotations

import argparse
import gc
import json
from pathlib import Path

from pyspark.sql import Row

from groupreplay.night.group_lives import by_kind
from groupreplay.page.group.group_page import group_page
from groupreplay.page.model.read import read_fleet
from groupreplay.page.overview.overview import overview
from tests.bench.page import memory_mb
from tests.support.life_rows import capped_life
from tests.support.page_rows import AS_OF_MS, NIGHT, fleet_rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures what pages take of memory.")
    parser.add_argument("--groups", type=int, default=50_000)
    parser.add_argument("--pages", type=int, default=50)
    options = parser.parse_args()
    rows = [
        Row(kind=kind, row=json.dumps(row))
        for kind, found in fleet_rows(options.groups).items()
        for row in found
    ]
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # The highest so far is forgotten.
    before_mb = memory_mb("VmRSS")
    fleet = read_fleet(
        by_kind(rows),
        cluster="c",
        logical_date=NIGHT,
        as_of_ms=AS_OF_MS,
        since_at_ms=None,
        version="0",
    )
    overviews = [overview(fleet), overview(fleet)]
    print(f"overview of {options.groups:,} groups: {memory_mb('VmHWM') - before_mb:.0f} MB")
    pages = [group_page(capped_life()) for _ in range(options.pages)]
    print(f"with {len(pages)} largest pages of groups: {memory_mb('VmHWM') - before_mb:.0f} MB")
    del overviews


if __name__ == "__main__":
    main()
