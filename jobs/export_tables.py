"""Writes rows of one table or view, as the newest finished night left it, to a file of CSV, JSON
lines or Parquet.

Ends with one sentence. Exit status: 0 done; 1 unforeseen; 2 bad usage or configuration, or no night
is done yet; 5 the warehouse is damaged.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from groupreplay.cli.job_session import job_session
from groupreplay.cli.options import job_parser, path
from groupreplay.cli.outcome import end_job
from groupreplay.tables.export import FORMATS, chosen, export
from groupreplay.tables.schemas import PUBLIC
from groupreplay.tables.views import VIEWS

if TYPE_CHECKING:
    from groupreplay.tables.finished_night import FinishedNight


def build_parser() -> argparse.ArgumentParser:
    parser = job_parser(
        "export_tables",
        __doc__,
        "YAML file that the tables were made with",
        "warehouse=/data/groupreplay",
        "--format csv --table stuck_members --to stuck.csv",
    )
    parser.add_argument("--format", required=True, choices=FORMATS, help="json: an object a line")
    parser.add_argument(
        "--table",
        required=True,
        choices=(*PUBLIC, *VIEWS),
        metavar="T",
        help="table or view; see docs/tables.md and docs/sql.md",
    )
    parser.add_argument(
        "--where", metavar="SQL", help="which rows, in Spark's SQL; default: all of the cluster"
    )
    parser.add_argument(
        "--to",
        required=True,
        type=path,
        metavar="PATH",
        help="file or URI that is not there yet; with / at its end: a folder of several files",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), options)


def _load() -> type[FinishedNight]:
    from groupreplay.tables.finished_night import FinishedNight

    return FinishedNight


def _run(options: argparse.Namespace) -> str:
    with job_session("export_tables", options, _load, only_reads=True) as (spark, config, night_of):
        night = night_of.newest(spark, config.warehouse, config.cluster)
        rows = chosen(night.read(options.table), options.table, options.where)
        count = export(rows, options.format, options.to)
    return (
        f"Done: {count:,} rows of {options.table}, as night {night.logical_date} of cluster"
        f" {config.cluster} left it, are in {options.to}."
    )


if __name__ == "__main__":
    sys.exit(main())
