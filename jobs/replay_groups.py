"""Replays the groups of a night that has landed: the second step, which build_reports goes on with.

Ends with one sentence. Exit status: 0 done; 1 unforeseen; 2 bad usage or configuration, or out of
order; 3 a source of topics cannot be read; 4 another run holds this night; 5 the warehouse is
damaged.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from groupreplay.cli.job_session import job_session
from groupreplay.cli.options import night_parser
from groupreplay.cli.outcome import end_job

if TYPE_CHECKING:
    from groupreplay.night.run import NightResult


def build_parser() -> argparse.ArgumentParser:
    return night_parser("replay_groups", __doc__, "the newest night that has landed")


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), options)


def _load() -> Callable[..., NightResult]:
    from groupreplay.night.run import replay_groups

    return replay_groups


def _run(options: argparse.Namespace) -> str:
    started = time.monotonic()
    with job_session("replay_groups", options, _load) as (spark, config, replay_groups):
        result = replay_groups(spark, config, options.logical_date, take_over=options.take_over)
    nights = " and ".join(str(night) for night in result.logical_dates)
    return (
        f"Replayed: night {nights} of cluster {config.cluster} can be published, in"
        f" {time.monotonic() - started:.0f} s."
    )


if __name__ == "__main__":
    sys.exit(main())
