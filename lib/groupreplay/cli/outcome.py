"""How a job speaks and ends: its log, and one sentence as the last line of its output with the exit
status that goes with it (docs/nights.md, Exit status).

As text for people, or as JSON, one object a line, for collectors of logs: `at` (ISO 8601, UTC),
`level`, `logger`, `message`, and what else the line has: `night`, `step`, `share`, `summary`,
`night_summary`, `statement`, `row`, `exit_status`. The last line is an object too; its `message` is
the sentence.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from groupreplay.errors import GroupReplayError
from groupreplay.report.summary.text import summary_lines
from groupreplay.tables.delta.damage import damaged_table, lack_of_space

if TYPE_CHECKING:
    from groupreplay.night.run import NightResult

TEXT, JSON = "text", "json"
LOG_FORMATS = (TEXT, JSON)
UNFORESEEN = 1
INTERRUPTED = 130
_LONG_ENOUGH = 400
_OF_STATEMENTS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of PySpark: each error of a statement goes to them with a trace of 12 kB, also one that
was foreseen. The last sentence says what is wrong, and where the trace is.
"""


class JsonLines(logging.Formatter):
    """A record as one JSON object; `extra={"fields": {..}}` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        at = (
            datetime.fromtimestamp(record.created, UTC)
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z")
        )
        fields = {
            "at": at,
            "level": record.levelname,
            "logger": record.name,
            "message": " ".join(record.getMessage().split()),
        }
        fields |= getattr(record, "fields", {})
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False, default=str)


def result_lines(result: NightResult) -> list[str]:
    """What a person reads of a run: the summary of its night, or what a dry run says."""
    return list(result.dry_run_lines) if result.summary is None else summary_lines(result.summary)


def show_result(result: NightResult, log_format: str = TEXT) -> None:
    """Prints these lines. As JSON the summary comes as data too, in `night_summary`; a dry run has
    none.
    """
    model = {} if result.summary is None else {"night_summary": result.summary.as_json()}
    show_lines(result_lines(result), log_format, **model)


def show_lines(lines: Sequence[str], log_format: str = TEXT, **fields: Any) -> None:
    """Prints lines for a person: as they are, or as one JSON object with the lines in `summary`.

    fields: what else the JSON object has.
    """
    if log_format == JSON:
        show_object("summary", summary=list(lines), **fields)
    else:
        sys.stdout.write("\n".join(lines) + "\n\n")


def show_object(message: str, **fields: Any) -> None:
    """Prints a JSON object as one line."""
    sys.stdout.write(_json_line(message, logging.INFO, **fields) + "\n")


def end_job(work: Callable[[], str], options: argparse.Namespace) -> int:
    """Does the work, which returns its last sentence, and returns the exit status.

    options: arguments as `cli.options` parses them. With --debug traces go to stderr, also of
        errors that were foreseen.
    """
    debug, log_format = options.debug, options.log_format
    _start_log(log_format)
    try:
        sentence, status = work(), 0
    except GroupReplayError as error:
        sentence, status = str(error), error.exit_code
        _trace(error, debug, log_format)
    except KeyboardInterrupt:
        sentence, status = f"interrupted; {_again(options)}", INTERRUPTED
    # A person must never get a stack trace for an answer.
    except Exception as error:  # noqa: BLE001
        foreseen = lack_of_space(error) or damaged_table(error)
        place = _trace(error, debug, log_format)
        sentence, status = (
            (str(foreseen), foreseen.exit_code)
            if foreseen is not None
            else (f"unforeseen: {_first_line(error)}; {place}", UNFORESEEN)
        )
    sys.stderr.flush()
    sentence = " ".join(sentence.split())
    if log_format == JSON:
        sentence = _json_line(
            sentence, logging.ERROR if status else logging.INFO, exit_status=status
        )
    sys.stdout.write(sentence + "\n")
    sys.stdout.flush()
    return status


def _again(options: argparse.Namespace) -> str:
    """How to run an interrupted job again: one that runs a night keeps what it had done."""
    if "take_over" not in options or getattr(options, "dry_run", False):
        return "run it again"
    return "run it with --take-over to go on where it was"


def _start_log(log_format: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonLines()
        if log_format == JSON
        else logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S")
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.captureWarnings(log_format == JSON)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    for name in _OF_STATEMENTS:
        logging.getLogger(name).disabled = True


def _json_line(message: str, level: int, **fields: Any) -> str:
    record = logging.LogRecord(__name__, level, "", 0, message, (), None)
    record.fields = fields
    return JsonLines().format(record)


def _trace(error: BaseException, debug: bool, log_format: str) -> str:
    """Leaves the trace of an unforeseen error where its last sentence says; under debug every trace
    goes to stderr.
    """
    text = "".join(traceback.format_exception(error))
    if debug:
        sys.stderr.write(
            _json_line("trace", logging.ERROR, trace=text) + "\n" if log_format == JSON else text
        )
        return "its trace is above"
    if isinstance(error, GroupReplayError):
        return ""
    path = os.path.join(
        tempfile.gettempdir(), f"groupreplay-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.log"
    )
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return "run it with --debug to see the trace"
    return f"its trace is in {path}"


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text if len(text) <= _LONG_ENOUGH else f"{text[:_LONG_ENOUGH]}..."
