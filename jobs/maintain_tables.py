"""Deletes what is past its retention, puts small files together, and vacuums: as often as you like,
a week apart is enough.

Ends with a list of files and one sentence. Exit status: 0 done; 1 unforeseen; 2 bad usage or
configuration; 4 a night is at work; 5 the warehouse is damaged.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from groupreplay.cli.job_session import job_session
from groupreplay.cli.options import job_parser
from groupreplay.cli.outcome import end_job, show_lines

if TYPE_CHECKING:
    from groupreplay.night.maintain import Maintained


def build_parser() -> argparse.ArgumentParser:
    return job_parser(
        "maintain_tables",
        __doc__,
        "YAML file that the tables were made with; retention says what is kept",
        "retention.raw_nights=30",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), options)


def _load() -> Callable[..., Maintained]:
    from groupreplay.night.maintain import maintain

    return maintain


def _run(options: argparse.Namespace) -> str:
    started = time.monotonic()
    with job_session("maintain_tables", options, _load, only_reads=True) as (
        spark,
        config,
        maintain,
    ):
        maintained = maintain(spark, config)
    show_lines(maintained.lines, options.log_format)
    before, after = (
        sum(small for _, small in files.values())
        for files in (maintained.files_before, maintained.files_after)
    )
    return (
        f"Done: the tables of cluster {config.cluster} in {config.warehouse} went from {before:,}"
        f" to {after:,} small files, in {time.monotonic() - started:.0f} s."
    )


if __name__ == "__main__":
    sys.exit(main())
