"""Registers the tables of a warehouse in a catalog by their locations, and views that hold to the
newest finished night: for warehouses that exist. A night does so itself.

Ends with one sentence. Exit status: 0 done; 1 unforeseen; 2 bad usage or configuration, a catalog
that refuses, or no night is done yet; 5 the warehouse is damaged.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from groupreplay.cli.job_session import job_session
from groupreplay.cli.options import job_parser
from groupreplay.cli.outcome import end_job, show_lines
from groupreplay.errors import ConfigError

if TYPE_CHECKING:
    from groupreplay.tables.finished_night import FinishedNight
    from groupreplay.tables.registration import Registered


def build_parser() -> argparse.ArgumentParser:
    return job_parser(
        "register_tables",
        __doc__,
        "YAML file that the tables were made with; catalog says where",
        "catalog.schema=groupreplay",
        "--set catalog.schema=groupreplay",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), options)


def _load() -> tuple[type[FinishedNight], Callable[..., None], Callable[..., Registered]]:
    from groupreplay.tables.finished_night import FinishedNight
    from groupreplay.tables.registration import check_lasting, register

    return FinishedNight, check_lasting, register


def _run(options: argparse.Namespace) -> str:
    with job_session("register_tables", options, _load, only_reads=True) as (spark, config, work):
        night_of, check_lasting, register = work
        schema, prefix = config.catalog.schema, config.catalog.prefix
        if schema is None:
            raise ConfigError(
                options.config, "catalog.schema", "is null, expected the name of a schema"
            )
        check_lasting(spark, schema)
        night = night_of.newest(spark, config.warehouse, config.cluster)
        names = register(night, schema, prefix)
    show_lines([f"{schema}.{name}" for name in (*names.tables, *names.views)], options.log_format)
    held = f"the views hold to night {night.logical_date}" if names.views else "it has no views"
    return (
        f"Done: {len(names.tables)} tables and {len(names.views)} views of cluster"
        f" {config.cluster} are in {schema}; {held}."
    )


if __name__ == "__main__":
    sys.exit(main())
