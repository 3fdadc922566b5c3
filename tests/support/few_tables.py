"""Nights that publish few tables, for tests of what becomes of a night rather than of its tables: a
table costs such a night half a second, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from groupreplay.night.publishing import publisher
from groupreplay.report.catalog import SPECS

FEW: Final = (
    "topics",
    "coverage",
    "group_epochs",
    "group_state",
    "departure_waves",
    "migration_progress",
    "revocation_latencies",
    "group_days",
    "anomalies",
)
"""One or more of each sort: of facts, of landed rows, of tables of this night and of earlier ones,
with and without rows that are not final, and what the next night goes on from.
"""


@contextmanager
def few_tables() -> Iterator[None]:
    """Nights in the session of the tests publish FEW only. The others exist and stay empty."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(publisher, "SPECS", {name: SPECS[name] for name in FEW})
        yield
