"""What was repeated so often that a member or a group is stuck: FENCE_LOOP and EPOCH_STORM of one
life (measures.md, stuck)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.simulator.expected.group_epochs import Epoch
from tests.simulator.lives import Life
from tests.simulator.truth import CLASSIC, Member, Operation
from tests.support.stuck_rows import runs

FENCE_LOOP, EPOCH_STORM = "FENCE_LOOP", "EPOCH_STORM"
COUNT: Final = {FENCE_LOOP: 3, EPOCH_STORM: 10}
WINDOW_MS: Final = 600_000
"""conf/base.yaml: so often within 10 min."""
LONGEST_GAP_MS: Final = 3_600_000
"""What follows after more than an hour is another chain."""
LONGEST: Final = 256
"""Repetitions of one chain; what follows is told as another."""
STORMY: Final = ("SUBSCRIPTION", "REGEX", "ASSIGNOR", "TOPIC_METADATA")


Client = tuple[str | None, str | None]
"""Client id and host."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One repetition. began, ended: operations; of a member its removal and its return, of a group
    the epoch."""

    began: Operation
    ended: Operation
    member_id: str | None = None


@dataclass(slots=True)
class Chain:
    """Repetitions of one client or group. client_id: None of a group. is_certain: the truth tells
    all that decides. is_full: another one goes on where it ends."""

    reason: str
    client_id: str | None
    is_certain: bool
    is_full: bool = False
    turns: list[Turn] = field(default_factory=list)

    def episodes(self) -> Iterable[tuple[int, int]]:
        """(first, last) places of turns that are a row together."""
        return runs([each.began.at for each in self.turns], COUNT[self.reason], WINDOW_MS)


@dataclass(frozen=True, slots=True)
class _Departure:
    removed: Operation
    member_id: str
    client: Client


def fence_loops(life: Life) -> list[Chain]:
    """Members that were removed and came back: under their id, or as the one client of their client
    id and host. Who is back under its id may have moved meanwhile."""
    chains: dict[Client, Chain] = {}
    found: list[Chain] = []
    departed: list[_Departure] = []
    for before, operation in life.steps():
        was = before.members if before is not None else {}
        departed += _departures(was, operation)
        for member_id in operation.members.keys() - was.keys():
            member = operation.members[member_id]
            match = _departure_of(member_id, member, departed, operation)
            if match is None:
                continue
            departed.remove(match)
            turn = Turn(match.removed, operation, member_id)
            key = member.client
            if match.client in chains and match.client != key:
                chains[key] = chains.pop(match.client)
            chain = chains.get(key)
            if chain is None or _is_over(chain, turn):
                chain = chains[key] = Chain(FENCE_LOOP, member.client_id, True)
                found.append(chain)
            chain.turns.append(turn)
    shared = shared_clients(life)
    for chain in found:
        chain.is_certain = chain.client_id not in shared
    return found


def _departures(was: Mapping[str, Member], operation: Operation) -> list[_Departure]:
    """Members that were removed: not replaced by the same instance, and not away before."""
    instances = {each.instance_id for each in operation.members.values()} - {None}
    return [
        _Departure(operation, member_id, member.client)
        for member_id, member in was.items()
        if member_id not in operation.members
        and member.instance_id not in instances
        and not member.is_away
    ]


def _departure_of(
    member_id: str, member: Member, departed: list[_Departure], operation: Operation
) -> _Departure | None:
    same_id = [each for each in departed if each.member_id == member_id]
    same_client = [each for each in departed if each.client == member.client]
    candidates = same_id[-1:] or same_client[-1:]
    recent = [each for each in candidates if operation.at - each.removed.at <= LONGEST_GAP_MS]
    return recent[0] if recent else None


def shared_clients(life: Life) -> set[str | None]:
    """Client ids of more than one member: hosts may say who is one client."""
    members: dict[str | None, set[str]] = defaultdict(set)
    for operation in life.operations:
        for member_id, member in operation.members.items():
            members[member.client_id].add(member_id)
    return {client_id for client_id, ids in members.items() if len(ids) > 1}


def _is_over(chain: Chain, turn: Turn) -> bool:
    chain.is_full = len(chain.turns) >= LONGEST
    return chain.is_full or turn.began.at - chain.turns[-1].ended.at > LONGEST_GAP_MS


def epoch_storms(life: Life, epochs: Iterable[Epoch]) -> list[Chain]:
    """Epochs of the consumer protocol that nobody's coming or going caused."""
    found: list[Chain] = []
    for epoch in epochs:
        if epoch.cause.cause not in STORMY or epoch.opened.protocol == CLASSIC:
            continue
        turn = Turn(epoch.opened, epoch.opened)
        if not found or _is_over(found[-1], turn):
            found.append(Chain(EPOCH_STORM, None, True))
        found[-1].turns.append(turn)
    return found
