"""Replays what is new in the logs of the group coordinators, and publishes the tables of one night.

Ends with a summary and one sentence. Exit status: 0 done; 1 unforeseen; 2 bad usage or configuration; 3 a source cannot be read at all;
4 another run holds this night; 5 the warehouse is damaged.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from datetime import date

from groupreplay.config_file import load_config
from groupreplay.outcome import LOG_FORMATS, end_job, tell
from groupreplay.session import start_session
from groupreplay.steps.night import run_night

_log = logging.getLogger("run_nightly")


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run_nightly", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--config", required=True, metavar="FILE", help="YAML file, merged over conf/base.yaml, which explains every key")
    parser.add_argument("--logical-date", type=_date, metavar="YYYY-MM-DD", help="night to run; default: the UTC date of the newest record")
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be read and written, and check jars, workers and access; write nothing"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one key, such as thresholds.static_limbo_ms=30000")
    parser.add_argument("--log-format", choices=LOG_FORMATS, default=LOG_FORMATS[0], help="json: every line of output is a JSON object")
    parser.add_argument("--debug", action="store_true", help="print stack traces")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    return end_job(lambda: _run(options), debug=options.debug, log_format=options.log_format)


def _run(options: argparse.Namespace) -> str:
    started = time.monotonic()
    config = load_config(options.config, options.set)
    _log.info("cluster=%s warehouse=%s sources=%d config=%s", config.cluster, config.warehouse, len(config.sources), config.config_hash[:12])
    spark = start_session("groupreplay run_nightly")
    try:
        result = run_night(spark, config, options.logical_date, dry_run=options.dry_run)
    finally:
        spark.stop()
    tell(result.summary_lines, options.log_format)
    if options.dry_run:
        return "Nothing was written: this was a dry run."
    nights = " and ".join(str(night) for night in result.logical_dates)
    return f"Done: night {nights} of cluster {config.cluster} is in {config.warehouse}, in {time.monotonic() - started:.0f} s."


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected YYYY-MM-DD, found {text!r}") from None


if __name__ == "__main__":
    sys.exit(main())
