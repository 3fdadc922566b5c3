"""How a job ends: one sentence as the last line of its output, and the exit status that goes with it (design section 7)."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable

from groupreplay.errors import GroupReplayError
from groupreplay.tables.damage import damaged_table, lack_of_space

UNFORESEEN = 1
INTERRUPTED = 130
_LONG_ENOUGH = 400


def end_job(work: Callable[[], str], *, debug: bool = False) -> int:
    """Does the work, which returns its last sentence, and returns the exit status. debug: traces go to stderr, also of errors that were foreseen."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    try:
        sentence, status = work(), 0
    except GroupReplayError as error:
        sentence, status = str(error), error.exit_code
        _trace(error, debug)
    except KeyboardInterrupt:
        sentence, status = "interrupted; run it with --take-over to go on where it was", INTERRUPTED
    except Exception as error:  # noqa: BLE001  (a person must never get a stack trace for an answer)
        foreseen = lack_of_space(error) or damaged_table(error)
        place = _trace(error, debug)
        sentence, status = (str(foreseen), foreseen.exit_code) if foreseen is not None else (f"unforeseen: {_first_line(error)}; {place}", UNFORESEEN)
    sys.stderr.flush()
    sys.stdout.write(" ".join(sentence.split()) + "\n")
    sys.stdout.flush()
    return status


def _trace(error: BaseException, debug: bool) -> str:
    """Leaves the trace of an unforeseen error where its last sentence says; under debug every trace goes to stderr."""
    text = "".join(traceback.format_exception(error))
    if debug:
        sys.stderr.write(text)
        return "its trace is above"
    if isinstance(error, GroupReplayError):
        return ""
    path = os.path.join(tempfile.gettempdir(), f"groupreplay-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.log")
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
