"""What became of a member that left: codes that tables of decisions share."""

from __future__ import annotations

from typing import Final

LEFT: Final = "LEFT"
EXPIRED: Final = "EXPIRED"
POLL_TIMEOUT: Final = "POLL_TIMEOUT"
UNKNOWN: Final = "UNKNOWN"
