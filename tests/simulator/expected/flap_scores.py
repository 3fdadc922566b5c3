"""`group_days.flap_score`: how much of what happened on a day was undone (measures.md, Days of
groups). What was moved and who came and went the row says, as `group_days` holds it; who came back
after it was removed the truth does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.episodes.repetitions import back_at
from tests.simulator.expected import group_days
from tests.simulator.expected.history import Check, History
from tests.simulator.tables import Row

LEAST_CHANGES: Final = 5


@dataclass(frozen=True, slots=True)
class Score:
    """returns: of members that were removed, on this day. admits: of the score and its row."""

    returns: int

    def admits(self, value: Any) -> bool:
        score, row = value
        changes = row["moved"] + row["joins"] + row["departures"]
        if changes < LEAST_CHANGES:
            return score is None
        exact = 100 * (row["returned"] + 2 * self.returns) / changes
        return score is not None and abs(score - exact) <= _ROUNDED

    def __str__(self) -> str:
        return f"of {self.returns} returns"


_ROUNDED: Final = 0.5


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    backs = [(life.group_id, at) for life in history.lives for at in back_at(life)]
    for key, must in group_days.CHECK.wanted(history).items():
        since, until = must.values["from_at"], must.values["to_at"]
        returns = sum(key[0] == group_id and since <= at <= until for group_id, at in backs)
        wanted[key] = Wanted({"flap_score": Score(returns)}, must.offsets, must.left_out)
    return wanted


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [{**row, "flap_score": (row["flap_score"], row)} for row in rows]


CHECK: Final = Check("flap_scores", _wanted, group_days.CHECK.key_of, gathered=_gathered)
