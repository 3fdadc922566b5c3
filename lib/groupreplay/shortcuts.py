"""What the package does behind the back of a library to save time, and the switch for each.

`GROUPREPLAY_SHORTCUTS` in the environment of the driver and of the workers names those that are on,
with commas between; all are where it is not set, and none where it is empty. No shortcut changes a
row. docs/benchmarks.md has what each one saves, and `python -m tests.bench.shortcuts` measures it.
"""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "GROUPREPLAY_SHORTCUTS"

FIRST_VERSION: Final = "first-version"
"""`tables.delta.first_version`: the log of a new table is written without CREATE TABLE."""

COMMITTED_FILES: Final = "committed-files"
"""`tables.delta.committed_files`: the rows that a night committed are read without Delta."""

OWN_FILES: Final = "own-files"
"""`tables.delta.own_files`: a run's row in `runs` is written without Spark's writer."""

CHECKSUM_FILES: Final = "checksum-files"
"""`tables.delta.checksum_files`: which files a commit replaces is read from Delta's checksum."""

JAVA_MEMBERS: Final = "java-members"
"""`tables.java_members`: members of Java's classes are looked up once."""

ZIP_IMPORTERS: Final = "zip-importers"
"""`workers.zip_importers`: importers of zip files are dropped after a task."""

COMPILED_ZIPS: Final = "compiled-zips"
"""`.ci/compile_zips`: zips of Python modules hold what Python compiles them to."""

ALL: Final = (
    FIRST_VERSION,
    COMMITTED_FILES,
    OWN_FILES,
    CHECKSUM_FILES,
    JAVA_MEMBERS,
    ZIP_IMPORTERS,
    COMPILED_ZIPS,
)


def is_on(name: str) -> bool:
    """name: one of `ALL`."""
    named = os.environ.get(VARIABLE)
    return named is None or name in {each.strip() for each in named.split(",")}
