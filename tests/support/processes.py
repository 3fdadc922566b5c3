"""What jobs that tests start as processes of their own run in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from groupreplay.compiled_core import VARIABLE

_ARCHIVE: Final = Path(__file__).parents[2] / ".cache/classes.jsa"


def as_a_user_has_it() -> dict[str, str]:
    """The environment without what the suite itself is run with: a job takes the compiled core
    where there is one of these sources.
    """
    return {name: value for name, value in os.environ.items() if name != VARIABLE}


def archived_classes() -> list[str]:
    """Options by which Java starts from the archive of classes that `make setup` recorded, as jobs
    do; none where there is no archive.
    """
    if not _ARCHIVE.exists() or not _ARCHIVE.stat().st_size:
        return []
    options = ["-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
    return [f"-XX:SharedArchiveFile={_ARCHIVE}", *options]
