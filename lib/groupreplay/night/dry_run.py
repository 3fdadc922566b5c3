"""What a run would read and write, and whether it could: nothing is written but a probe that is
removed again.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from groupreplay.compiled_core import running
from groupreplay.config.model import Config
from groupreplay.errors import NotReady
from groupreplay.night.landing.line_stream import RAW_LINES
from groupreplay.night.plans.inputs import Inputs
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.tables.schemas import ALWAYS, INTERNAL
from groupreplay.tables.storage import check_writable
from groupreplay.wire.segments.units import KAFKA, Unit
from groupreplay.wire.text.text_units import TextUnit

WORKER_PACKAGES = ("pandas", "pyarrow", "google-crc32c")
"""What a worker's Python must have; the package itself comes with the job."""


def check_ready(spark: SparkSession, roots: Sequence[str]) -> list[str]:
    """Lines on jars, worker Python and write access. Raises NotReady for the first that is not as a
    run needs it.
    """
    worker, core = _worker_versions(spark)
    for root in roots:
        check_writable(spark, root)
    return [
        f"ready: Spark {spark.version} with the Delta jars; workers run {worker};"
        f" {' and '.join(roots)} can be written",
        f"the pure core of workers is {core}",
    ]


def planned_lines(
    inputs: Inputs,
    units: Sequence[Unit],
    text_units: Sequence[TextUnit],
    dates: Sequence[date],
    root: str,
    private_root: str | None = None,
) -> list[str]:
    """What would be read, by partition of the offsets topic and by broker, and what would be
    written.

    private_root: directory or URI of the internal tables, None if it is `root`.
    """
    files = {file.path: file.size for unit in units for file in unit.files}
    by_input: dict[str, list[Unit]] = {}
    of_files = [unit for unit in units if unit.source != KAFKA]
    for unit in of_files:
        by_input.setdefault(unit.input, []).append(unit)
    read = f"{len(files):,} files of {len(inputs.files):,}, {sum(files.values()):,} bytes"
    lines = [
        f"would read {read}, of {len(by_input):,} partitions, in {len(of_files):,} units",
        *[
            f"  {name}: {_stretch(found)}"
            for name, found in sorted(
                by_input.items(), key=lambda each: each[1][0].offsets_partition
            )
        ],
    ]
    if inputs.live is not None:
        lines += _live_lines(inputs.live, [unit for unit in units if unit.source == KAFKA])
    if inputs.passed_over:
        lines.append(
            f"  passed over: {inputs.passed_over:,} files that are no part of the offsets topic"
        )
    lines += _text_lines(inputs, text_units)
    lines += [f"  cannot be listed: {path}: {why}" for path, why in inputs.unreadable]
    nights = ", ".join(str(each) for each in dates)
    tables = sorted([*ALWAYS, *([RAW_LINES] if inputs.texts else [])])
    below = {root: [name for name in tables if private_root is None or name not in INTERNAL]}
    if private_root is not None:
        below[private_root] = [name for name in tables if name in INTERNAL]
    lines += [
        f"would write night {nights} to {len(names)} tables below {place}: {', '.join(names)}"
        for place, names in below.items()
    ]
    return lines


def chosen_lines(config: Config) -> list[str]:
    """Which groups would be left out, and what else is decided by patterns of groups."""
    lines = []
    if config.groups:
        included = f"all but {', '.join(config.groups.include)}" if config.groups.include else ""
        lines.append(
            f"would leave out groups: {', '.join(filter(None, [included, *config.groups.exclude]))}"
        )
    if config.owners:
        count = len({rule.team for rule in config.owner_rules})
        teams = f"{count:,} {'team' if count == 1 else 'teams'}"
        lines.append(
            f"would name the owners of groups by {config.owners}: {len(config.owner_rules):,}"
            f" patterns of {teams}"
        )
    if config.thresholds_by_group:
        lines.append(
            "would use thresholds of their own for groups:"
            f" {', '.join(each.pattern for each in config.thresholds_by_group)}"
        )
    return lines


def _live_lines(live: LiveTopic, units: Sequence[Unit]) -> list[str]:
    offsets = sum(unit.end_offset - unit.start_offset for unit in units)
    by_partition: dict[int, list[Unit]] = {}
    for unit in units:
        by_partition.setdefault(unit.offsets_partition, []).append(unit)
    new = [
        f"  {live.topic}-{number}: offsets {own[0].start_offset:,} to {own[-1].end_offset:,}"
        for number, own in sorted(by_partition.items())
    ]
    return [
        (
            f"would read {offsets:,} offsets of the live topic {live.topic}, of {len(new):,}"
            f" partitions of {len(live.offsets):,}"
        ),
        *new,
    ]


def _text_lines(inputs: Inputs, units: Sequence[TextUnit]) -> list[str]:
    """A line for each broker and kind of log; then files that cannot be read, or wait for their
    first line to end.
    """
    there: dict[tuple[str, int], int] = {}
    for file in inputs.texts:
        key = (file.source.kind, file.source.broker)
        there[key] = there.get(key, 0) + 1
    lines = []
    for (kind, broker), count in sorted(there.items()):
        new = {
            unit.path: unit.size
            for unit in units
            if (unit.kind, unit.broker) == (kind, broker) and not unit.failure
        }
        lines.append(
            f"  {kind} of broker {broker}: {len(new):,} files of {count:,}, {sum(new.values()):,}"
            " bytes"
        )
    lines += [
        f"  cannot be read: {file.path}: {file.failure}" for file in inputs.texts if file.failure
    ]
    waiting = sum(not file.identity and not file.failure for file in inputs.texts)
    return [*lines, f"  without a whole line yet: {waiting:,} files"] if waiting else lines


def _stretch(units: Sequence[Unit]) -> str:
    first = units[0].start_offset
    begins = f"from offset {first:,}" if first >= 0 else "from where its log begins"
    files = {file.path: file.size for unit in units for file in unit.files}
    replicas = len({file.replica for unit in units for file in unit.files})
    return (
        f"{begins}, {len(files):,} files of {replicas:,}"
        f" {'replica' if replicas == 1 else 'replicas'}, {sum(files.values()):,} bytes"
    )


def _worker_versions(spark: SparkSession) -> tuple[str, str]:
    """Python and packages as one worker has them, and which core it runs; the same code that a
    night sends to workers must be there too.
    """
    try:
        rows = spark.range(1).mapInArrow(_versions, "versions STRING, core STRING").collect()
    except PySparkException as error:
        raise NotReady(
            "the workers' Python is not as a run needs it:"
            f" {str(error).strip().splitlines()[-1].strip()}",
            f"install {', '.join(WORKER_PACKAGES)} there, or name the right Python in"
            " PYSPARK_PYTHON",
        ) from error
    return str(rows[0]["versions"]), str(rows[0]["core"])


def _versions(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import google_crc32c  # noqa: F401

    import groupreplay.workers.slices  # noqa: F401

    for _ in batches:
        packages = ", ".join(
            f"{name} {importlib.metadata.version(name)}" for name in WORKER_PACKAGES
        )
        versions = f"Python {sys.version.split()[0]}, {packages}"
        yield pa.RecordBatch.from_pydict({"versions": [versions], "core": [running()]})
