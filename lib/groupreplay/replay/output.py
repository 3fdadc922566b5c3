"""Where the facts of a machine go."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupreplay.limits import MIN_STALL_MS
from groupreplay.replay.facts import Chain, Fact, Stall


@dataclass(slots=True)
class Output:
    """Where facts go: final ones, in the order they became so."""

    facts: list[Fact] = field(default_factory=list)

    def emit(self, fact: Fact) -> None:
        fact.is_final = True
        self.facts.append(fact)

    def take(self) -> list[Fact]:
        """The facts since the last call."""
        taken, self.facts = self.facts, []
        return taken

    def emit_stall(self, stall: Stall, until_at: int, to_offset: int) -> None:
        """Closes a stall. One that was too short for any threshold gives no row."""
        stall.until_at = until_at
        stall.to_offset = to_offset
        if until_at - stall.since_at >= MIN_STALL_MS:
            self.emit(stall)

    def emit_chain(self, chain: Chain) -> None:
        """Closes a chain. One that never repeated gives no row."""
        if len(chain.times_at) > 1:
            self.emit(chain)
