"""What the script did to members, groups and brokers that somebody must be told of, and which
alarms each of it may raise.

Faults come from the timeline and from what clients saw, never from a log that the product reads. A
group without one is healthy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.truth.truth import Truth

SESSION_TIMEOUT_MS = 45_000
"""Where neither broker nor client was told another."""
SETTLES_MS = 15_000
"""Until groups of a broker that was killed, or that is back, have found their coordinator and each
other.
"""
BEATS_MS = 5_000
"""Two heartbeats of the recordings, and some: from a fault to its first sign, and from its end to
the last one.
"""

SILENT = frozenset({"NOT_HEARTBEATING", "LATE_LEAVE", "NOT_RECONCILING", "WAITING_ON_HOLDER"})
MAY_RAISE = {
    "KILLED": SILENT,
    "FROZEN": SILENT,
    "STATIC_GONE": frozenset({"STATIC_LIMBO", "WAITING_ON_HOLDER"}),
    "SLOW_CALLBACK": frozenset({"SLOW_REVOCATION", "WAITING_ON_HOLDER"}),
    "HANGS": frozenset({"FENCE_LOOP"}),
    "INTRUDER": frozenset({"REJECTED_LOOP"}),
    "KNOCKS_AT_STREAMS": frozenset({"UPGRADE_REFUSED"}),
    "BROKER_AWAY": SILENT | {"SLOW_REVOCATION", "STATIC_LIMBO", "COORDINATOR_UNAVAILABLE"},
}
"""Kind of fault -> reasons that it explains."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One row of `stuck_members` or `stuck_groups`.

    clients: who is stuck, and on whom; none for a group.
    until: as-of while open.
    """

    group: str
    clients: frozenset[str]
    reason: str
    since: int
    until: int
    by_lines: bool


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that was done, from when to when. group, client: "" every one."""

    kind: str
    group: str
    client: str
    since: int
    until: int

    def explains(self, alarm: Alarm) -> bool:
        is_there = self.group in ("", alarm.group) and (
            not self.client or not alarm.clients or self.client in alarm.clients
        )
        return is_there and alarm.reason in MAY_RAISE[self.kind]


def faults(truth: Truth) -> list[Fault]:
    kinds = (
        _killed,
        _frozen,
        _static_gone,
        _slow_callbacks,
        _hanging,
        _intruders,
        _knocking,
        _brokers_away,
    )
    return [fault for kind in kinds for fault in kind(truth)]


def unexplained_ms(alarm: Alarm, known: Iterable[Fault]) -> int:
    """How much of it lies outside of every fault that explains it."""
    left, reached = 0, alarm.since
    for fault in sorted(
        (fault for fault in known if fault.explains(alarm)), key=lambda fault: fault.since
    ):
        left += max(0, min(fault.since, alarm.until) - reached)
        reached = max(reached, fault.until)
    return left + max(0, alarm.until - reached)


def owed(truth: Truth, shortest_ms: int) -> list[Fault]:
    """Faults that logs of brokers must tell of. Of static members those that the script calls gone
    for good: others may have held nothing.
    """
    gone = {event["member"] for event in truth.timeline if event["action"] == "never_returns"}
    known = [
        fault
        for fault in faults(truth)
        if fault.client and fault.until - fault.since >= shortest_ms
    ]
    return [fault for fault in known if fault.kind != "STATIC_GONE" or fault.client in gone]


def is_only_departure(fault: Fault, truth: Truth) -> bool:
    """Members of the classic protocol have no hand-over to be slow in, and static ones no word for
    going: that they went is all there is to tell.
    """
    classic = {
        e["member"]
        for e in truth.timeline
        if e["action"] == "start" and e.get("protocol") in ("eager", "coop")
    }
    return fault.kind in ("STATIC_GONE", "SLOW_CALLBACK") and fault.client in classic


def healthy_groups(truth: Truth, shortest_ms: int) -> set[str]:
    """Groups to which nothing was done that lasts so long."""
    played = {str(event["scenario"]) for event in truth.timeline if event["action"] == "start"}
    hurt = {fault.group for fault in faults(truth) if fault.until - fault.since >= shortest_ms}
    return set() if "" in hurt else played - hurt


# ---------------------------------------------------------------- what was done


def _session_ends(truth: Truth, at: int) -> int:
    """When the session of a member that is silent from then on runs out: a broker that comes back
    meanwhile gives it a whole one again.
    """
    session_ms = int(
        truth.meta["broker_config"].get("group.consumer.session.timeout.ms", SESSION_TIMEOUT_MS)
    )
    until = at + session_ms
    for away in sorted(_brokers_away(truth), key=lambda fault: fault.since):
        back = away.until - SETTLES_MS
        if at < back and away.since < until:
            until = back + session_ms
    return until


