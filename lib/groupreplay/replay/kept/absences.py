"""What is kept of absences from one operation to the next: data alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupreplay.replay.decision_facts import Absence


@dataclass(slots=True)
class ReturnCost:
    """What an absence counts because of the member that was taken for its return.

    epochs: group epochs that began in the operation.
    moved: partitions that changed hands.
    """

    epochs: int = 0
    moved: int = 0


@dataclass(slots=True)
class KeptAbsences:
    """The absences of one life that can still change, and the newest that cannot.

    away: member id -> its absence, of static members at epoch -2.
    removed: identity -> its absence, of who was removed and may come back, oldest first; `member:M`
        where another process of that identity was removed since.
    returned: who came back; what it moved is still counted, oldest first.
    ended: (when, least and greatest gap, outcome) of static members, as snapshots list them.
    return_costs: member id -> what its return under another id cost: of dynamic members in
        returned. A return under its own id takes that back.
    """

    away: dict[str, Absence] = field(default_factory=dict)
    removed: dict[str, Absence] = field(default_factory=dict)
    returned: list[Absence] = field(default_factory=list)
    ended: list[tuple[int, int | None, int | None, str]] = field(default_factory=list)
    return_costs: dict[str, ReturnCost] = field(default_factory=dict)
