"""What is kept of failovers from one record to the next: data alone."""

from __future__ import annotations

from dataclasses import dataclass

from groupreplay.replay.decision_facts import Failover


@dataclass(slots=True)
class KeptFailovers:
    """The last change of the leader that a group saw.

    written_by: leader epoch of the group's last record, commits among them; -1 where its batch does
        not say (a live topic), or before the first. Not `Life.leader_epoch`, which no commit moves.
    open: the last failover, while what came after it is counted.
    """

    written_by: int = -1
    open: Failover | None = None
