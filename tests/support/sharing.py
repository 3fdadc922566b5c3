"""Which tests one worker of the suite runs one after another: those that share what takes long to
make.
"""

from __future__ import annotations

from typing import Final

from xdist.scheduler import LoadFileScheduling

SHARED: Final = (
    # Two nights of a log that grows.
    "tests/faults/",
    # The night of the demo.
    "tests/end_to_end/test_sql",
)
"""How the paths of files begin that one worker runs, in their order."""


class SharedScheduling(LoadFileScheduling):
    """One worker runs a file, or files that share something."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((begin for begin in SHARED if file.startswith(begin)), file)
