"""What the truth does not tell, and why: values that several checks let pass."""

from __future__ import annotations

from typing import Final

from tests.simulator.compare import OneOf, Untold
from tests.simulator.lives import Life
from tests.simulator.truth import Operation

COMMITS_OF_DELETED: Final = Untold("commits of a topic that was deleted")
NAME_OF_DELETED: Final = Untold("the name of a deleted topic, over a conversion")
END_IS_HIDDEN: Final = Untold("what follows an end that a downgrade hides")
TO_TWO_AT_ONCE: Final = Untold("a classic generation gave a partition to two members at once")
NOTHING_BEFORE: Final = Untold("what the target was before the coordinator forgot the group")
BIRTH_IS_HIDDEN: Final = Untold("what was before a first K2 past generation 1")


def start_observed(life: Life, opened: Operation) -> bool | OneOf:
    """Whether a row shows what began with the operation that opens it."""
    return True if life.is_seen_to_begin(opened) else OneOf((True, False))
