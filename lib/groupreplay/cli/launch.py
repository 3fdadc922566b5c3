"""What a job needs of its JVM, known before Java starts (`cli.spark_options`).

KAFKA where the job asks a cluster, and so needs the jars of Spark's Kafka source. BOTH_COMPILERS
where it has so much to read on this machine that Java's second compiler pays. Errors of a
configuration are reported by the job; here they need nothing.
"""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from groupreplay.cli.spark_options import BOTH_COMPILERS, KAFKA
from groupreplay.config.model import Config
from groupreplay.config.reader import load_config
from groupreplay.config.sources import KafkaSource, KafkaTopicsSource, Source
from groupreplay.errors import ConfigError

OF_LOGS: Final = frozenset({"run_nightly", "land_logs"})
"""Jobs that read logs."""

OF_RAW_ROWS: Final = frozenset({"rebuild_nights"})
"""Jobs that read all rows that nights landed."""

OF_SOURCES: Final = OF_LOGS | OF_RAW_ROWS | {"replay_groups", "build_reports"}
"""Jobs that look at sources, if only for names of topics."""

LOG_KINDS: Final = frozenset({"segments", "dump_log"})

LARGE_LOG_BYTES: Final = 400 << 20
"""From some four million records on, the second compiler saves more than it costs
(docs/benchmarks.md).
"""

LARGE_RAW_BYTES: Final = 60 << 20
"""The same of landed rows: two million membership records of some 33 bytes."""

_NEVER: Final = -1.0


def needed(job: str, arguments: Sequence[str]) -> list[str]:
    """KAFKA, BOTH_COMPILERS, both or none.

    arguments: command line of the job, without its name.
    """
    options = _options(arguments)
    if job not in OF_SOURCES or options.config is None:
        return []
    try:
        config = load_config(options.config, options.set)
    except ConfigError:
        return []
    asks = any(isinstance(each, KafkaSource | KafkaTopicsSource) for each in config.sources)
    is_large = (job in OF_LOGS and _has_large_logs(config)) or (
        job in OF_RAW_ROWS and _has_large_raw_rows(config)
    )
    return [*([KAFKA] if asks else []), *([BOTH_COMPILERS] if is_large else [])]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--config")
    parser.add_argument("--set", action="append", default=[])
    try:
        return parser.parse_known_args(arguments)[0]
    except argparse.ArgumentError:
        return argparse.Namespace(config=None, set=[])


def _has_large_logs(config: Config) -> bool:
    """Whether local files that are newer than the last run hold much. An older file was read by a
    run before, but for the little that was written while that run began.
    """
    last_run = _newest_s(os.path.join(_local(config.warehouse), "runs", "_delta_log"))
    paths = [
        each.path for each in config.sources if isinstance(each, Source) and each.kind in LOG_KINDS
    ]
    new = (size for path in paths for size, time_s in _files(path) if time_s > last_run)
    return _adds_up(new, LARGE_LOG_BYTES)


def _has_large_raw_rows(config: Config) -> bool:
    folder = os.path.join(_local(config.private_warehouse or config.warehouse), "raw_records")
    return _adds_up((size for size, _ in _files(folder)), LARGE_RAW_BYTES)


def _adds_up(sizes: Iterable[int], enough: int) -> bool:
    """Stops looking when there is enough."""
    total = 0
    for size in sizes:
        total += size
        if total >= enough:
            return True
    return False


def _newest_s(folder: str) -> float:
    """When the newest file in it was written, s since the epoch; _NEVER without any."""
    return max((time_s for _, time_s in _files(folder)), default=_NEVER)


def _local(path: str) -> str:
    """A path of this machine as it is; a URI of another file system is a path that is not there."""
    return path.removeprefix("file://")


def _files(path: str) -> Iterator[tuple[int, float]]:
    """(bytes, time of the last change) of each file at a local path: a file, a folder or a glob."""
    path = _local(path)
    for root in [path] if os.path.exists(path) else glob.iglob(path, recursive=True):
        names = (os.path.join(at, name) for at, _, found in os.walk(root) for name in found)
        for name in [root] if os.path.isfile(root) else names:
            try:
                status = os.stat(name)
            except OSError:
                continue
            yield status.st_size, status.st_mtime
