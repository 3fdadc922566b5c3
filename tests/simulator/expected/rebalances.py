"""`rebalances`: each one that a coordinator's logger told of, whatever came of it (evidence.md), in
the true order of what each broker did.

Every generation of the topic must be one that was completed; one without members is told by no
sync. Why it began is what was asked of the coordinator then, as far as the words of the reason
agree.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulator.compare import Key, LineAt, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.holdings import is_new_generation
from tests.simulator.lives import is_conversion
from tests.simulator.logged import Logged
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC, Operation

BEGUN: Final = "Preparing to rebalance group"
JOINED: Final = "Stabilized group"
SYNCED: Final = "Assignment received from leader"
EMPTIED: Final = "is now empty"
MISSED: Final = "who haven't joined"
NOBODY: Final = "because no members rejoined"
UNLOADED: Final = "Unloading group metadata for generation"
UNLOADED_AS_OTHER: Final = "Unloaded group metadata for group epoch"
LOADED: Final = "Loaded classic group"
LOADED_AS_OTHER: Final = "Loaded consumer group"
UPGRADED: Final = "classic group to a consumer group"
DOWNGRADED: Final = "consumer group to a classic group"
_PHASES: Final = (
    *(BEGUN, JOINED, SYNCED, EMPTIED, MISSED, NOBODY, UPGRADED, DOWNGRADED),
    *(UNLOADED, UNLOADED_AS_OTHER, LOADED, LOADED_AS_OTHER),
)

SETTLED_MS: Final = {"INTERRUPTED": 60_000, "CONVERTED": 600_000}
"""From when nothing more can come of it: clocks of brokers differ by less; a join phase is shorter,
and goes on where the conversion failed."""


@dataclass(frozen=True, slots=True)
class Why:
    """kinds: what can have been asked."""

    reason: str
    cause: str
    kinds: tuple[str, ...]


_NEVER_SYNCED: Final = r"Removing (.+) on pending sync request expiration\.?"
_WHY: Final = {
    r"Adding new member (.+) with group instance id .*": Why("NEW_MEMBER", "JOIN", ("join",)),
    r"Member (.+) (?:is )?joining group during .*": Why("REJOINED", "REJOIN", ("join",)),
    r"Leader (.+) re-joining group during .*": Why("LEADER_REJOINED", "REJOIN", ("join",)),
    r"Updating metadata for member (.+) during .*": Why(
        "METADATA_CHANGED", "SUBSCRIPTION", ("join",)
    ),
    r"Updating metadata for static member (.+) with instance .*": Why(
        "STATIC_METADATA_CHANGED", "SUBSCRIPTION", ("join",)
    ),
    r"Group's selectedProtocol will change because static member (.+) with instance .*": Why(
        "STATIC_PROTOCOL_CHANGED", "ASSIGNOR", ("join",)
    ),
    r"Removing member (.+) on LeaveGroup.*": Why("LEFT", "LEFT", ("leave",)),
    r"explicit `LeaveGroup` request for \((.*)\) members\..*": Why("LEFT", "LEFT", ("leave",)),
    r"removing member (.+) on heartbeat expiration\.?": Why(
        "SESSION_EXPIRED", "FENCED", ("internal",)
    ),
    _NEVER_SYNCED: Why("SYNC_TIMEOUT", "FENCED", ("internal",)),
    r"Error .* when storing group assignment ?during SyncGroup \(member: (.+)\)\.?": Why(
        "ASSIGNMENT_NOT_STORED", "ASSIGNMENT_NOT_STORED", ("sync", "internal", "resign", "")
    ),
    r"Downgrade group .* from consumer to classic.*": Why(
        "DOWNGRADED", "DOWNGRADE", ("leave", "join", "internal")
    ),
    r"Freshly-loaded group .* is over capacity.*": Why(
        "OVER_CAPACITY", "COORDINATOR_LOAD", ("internal", "")
    ),
}
"""How Kafka says why a rebalance begins -> what that is."""


@dataclass(slots=True)
class Rebalance:
    """One of a broker. left_for_consumers: when its group was converted, None where not. is_over: a
    line of the same broker ended it."""

    group_id: str
    begun: Logged
    joined: Logged | None = None
    synced: Logged | None = None
    missing: set[str] = field(default_factory=set)
    never_synced: set[str] = field(default_factory=set)
    nobody_joined: bool = False
    left_for_consumers: Logged | None = None
    outcome: str = "OPEN"
    is_over: bool = False

    @property
    def key(self) -> Key:
        return self.group_id, self.begun.broker_at, self.begun.position

    @property
    def generation(self) -> int:
        return int(self.begun.values[2])


def rebalances_of(history: History) -> list[Rebalance]:
    """In the order in which they began."""
    told: dict[tuple[str, int], list[tuple[str, Logged]]] = defaultdict(list)
    for call in history.truth.logged.all:
        phase = next((each for each in _PHASES if each in call.says), None)
        if phase is not None:
            group_id = call.values[1 if phase == SYNCED else 0]
            told[group_id, call.broker].append((phase, call))
    found = [
        each
        for (group_id, _), calls in told.items()
        for each in _of_broker(history, group_id, calls)
    ]
    return sorted(found, key=lambda each: (each.begun.at, each.begun.broker, each.begun.position))


def _of_broker(
    history: History, group_id: str, calls: list[tuple[str, Logged]]
) -> Iterator[Rebalance]:
    """Of one broker, in the order of its calls."""
    ends = {SYNCED: "COMPLETED", EMPTIED: "EMPTY", BEGUN: "RESTARTED"}
    moves = (UNLOADED, UNLOADED_AS_OTHER, LOADED, LOADED_AS_OTHER)
    ends |= dict.fromkeys(moves, "INTERRUPTED")
    current: Rebalance | None = None
    for phase, call in calls:
        if current is not None:
            _take(history, current, phase, call)
            if phase in ends:
                current.outcome = current.outcome if current.outcome != "OPEN" else ends[phase]
                current.is_over = True
            if current.is_over:
                yield current
                current = None
        if phase == BEGUN:
            current = Rebalance(group_id, call)
    if current is not None:
        yield current


def _take(history: History, current: Rebalance, phase: str, call: Logged) -> None:
    if phase in (JOINED, SYNCED) or _goes_on(current, phase, call):
        # What a request converted before it was refused is not converted.
        current.outcome, current.left_for_consumers = "OPEN", None
    if phase == JOINED:
        current.joined = call
    elif phase == SYNCED:
        current.synced = call
    elif phase == BEGUN and (late := re.fullmatch(_NEVER_SYNCED, call.values[3])):
        current.never_synced.update(late[1].strip("[]").split(", "))
    elif phase == MISSED:
        current.missing.update(call.values[1].strip("[]").split(", "))
    elif phase == NOBODY:
        current.nobody_joined = True
    elif phase == UPGRADED:
        current.outcome, current.left_for_consumers = "CONVERTED", call
    elif phase == DOWNGRADED and current.outcome == "CONVERTED":
        current.is_over = True


def _goes_on(current: Rebalance, phase: str, call: Logged) -> bool:
    """Whether the next join phase begins in the generation that this one joined."""
    return (
        phase == BEGUN and current.joined is not None and call.values[2] == current.joined.values[1]
    )


def _wanted(history: History) -> dict[Key, Wanted]:
    rebalances = rebalances_of(history)
    newest = newest_line_at(history)
    wanted = {each.key: Wanted(_values(each, newest), ()) for each in rebalances}
    synced = {(each.group_id, each.synced.broker_at): each for each in rebalances if each.synced}
    for operation in _generations(history):
        rebalance = synced.get((operation.group_id, operation.at))
        key = (operation.group_id, operation.at) if rebalance is None else rebalance.key
        before = wanted.get(key)
        # A generation is logged as the new one from `Stabilized` on: the row has the old one.
        values = {"generation": operation.epoch - 1, "members_joined": len(operation.members)}
        values = {**(before.values if before else {}), **values}
        wanted[key] = Wanted(values, (operation.first_offset,))
    return wanted


def newest_line_at(history: History) -> int:
    """When the last line of any log was written."""
    return max(
        *(each.broker_at for each in history.truth.logged.all),
        *(each.at for answers in history.truth.answers.of_groups.values() for each in answers),
    )


def _generations(history: History) -> Iterator[Operation]:
    """Each that a leader's assignment completed, as the topic has it."""
    for life in history.lives:
        for before, operation in life.steps():
            if operation.protocol != CLASSIC or operation.kind != "sync":
                continue
            if not is_conversion(before, operation) and is_new_generation(before, operation):
                yield operation


