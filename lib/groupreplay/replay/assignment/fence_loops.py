"""Members that are removed and come back, again and again: FENCE_LOOP of `stuck_members`.

Source: docs/measures.md, Stuck.
"""

from __future__ import annotations

from typing import Final

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.replay.assignment.epochs import MAX_CHAIN_LENGTH
from groupreplay.replay.facts import Chain
from groupreplay.replay.life import Life, Member, RemovedMember, client_key
from groupreplay.replay.output import Output

DEPARTURES_KEPT: Final = 4_096
"""Removed members that may come back: the oldest are given up, though it is not an hour yet."""


class FenceLoops:
    """The chains of one life, and who was removed and may come back."""

    def __init__(self, life: Life, output: Output) -> None:
        self._life = life
        self._output = output

    def departed(self, member: Member, at: int) -> None:
        """A member was removed, not replaced and not out of limbo: it may be back under its id, or
        as the same client on the same host.
        """
        life, member_id = self._life, member.member_id
        departures = life.departures
        self._forget(member_id)
        departures[member_id] = RemovedMember(at, member_id, member.client_id, member.client_host)
        if life.departed_clients is not None:
            life.departed_clients.setdefault(member.client_key, []).append(member_id)
        self._give_up(at)

    def joined(self, member: Member, at: int, offset: int) -> bool:
        """A member joined: where it had been removed before, one more turn of a loop. Returns
        whether it had.
        """
        departures = self._life.departures
        if not departures:
            return False
        departure = departures.get(member.member_id) or self._same_client(member, at)
        if departure is None or at - departure.removed_at > MAX_CHAIN_GAP_MS:
            return False
        self._forget(departure.member_id)
        self._add_turn(member, departure, at, offset)
        return True

    def _give_up(self, at: int) -> None:
        """Drops those that went more than an hour ago, but for a few: a thread of Kafka Streams is
        known by its id for longer (`Processes.join`).
        """
        departures = self._life.departures
        few = 64 + 2 * len(self._life.members)
        while len(departures) > few:
            oldest = next(iter(departures.values()))
            is_over = at - oldest.removed_at > MAX_CHAIN_GAP_MS
            if not is_over and len(departures) <= max(few, DEPARTURES_KEPT):
                break
            self._forget(oldest.member_id)

    def _forget(self, member_id: str) -> None:
        """Drops a departure: the member is back, or departs again."""
        departure = self._life.departures.pop(member_id, None)
        index = self._life.departed_clients
        if departure is not None and index is not None:
            key = client_key(departure.client_id, departure.client_host)
            index[key].remove(member_id)
            if not index[key]:
                del index[key]

    def _same_client(self, member: Member, at: int) -> RemovedMember | None:
        """The one departed member of the joiner's client id and host, if no live member and no
        other departed one shares them.
        """
        gone = self._departed_like(member, at)
        return (
            self._life.departures[gone[0]]
            if len(gone) == 1 and self._is_one_client(member)
            else None
        )

    def _is_one_client(self, member: Member) -> bool:
        """Whether no other live member has its client id and host."""
        return member.client_id is not None and self._life.clients.get(member.client_key, 0) == 1

    def _departed_like(self, member: Member, at: int) -> list[str]:
        """Departed members of the same client id and host that may still come back, the two that
        went last at most.
        """
        departures = self._life.departures
        if self._life.departed_clients is None:
            index: dict[str, list[str]] = {}
            for d in departures.values():
                index.setdefault(client_key(d.client_id, d.client_host), []).append(d.member_id)
            self._life.departed_clients = index
        found: list[str] = []
        for member_id in reversed(self._life.departed_clients.get(member.client_key, [])):
            if len(found) == 2 or at - departures[member_id].removed_at > MAX_CHAIN_GAP_MS:
                break
            found.append(member_id)
        return found

    def _chain_of(self, key: str, member: Member, departure: RemovedMember) -> Chain | None:
        """The chain that goes on. A member that is back under its id is the same, wherever it runs
        now: its chain comes along.
        """
        loops, old = self._life.loops, client_key(departure.client_id, departure.client_host)
        chain = loops.get(old)
        is_its_own = chain is not None and chain.member_id == member.member_id
        if key not in loops and is_its_own and departure.member_id == member.member_id:
            loops[key] = loops.pop(old)
        return loops.get(key)

    def _add_turn(self, member: Member, departure: RemovedMember, at: int, offset: int) -> None:
        key = (
            member.client_key
            if self._is_one_client(member) and not self._departed_like(member, at)
            else member.member_id
        )
        chain = self._chain_of(key, member, departure)
        if chain is not None and (
            departure.removed_at - chain.ends_at[-1] > MAX_CHAIN_GAP_MS
            or len(chain.times_at) >= MAX_CHAIN_LENGTH
        ):
            self._output.emit_chain(chain)
            chain = None
        if chain is None:
            life = self._life
            chain = Chain(
                **life.place,
                from_offset=offset,
                reason="FENCE_LOOP",
                **member.client,
                times_at=[],
                ends_at=[],
            )
            life.loops[key] = chain
        chain.times_at.append(departure.removed_at)
        chain.ends_at.append(at)
