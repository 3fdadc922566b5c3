"""Lands what is new in the logs of the group coordinators: the first step of a night, which
replay_groups goes on with.

Ends with one sentence. Exit status: 0 done; 1 unforeseen; 2 bad usage or configuration; 3 a source
cannot be read at all; 4 another run holds this night; 5 the warehouse is damaged.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from groupreplay.cli.job_session import job_session
from groupreplay.cli.options import add_dry_run, night_parser
from groupreplay.cli.outcome import end_job, show_result

if TYPE_CHECKING:
    from groupreplay.night.run import NightResult


def build_parser() -> argparse.ArgumentParser:
    parser = night_parser("land_logs", __doc__, "the UTC date of the newest record")
    add_dry_run(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), options)


def _load() -> Callable[..., NightResult]:
    from groupreplay.night.run import land_logs

    return land_logs


def _run(options: argparse.Namespace) -> str:
    started = time.monotonic()
    with job_session("land_logs", options, _load) as (spark, config, land_logs):
        result = land_logs(
            spark,
            config,
            options.logical_date,
            dry_run=options.dry_run,
            take_over=options.take_over,
        )
    if options.dry_run:
        show_result(result, options.log_format)
        return "Nothing was written: this was a dry run."
    nights = " and ".join(str(night) for night in result.logical_dates)
    return (
        f"Landed: night {nights} of cluster {config.cluster} can be replayed, in"
        f" {time.monotonic() - started:.0f} s."
    )


if __name__ == "__main__":
    sys.exit(main())
