"""Prints three SQL statements that analysts ask first, ready to paste, and what they answer on the
tables of a configuration.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from groupreplay.cli.job_session import job_session
from groupreplay.cli.outcome import end_job
from groupreplay.cli.queries import queries
from groupreplay.tables.schemas import PUBLIC

if TYPE_CHECKING:
    from groupreplay.tables.warehouse import Warehouse

_WIDTH = 40
"""Longest cell, in characters; Spark shortens what is longer."""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="query_tables", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--config", required=True, metavar="FILE", help="YAML file that the tables were made with"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override one key"
    )
    parser.add_argument("--debug", action="store_true", help="print stack traces")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), debug=options.debug)


def _load() -> type[Warehouse]:
    from groupreplay.tables.warehouse import Warehouse

    return Warehouse


def _run(options: argparse.Namespace) -> str:
    with job_session("query_tables", options, _load, only_reads=True) as (spark, config, tables_at):
        warehouse = tables_at(spark, config.warehouse, config.cluster)
        warehouse.check_all(PUBLIC)
        for title, statement in queries(warehouse.root, config.cluster):
            print(f"-- {title}\n{statement};\n")
            spark.sql(statement).show(20, _WIDTH)
    return (
        f"The tables are Delta tables in {config.warehouse}; paste the statements above into any"
        " Spark SQL that has Delta."
    )


if __name__ == "__main__":
    sys.exit(main())
