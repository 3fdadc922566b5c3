"""Deletes what is past its retention, puts small files together, and vacuums: as often as you like, a week apart is enough.

Ends with a list of files and one sentence. Exit status: 0 done; 1 unforeseen; 2 bad usage or configuration; 4 a night is at work; 5 the warehouse is
damaged.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from groupreplay.config_file import load_config
from groupreplay.outcome import end_job
from groupreplay.session import start_session
from groupreplay.steps.maintain import maintain


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="maintain_tables", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--config", required=True, metavar="FILE", help="YAML file that the tables were made with; retention says what is kept")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one key, such as retention.raw_nights=30")
    parser.add_argument("--debug", action="store_true", help="print stack traces")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), debug=options.debug)


def _run(options: argparse.Namespace) -> str:
    started = time.monotonic()
    config = load_config(options.config, options.set, only_reads=True)
    spark = start_session("groupreplay maintain_tables")
    try:
        maintained = maintain(spark, config)
    finally:
        spark.stop()
    print("\n".join(maintained.lines) + "\n")
    before, after = (sum(small for _, small in files.values()) for files in (maintained.files_before, maintained.files_after))
    return (
        f"Done: the tables of cluster {config.cluster} in {config.warehouse} went from {before:,} to {after:,} small files, "
        f"in {time.monotonic() - started:.0f} s."
    )


if __name__ == "__main__":
    sys.exit(main())
