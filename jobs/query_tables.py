"""Prints three SQL statements that analysts ask first, ready to paste, and what they answer on the
tables of a configuration.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from groupreplay.cli.job_session import job_session
from groupreplay.cli.options import job_parser
from groupreplay.cli.outcome import end_job
from groupreplay.cli.queries import queries, show_answer
from groupreplay.tables.schemas import PUBLIC

if TYPE_CHECKING:
    from groupreplay.tables.warehouse import Warehouse


def build_parser() -> argparse.ArgumentParser:
    return job_parser(
        "query_tables",
        __doc__,
        "YAML file that the tables were made with",
        "warehouse=/data/groupreplay",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), options)


def _load() -> type[Warehouse]:
    from groupreplay.tables.warehouse import Warehouse

    return Warehouse


def _run(options: argparse.Namespace) -> str:
    with job_session("query_tables", options, _load, only_reads=True) as (spark, config, tables_at):
        warehouse = tables_at(spark, config.warehouse, config.cluster)
        warehouse.check_all(PUBLIC)
        for title, statement in queries(warehouse.root, config.cluster):
            show_answer(title, statement, spark.sql(statement), options.log_format)
    return (
        f"The tables are Delta tables in {config.warehouse}; paste the statements above into any"
        " Spark SQL that has Delta."
    )


if __name__ == "__main__":
    sys.exit(main())
