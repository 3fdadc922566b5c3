"""Bounds that configuration and machines share, so that no threshold asks for what is not there.

Times in ms. A machine leaves out what is shorter or further apart than this, and the configuration
refuses a threshold that would need it.
"""

from __future__ import annotations

from typing import Final

MIN_STALL_MS: Final = 1_000
"""Closed stretches that are shorter give no row."""

MIN_QUIET_MS: Final = 60_000
"""Silences between commits that are shorter give no row."""

MIN_SILENCE_MS: Final = 10_000
"""Silences of a member in the brokers' logs that are shorter give no row."""

MAX_CHAIN_GAP_MS: Final = 3_600_000
"""A chain of events (a fence loop, an epoch storm) ends when none followed for this long."""

KEPT_EPOCH_TIMES: Final = 16
"""Starts of epochs that a group keeps, the newest ones: no threshold may need more."""

DAY_MS: Final = 86_400_000
"""Rows of days are as long, and a clock may be as far off."""
