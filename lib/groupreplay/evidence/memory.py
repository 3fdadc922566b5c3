"""What the machine of evidence knows of a group between two lines: data alone, kept from night to
night.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from groupreplay.evidence.evidence_facts import (
    AssignorFailure,
    Contact,
    Departure,
    EvidenceFact,
    Outage,
    Rebalance,
    Refusal,
    Rejoin,
    Silence,
)
from groupreplay.records.log_events import LogEvent

FORGET_MS = 86_400_000
"""After a day without a line of a member nothing of it is kept."""


@dataclass(slots=True)
class Line:
    """One row of `raw_lines`: an event and its place. For a run of routine requests last_ms is the
    time of its last, requests their number.
    """

    event: LogEvent
    broker: int
    source: str
    input: str
    position: int
    last_ms: int
    requests: int = 1
    longest_gap_ms: int = 0


@dataclass(slots=True)
class Evidence:
    """A group, or with group_id "" a partition of the offsets topic.

    departures: departures that no line gave an epoch yet.
    contacts: member id -> its contact.
    silences: member id -> its silence, until it is known how that ended.
    refusals: (api, error code and kind of log, subject) -> the run of refusals.
    rejoins: member id -> its rejoin, until the member has its assignment.
    rejoins_beside: (member id, broker id) -> its rejoin at that broker, where it seems to rejoin at
        another broker too, whose clock differs.
    rebalances: broker id -> the rebalance that it logs; a former coordinator may not know yet that
        it is one.
    instances: instance id -> the member that has it.
    rebalance: as states up to 0.2.0 have it, moved into rebalances when they are read.
    owner: id of the broker that last loaded the partition, -1 for none.
    last_at: time of the newest line, -1 before one.
    answered_until_at, answered_gap_ms: of the run of granted requests that lasted longest: its end,
        and the longest time between two of its requests.
    consumers_at: time of the newest heartbeat of the consumer protocol, -1 before one.
    steady_broker: id of the broker whose request log alone has had lines of the group since
        steady_since_at, none of them of a coordinator that is not there, or of members that leave.
        -1 before a line.
    classic_broker: id of the broker that loaded the group last, as a classic one, at
        classic_since_at. -1 before one, and once it is a consumer group.
    """

    group_id: str
    departures: list[Departure] = field(default_factory=list)
    contacts: dict[str, Contact] = field(default_factory=dict)
    silences: dict[str, Silence] = field(default_factory=dict)
    refusals: dict[tuple[str, str, str], Refusal] = field(default_factory=dict)
    rebalances: dict[int, Rebalance] = field(default_factory=dict)
    rebalance: Rebalance | None = None
    outage: Outage | None = None
    failure: AssignorFailure | None = None
    instances: dict[str, str] = field(default_factory=dict)
    owner: int = -1
    last_at: int = -1
    rejoins: dict[str, Rejoin] = field(default_factory=dict)
    rejoins_beside: dict[tuple[str, int], Rejoin] = field(default_factory=dict)
    answered_until_at: int = -1
    answered_gap_ms: int = 0
    consumers_at: int = -1
    steady_broker: int = -1
    steady_since_at: int = -1
    classic_broker: int = -1
    classic_since_at: int = -1


@dataclass(slots=True)
class Proofs:
    """Where facts of evidence go once they are final."""

    facts: list[EvidenceFact] = field(default_factory=list)

    def emit(self, fact: EvidenceFact) -> None:
        fact.is_final = True
        self.facts.append(fact)


def place(evidence: Evidence, line: Line) -> dict[str, object]:
    """The fields that every fact begins with."""
    return {
        "group_id": evidence.group_id,
        "broker": line.broker,
        "source": line.source,
        "input": line.input,
        "position": line.position,
    }


def came_at(event: LogEvent) -> int:
    """When a request came, which may have waited for its answer."""
    return event.at_ms if event.started_ms is None else event.started_ms
