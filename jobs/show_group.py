"""Writes the page of one group, of the newest night or of several, and says where it is.

Exit status: 0 done; 1 unforeseen; 2 bad usage or configuration, no night that is done, or no such
group; 5 the warehouse is damaged.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from groupreplay.cli.job_session import job_session
from groupreplay.cli.options import job_parser
from groupreplay.cli.outcome import end_job

MOST_NIGHTS = 90


def build_parser() -> argparse.ArgumentParser:
    parser = job_parser(
        "show_group",
        __doc__,
        "YAML file that the tables were made with",
        "warehouse=/data/groupreplay",
        "--group payments.settlement",
    )
    parser.add_argument("--group", required=True, metavar="ID", help="whole id of the group")
    parser.add_argument(
        "--nights",
        type=_nights,
        default=1,
        metavar="N",
        help=f"nights to show, back from the newest, at most {MOST_NIGHTS}; default: 1",
    )
    return parser


def _nights(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= MOST_NIGHTS:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"expected a whole number from 1 to {MOST_NIGHTS}, found {text!r}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), options)


def _load() -> Callable[..., str]:
    from groupreplay.night.show_group import show_group

    return show_group


def _run(options: argparse.Namespace) -> str:
    with job_session("show_group", options, _load, only_reads=True) as (spark, config, show):
        address = show(spark, config, options.group, options.nights)
    return f"The page of the group is {address}"


if __name__ == "__main__":
    sys.exit(main())