def _killed(truth: Truth) -> Iterator[Fault]:
    for event in truth.timeline:
        if event["action"] == "kill":
            yield Fault(
                "KILLED",
                event["scenario"],
                event["member"],
                event["at"],
                _session_ends(truth, event["at"]),
            )


def _frozen(truth: Truth) -> Iterator[Fault]:
    for event in truth.timeline:
        if event["action"] == "freeze":
            thawed = truth.at(event["scenario"], "thaw", event["member"])
            yield Fault("FROZEN", event["scenario"], event["member"], event["at"], thawed)


def _static_gone(truth: Truth) -> Iterator[Fault]:
    """Static members that were closed, until their instance is back or their session has run
    out.
    """
    instances = {
        event["member"]: event.get("group.instance.id")
        for event in truth.timeline
        if event["action"] == "start"
    }
    for event in truth.timeline:
        instance = instances.get(event.get("member"))
        if event["action"] != "close" or instance is None:
            continue
        back = (
            e["at"]
            for e in truth.timeline
            if e["action"] == "start"
            and e.get("group.instance.id") == instance
            and e["at"] > event["at"]
        )
        until = min(next(back, truth.ended), _session_ends(truth, event["at"]))
        yield Fault("STATIC_GONE", event["scenario"], event["member"], event["at"], until)


def _slow_callbacks(truth: Truth) -> Iterator[Fault]:
    """Callbacks in which partitions are given up, however long; one that never ended lasts as long
    as the recording.
    """
    group_of = {
        event["member"]: event["scenario"] for event in truth.timeline if event["action"] == "start"
    }
    began: dict[str, int] = {}
    for event in truth.seen:
        client = event["member"]
        if event["event"] == "revoke_begin":
            began[client] = event["at"]
        elif client in began:
            yield Fault("SLOW_CALLBACK", group_of[client], client, began.pop(client), event["at"])
    for client, since in began.items():
        if not any(
            event["action"] in ("close", "kill") and event.get("member") == client
            for event in truth.timeline
        ):
            yield Fault("SLOW_CALLBACK", group_of[client], client, since, truth.ended)


def _hanging(truth: Truth) -> Iterator[Fault]:
    """Members that were made to miss their polls, from the first time on."""
    first: dict[tuple[str, str], int] = {}
    for event in truth.timeline:
        if event["action"] == "set" and "hang" in event:
            first.setdefault((event["scenario"], event["member"]), event["at"])
    for (group, client), since in first.items():
        yield Fault("HANGS", group, client, since, truth.ended)


def _intruders(truth: Truth) -> Iterator[Fault]:
    """Members of the consumer protocol that were started again and again under an instance id that
    somebody else holds.
    """
    owners: dict[str, str] = {}
    told: set[str] = set()
    for event in truth.timeline:
        client, instance = event.get("member"), event.get("group.instance.id")
        if event["action"] == "close":
            owners = {held: owner for held, owner in owners.items() if owner != client}
        if event["action"] != "start" or instance is None or event.get("protocol") != "consumer":
            continue
        if owners.setdefault(instance, client) != client and client not in told:
            told.add(client)
            yield Fault("INTRUDER", event["scenario"], client, event["at"], truth.ended)


def _knocking(truth: Truth) -> Iterator[Fault]:
    """Members of the consumer protocol that knock at a group of Kafka Streams."""
    streams = {
        event["scenario"]
        for event in truth.timeline
        if event["action"] == "start" and event.get("program") == "StreamsApp"
    }
    for event in truth.timeline:
        if (
            event["action"] == "start"
            and event["scenario"] in streams
            and event.get("protocol") == "consumer"
        ):
            yield Fault(
                "KNOCKS_AT_STREAMS", event["scenario"], event["member"], event["at"], truth.ended
            )


def _brokers_away(truth: Truth) -> Iterator[Fault]:
    moves = sorted(
        (event["at"], event["node"], event["action"])
        for event in truth.timeline
        if event["action"].startswith("broker_")
    )
    for at, node, action in moves:
        if action != "broker_start":
            back = next(
                (
                    when
                    for when, other, what in moves
                    if when > at and other == node and what == "broker_start"
                ),
                truth.ended,
            )
            yield Fault("BROKER_AWAY", "", "", at, back + SETTLES_MS)