def _values(rebalance: Rebalance, newest: int) -> dict[str, Any]:
    begun, joined, synced = rebalance.begun, rebalance.joined, rebalance.synced
    missing = sorted(rebalance.missing)
    return {
        "generation": rebalance.generation,
        "started_at": begun.broker_at,
        "group_state": begun.values[1],
        **_why(begun),
        "joined_at": joined.broker_at if joined else None,
        "members_joined": int(joined.values[2]) if joined else None,
        "synced_at": synced.broker_at if synced else None,
        "members_missing": missing,
        "members_dropped": sorted(rebalance.missing | rebalance.never_synced),
        "nobody_joined": rebalance.nobody_joined,
        "outcome": rebalance.outcome,
        "evidence": LineAt("server_log", begun.position),
        "is_final": _is_final(rebalance, newest),
    }


def _why(begun: Logged) -> dict[str, Any]:
    text = begun.values[3].partition("; client reason: ")[0]
    for pattern, why in _WHY.items():
        if found := re.fullmatch(pattern, text):
            is_so = begun.kind in why.kinds
            named = found[1].strip("[]") if found.lastindex else None
            return {
                "reason": why.reason if is_so else f"no {why.reason} of {begun.kind}",
                "cause": why.cause if is_so else f"no {why.cause} of {begun.kind}",
                "cause_member_id": _who(begun, named),
                # Why the last consumer left is no reason of what its group became by that.
                "client_reason": None if why.cause == "DOWNGRADE" else begun.client_reason,
            }
    values = {"reason": text, "cause": "UNKNOWN", "cause_member_id": None}
    return {**values, "client_reason": begun.client_reason}


def _who(begun: Logged, named: str | None) -> Any:
    """Who asked; of a timer whose it was. A static member that joins gets its id with the answer,
    and of who is removed by its instance nobody is named."""
    if not named or ", " in named:
        return None
    if begun.kind in ("join", "leave") and begun.asked_by and begun.reason != "admin":
        return begun.asked_by
    if begun.kind == "internal" and "key=heartbeat-" in begun.reason:
        return named if begun.reason.endswith(f"-{named})") else f"no {begun.reason}"
    return named


def _is_final(rebalance: Rebalance, newest: int) -> Any:
    if rebalance.is_over:
        return True
    converted = rebalance.left_for_consumers
    if rebalance.outcome == "CONVERTED" and converted is not None:
        return newest - converted.broker_at > SETTLED_MS["CONVERTED"]
    return False


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["started_at"], row["evidence"]["position"]


CHECK: Final = Check("rebalances", _wanted, _key_of)
