"""Replays and publishes all nights again, from the raw rows that they landed: for a better decoder,
or where states cannot be read.

Let no other job of the cluster run meanwhile. Ends with a summary and one sentence. Exit status: 0
done; 1 unforeseen; 2 bad usage or configuration, or raw rows were deleted; 3 a source of topics
cannot be read; 4 another run holds a night; 5 the warehouse is damaged.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from groupreplay.cli.job_session import job_session
from groupreplay.cli.options import night_parser
from groupreplay.cli.outcome import end_job, show_result

if TYPE_CHECKING:
    from groupreplay.night.run import NightResult


def build_parser() -> argparse.ArgumentParser:
    return night_parser(
        "rebuild_nights",
        __doc__,
        "the first there is",
        "first night to rebuild, as if the log began with it",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), options)


def _load() -> Callable[..., NightResult]:
    from groupreplay.night.run import rebuild_nights

    return rebuild_nights


def _run(options: argparse.Namespace) -> str:
    started = time.monotonic()
    with job_session("rebuild_nights", options, _load) as (spark, config, rebuild_nights):
        result = rebuild_nights(spark, config, options.logical_date, take_over=options.take_over)
    show_result(result, options.log_format)
    first, last = result.logical_dates[0], result.logical_dates[-1]
    which = f"{len(result.logical_dates):,} nights of cluster {config.cluster}, {first} to {last}"
    return (
        f"Done: {which}, were rebuilt in {config.warehouse}, in {time.monotonic() - started:.0f} s."
    )


if __name__ == "__main__":
    sys.exit(main())
