"""Publishes the tables of a night that was replayed, the last step; of one that was published,
again, without a replay.

Ends with a summary and one sentence. Exit status: 0 done; 1 unforeseen; 2 bad usage or
configuration, or out of order; 3 a source of topics cannot be read; 4 another run holds this night;
5 the warehouse is damaged.
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
    return night_parser("build_reports", __doc__, "the newest night that has landed")


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), options)


def _load() -> Callable[..., NightResult]:
    from groupreplay.night.run import build_reports

    return build_reports


def _run(options: argparse.Namespace) -> str:
    started = time.monotonic()
    with job_session("build_reports", options, _load) as (spark, config, build_reports):
        result = build_reports(spark, config, options.logical_date, take_over=options.take_over)
    show_result(result, options.log_format)
    nights = " and ".join(str(night) for night in result.logical_dates)
    return (
        f"Done: night {nights} of cluster {config.cluster} is in {config.warehouse}, in"
        f" {time.monotonic() - started:.0f} s."
    )


if __name__ == "__main__":
    sys.exit(main())
