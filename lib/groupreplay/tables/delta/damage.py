"""What errors of Spark and Delta mean: that a table is damaged, and which one; that a disk is full;
that a worker could not read a state.

Damage surfaces wherever a table is read, often far from here, so an error is judged by its
condition and text, and its table by the path in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

# Turns Delta's concurrency errors into Python classes; without it they are bare Py4JJavaErrors.
import delta.exceptions  # noqa: F401
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from groupreplay.errors import GroupReplayError, NoSpace, WarehouseDamaged
from groupreplay.state_codec import StateError
from groupreplay.tables.schemas import TABLES

_SIGNS: tuple[tuple[str, str], ...] = (
    (
        (
            r"DELTA_FILE_NOT_FOUND|FAILED_READ_FILE\.FILE_NOT_EXIST"
            r"|FAILED_READ_FILE\.DBR_FILE_NOT_EXIST"
        ),
        "a data file that its log names is missing",
    ),
    (
        (
            r"FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|is not a Parquet file|can not read class"
            r" org\.apache\.parquet"
        ),
        "a data file cannot be read",
    ),
    (
        (
            r"DELTA_VERSIONS_NOT_CONTIGUOUS|DELTA_TRUNCATED_TRANSACTION_LOG"
            r"|DELTA_LOG_FILE_NOT_FOUND|DELTA_MISSING_FILES"
        ),
        "a file of its log is missing",
    ),
    (
        (
            r"DELTA_STATE_RECOVER_ERROR|DELTA_MISSING_PART_FILES|DELTA_INVALID_LOGSTORE"
            r"|actionNotFound|DELTA_ACTION_NOT_FOUND"
        ),
        "its log cannot be read",
    ),
    (
        r"JsonParseException|JsonEOFException|JsonMappingException|MalformedInput|MALFORMED_RECORD",
        "its log cannot be read",
    ),
    (
        (
            r"DELTA_TABLE_NOT_FOUND|DELTA_MISSING_DELTA_TABLE|DELTA_PATH_DOES_NOT_EXIST"
            r"|DELTA_MISSING_TRANSACTION_LOG|PATH_NOT_FOUND"
        ),
        "it is not there",
    ),
)
_FULL = re.compile(r"No space left on device|Disk quota exceeded|not enough space|File too large")
_FILE = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:)?/[^\n]*?)/(\w+)/(?:_delta_log/|cluster=)")
_DEEP_ENOUGH = 20_000


def damaged_table(error: BaseException, root: str = "", name: str = "") -> WarehouseDamaged | None:
    """The damage that an error of Spark names, None where it is about something else.

    root, name: root of the warehouse and name of the table that were being used, "" where that is
        not known; a path in the error says more: every table's files lie below
        <root>/<name>/_delta_log/ or <root>/<name>/cluster=.../.
    """
    if not isinstance(error, (PySparkException, Py4JJavaError)):
        return None
    text = str(error)[:_DEEP_ENOUGH]
    why = next((words for pattern, words in _SIGNS if re.search(pattern, text)), None)
    if why is None:
        return None
    # A table that is read while another is written is named by its path alone.
    place = _place_in(text) or ((root, name) if name else None)
    return damage_of(*place, why) if place is not None else None


def lack_of_space(error: BaseException, name: str = "") -> NoSpace | None:
    """What an error of Spark says of a full disk, None where it is about something else.

    name: name of the table that was being written, "" where that is not known.

    Java puts the cause last, below the traces of all that then could not be closed either.
    """
    if not isinstance(error, (PySparkException, Py4JJavaError, OSError)) or not _FULL.search(
        str(error)
    ):
        return None
    return NoSpace(f"the table {name}" if name else "what the job writes")


def is_state_error(error: BaseException) -> bool:
    """Whether an error of Spark came from a Python worker that raised StateError. Spark passes on
    no more than the worker's traceback, as text.
    """
    is_of_spark = isinstance(error, (PySparkException, Py4JJavaError))
    return is_of_spark and StateError.__name__ in str(error)


def damage_of(root: str, name: str, why: str) -> WarehouseDamaged:
    """The error, with its remedy: every table is made from the logs, so all but lost history can be
    made again.
    """
    return WarehouseDamaged(
        name,
        why,
        f"restore {root}/{name} from a copy, or move it aside and rerun the first night that it"
        " should hold",
    )


@contextmanager
def guarded(root: str, name: str) -> Iterator[None]:
    """Raises WarehouseDamaged or NoSpace for the errors inside that mean it."""
    try:
        yield
    except GroupReplayError:
        raise
    except Exception as error:
        foreseen = lack_of_space(error, name) or damaged_table(error, root, name)
        if foreseen is None:
            raise
        raise foreseen from error


def _place_in(text: str) -> tuple[str, str] | None:
    """(root, table) of the first path to a table's file in the text."""
    match = _FILE.search(text)
    return (
        (re.sub(r"^file:/+", "/", match[1]), match[2])
        if match is not None and match[2] in TABLES
        else None
    )
