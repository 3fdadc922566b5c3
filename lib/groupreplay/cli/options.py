"""What the command lines of the jobs have in common."""

from __future__ import annotations

import argparse
from datetime import date

from groupreplay.cli.outcome import LOG_FORMATS, TEXT

_MERGED = "YAML file, merged over conf/base.yaml, which explains every key"


def job_parser(
    job: str,
    description: str | None,
    config: str = _MERGED,
    key: str = "thresholds.static_limbo_ms=30000",
    example: str = "",
) -> argparse.ArgumentParser:
    """Options of every job.

    config: what the configuration is to it.
    key: one that a user would override.
    example: options that a user would add to those that every job needs.
    """
    parser = argparse.ArgumentParser(
        prog=job,
        description=description,
        epilog=f"example:\n  ./spark-submit.sh {job} --config conf/nightly.yaml {example}".rstrip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--config", required=True, metavar="FILE", help=config)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"override one key, such as {key}",
    )
    parser.add_argument(
        "--log-format",
        choices=LOG_FORMATS,
        default=TEXT,
        help="json: every line of output is a JSON object",
    )
    parser.add_argument("--debug", action="store_true", help="print stack traces")
    return parser


def night_parser(
    job: str,
    description: str | None,
    default_night: str,
    which: str = "night to run",
) -> argparse.ArgumentParser:
    """Options of every job that runs a night.

    default_night: which night it is without --logical-date.
    which: what --logical-date names.
    """
    parser = job_parser(job, description, example="--logical-date 2026-11-20")
    parser.add_argument(
        "--logical-date",
        type=_date,
        metavar="YYYY-MM-DD",
        help=f"{which}; default: {default_night}",
    )
    parser.add_argument(
        "--take-over",
        action="store_true",
        help="go on with a run whose process died; one that lives is never taken over",
    )
    return parser


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """For jobs that read the sources."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help=(
            "say what would be read and written, and check jars, workers and access; write nothing"
        ),
    )


def path(text: str) -> str:
    """For an option that names one."""
    if text:
        return text
    raise argparse.ArgumentTypeError("expected a path, found none")


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected YYYY-MM-DD, found {text!r}") from None
