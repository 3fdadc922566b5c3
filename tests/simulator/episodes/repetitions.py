"""FENCE_LOOP and EPOCH_STORM by the truth alone (docs/measures.md, Stuck).

Chains are compared whole, with every turn; the report's counts and windows cut episodes of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Final

from groupreplay.limits import MAX_CHAIN_GAP_MS
from tests.simulator.compare import Key, Wanted
from tests.simulator.lives import Life, is_conversion
from tests.simulator.truth import CONSUMER, Member, Operation

FENCE_LOOP: Final = "FENCE_LOOP"
EPOCH_STORM: Final = "EPOCH_STORM"
LENGTH_MAX: Final = 256
"""A longer chain goes on as another."""


@dataclass(slots=True)
class _Chain:
    """member_id: whose first turn it was; None of a group. turns: (removed, back) in order."""

    member_id: str | None
    turns: list[tuple[int, int]] = field(default_factory=list)

    def takes(self, begins_at: int) -> bool:
        is_near = not self.turns or begins_at - self.turns[-1][1] <= MAX_CHAIN_GAP_MS
        return is_near and len(self.turns) < LENGTH_MAX


@dataclass(slots=True)
class _Departure:
    at: int
    client: tuple[str | None, str | None]


@dataclass(slots=True)
class _Loops:
    """chains: client id and host, or member id where these are not unique -> its chain."""

    departures: dict[str, _Departure] = field(default_factory=dict)
    chains: dict[Hashable, _Chain] = field(default_factory=dict)
    done: list[_Chain] = field(default_factory=list)


def fence_loops(life: Life) -> Iterator[tuple[Key, Wanted]]:
    """Chains of at least two turns."""
    for chain in _chains_of(life):
        if len(chain.turns) > 1:
            yield _row(life, FENCE_LOOP, chain)


def returns_of(life: Life) -> int:
    """How many turns there were, of chains of any length: what `flap_score` counts twice."""
    return len(back_at(life))


def back_at(life: Life) -> list[int]:
    """When each of them ended."""
    return [back for chain in _chains_of(life) for _, back in chain.turns]


def _chains_of(life: Life) -> list[_Chain]:
    """A member that is removed and comes back, under its id or as the same client id and host where
    these are unique in the group, beside who was removed within the hour; not instances that are
    replaced or were at epoch -2. Who is back under its id may have moved meanwhile."""
    loops = _Loops()
    for before, operation in life.steps():
        was = before.members if before is not None else {}
        if operation.protocol is None:
            break
        gone = [each for each in was if each not in operation.members]
        come = [each for each in operation.members if each not in was]
        heirs = {operation.members[each].instance_id for each in come} - {None}
        replaced = {was[each].instance_id for each in gone}
        for member_id in gone:
            member = was[member_id]
            if not member.is_away and member.instance_id not in heirs:
                loops.departures.pop(member_id, None)
                loops.departures[member_id] = _Departure(operation.at, member.client)
        for member_id in come:
            member = operation.members[member_id]
            if member.instance_id is None or member.instance_id not in replaced:
                _join(loops, operation, member_id, member)
    return [*loops.done, *loops.chains.values()]


def _join(loops: _Loops, operation: Operation, member_id: str, member: Member) -> None:
    alike = [each.client for each in operation.members.values()].count(member.client)
    left = [
        name
        for name, each in loops.departures.items()
        if each.client == member.client and operation.at - each.at <= MAX_CHAIN_GAP_MS
    ]
    is_client = alike == 1
    found = member_id if member_id in loops.departures else None
    if found is None and is_client and len(left) == 1:
        found = left[0]
    if found is None or operation.at - loops.departures[found].at > MAX_CHAIN_GAP_MS:
        return
    departure = loops.departures.pop(found)
    removed_at = departure.at
    left = [each for each in left if each != found]
    key: Hashable = member.client if is_client and not left else member_id
    own = loops.chains.get(departure.client)
    if found == member_id and key not in loops.chains and own and own.member_id == member_id:
        loops.chains[key] = loops.chains.pop(departure.client)
    chain = loops.chains.get(key)
    if chain is None or not chain.takes(removed_at):
        loops.done += [chain] if chain is not None else []
        chain = loops.chains[key] = _Chain(member_id)
    chain.turns.append((removed_at, operation.at))


def epoch_storms(life: Life) -> Iterator[tuple[Key, Wanted]]:
    """Epochs that began though nobody came or went: SUBSCRIPTION, REGEX, ASSIGNOR and
    TOPIC_METADATA, of consumer groups."""
    chains: list[_Chain] = []
    for before, operation in life.steps():
        if operation.protocol != CONSUMER or before is None or is_conversion(before, operation):
            continue
        # A static member that comes back under its own id replaces itself.
        is_back = any(operation.has(f"K5 {member_id} gone") for member_id in operation.members)
        if is_back or operation.members.keys() != before.members.keys():
            continue
        for epoch in operation.group_epochs:
            if epoch > before.epoch:
                if not chains or not chains[-1].takes(operation.at):
                    chains.append(_Chain(None))
                chains[-1].turns.append((operation.at, operation.at))
    for chain in chains:
        if len(chain.turns) > 1:
            yield _row(life, EPOCH_STORM, chain)


def _row(life: Life, reason: str, chain: _Chain) -> tuple[Key, Wanted]:
    begun = chain.turns[0][0]
    near = next(each.first_offset for each in life.operations if each.at >= begun)
    values = {
        "member_id": chain.member_id,
        "times_at": [removed for removed, _ in chain.turns],
        "ends_at": [back for _, back in chain.turns],
    }
    key = (life.group_id, reason, chain.member_id, begun, life.operations[0].first_offset)
    return key, Wanted(values, (near,))
