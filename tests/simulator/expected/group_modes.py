"""How a group rebalances: eager, cooperative, by the consumer protocol, or mixed (measures.md, What
if)."""

from __future__ import annotations

from collections.abc import Iterable

from tests.simulator.expected.generations import generation_of
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import is_new_generation
from tests.simulator.lives import Life
from tests.simulator.truth import CLASSIC, Operation

EAGER, COOPERATIVE, CONSUMER_ALONE, MIXED = "EAGER", "COOPERATIVE", "CONSUMER", "MIXED"


def modes_of(history: History, life: Life) -> list[str | None]:
    """After each operation of a life. A classic group does what its members last showed when they
    joined; before they did, what its assignor is called says it. None of one without members."""
    return history.made_once(_modes_of, life)


def _modes_of(history: History, life: Life) -> list[str | None]:
    shown: bool | None = None
    found: list[str | None] = []
    for before, operation in life.steps():
        if operation.protocol == CLASSIC and is_new_generation(before, operation):
            told = generation_of(before, operation).cooperative
            shown = shown if told is None else told
        found.append(_mode(operation, shown) if operation.members else None)
    return found


def _mode(operation: Operation, shown: bool | None) -> str:
    if operation.protocol != CLASSIC:
        is_mixed = any(each.is_classic for each in operation.members.values())
        return MIXED if is_mixed else CONSUMER_ALONE
    by_name = operation.protocol_name == "cooperative-sticky"
    return COOPERATIVE if (by_name if shown is None else shown) else EAGER


def mode_of_all(modes: Iterable[str | None]) -> str:
    """Throughout."""
    found = {each for each in modes if each is not None}
    return found.pop() if len(found) == 1 else MIXED
