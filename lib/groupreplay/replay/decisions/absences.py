"""Processes that are gone for a while: static members that leave and come back (KIP-345), and
dynamic ones whose process joins again.

| what the records show | what becomes of it |
|---|---|
| K8 at epoch -2 | a static member is away: AWAY |
| its instance under another id, or its own K8 again | it is back in time: ABSORBED |
| tombstone, or missing from a K2, of a static member | EXPIRED |
| that instance joins within SETTLE | EXPIRED_RETURNED |
| a dynamic member is removed, and the same process joins within SETTLE | RETURNED |

A dynamic member that never comes back gives no row. What a hole hides is not claimed: neither that
who is back was away all the time, nor that who joins behind it joined there.
Source: GroupMetadataManager.consumerGroupStaticMemberGroupLeave, replaceStaticMember;
docs/decisions.md, static_accounting.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.records.consumer import STATIC_LEAVE_EPOCH
from groupreplay.replay.change import Before, Change, is_hidden
from groupreplay.replay.decision_facts import Absence
from groupreplay.replay.decisions.charges import event_of
from groupreplay.replay.decisions.churn import WENT_AWAY
from groupreplay.replay.decisions.identities import CLIENT, MEMBER, identity_of_gone
from groupreplay.replay.decisions.transitions import Listener
from groupreplay.replay.kept.absences import KeptAbsences, ReturnCost
from groupreplay.replay.kept.transition import Transition
from groupreplay.replay.life import Life, Member, client_key
from groupreplay.replay.output import Output

STATIC = "STATIC"
DYNAMIC = "DYNAMIC"

STILL_AWAY = "AWAY"
ABSORBED = "ABSORBED"
EXPIRED = "EXPIRED"
EXPIRED_RETURNED = "EXPIRED_RETURNED"
RETURNED = "RETURNED"
UNOBSERVED = "UNOBSERVED"
"""Outcomes of an absence."""

KEPT_ABSENCES = 64
"""How many ended absences of static members are in a group's snapshot: the newest."""

MAX_PENDING = 4_096
"""Removed processes whose return is waited for; the oldest are given up."""


class Absences(Listener):
    """The absences of one life, and what changed hands for them.

    _epoch: group epoch before the operation, None where it is not known.
    _by_member, _by_client: identities of dynamic members that were removed, by member id and by
        client key.
    _followed: member id, old or new -> its absences that can still change, the newest last.
    """

    def __init__(self, life: Life, output: Output) -> None:
        self._life = life
        self._kept = life.absences
        self._output = output
        self._epoch = life.epoch
        self._by_member: dict[str, str] = {}
        self._by_client: dict[str, list[str]] = {}
        self._followed: dict[str, list[Absence]] = {}
        for key, absence in self._kept.removed.items():
            self._index(key, absence)
        kept = self._kept
        for absence in (*kept.returned, *kept.removed.values(), *kept.away.values()):
            self._follow(absence)

    # ------------------------------------------------------------ an operation

    def settle(self, change: Change, joined: Iterable[Member]) -> None:
        """At operation end, before anything of its members is forgotten.

        joined: who joined in it, and was seen to.
        """
        if self._kept.removed or self._kept.returned:
            self._give_up(change.at)
        if not change.group_ends:
            epochs = int(self._life.epoch != self._epoch)
            for member_id, member in change.removed.items():
                before = change.before[member_id]
                if before.existed and member_id not in change.replaced:
                    self._removed(change, member, before, epochs)
            for member_id, new_id in change.replaced.items():
                self._replaced(change, member_id, new_id, epochs)
            for member in joined:
                self._joined(change, member, epochs)
            self._watch_away(change, epochs)
        self._epoch = self._life.epoch

    def _give_up(self, at: int) -> None:
        """Whoever was removed an hour ago does not come back, and who came back an hour ago moves
        nothing any more.
        """
        removed, returned = self._kept.removed, self._kept.returned
        while returned and at - (returned[0].returned_at or 0) > MAX_CHAIN_GAP_MS:
            self._end(returned.pop(0))
        while removed:
            key, oldest = next(iter(removed.items()))
            is_over = at - (oldest.removed_at or 0) > MAX_CHAIN_GAP_MS
            if not is_over and len(removed) <= MAX_PENDING:
                return
            self._end(self._forget(key))

    def _removed(self, change: Change, member: Member, before: Before, epochs: int) -> None:
        absence = self._kept.away.pop(member.member_id, None)
        if is_hidden(change, member.member_id):
            if absence is not None:
                self._hide(absence, change.offsets[member.member_id])
            return
        if absence is None:
            absence = self._new(change, member, before, EXPIRED)
            if absence.membership == DYNAMIC:
                absence.identity = identity_of_gone(self._life, change, member)
        absence.outcome = EXPIRED
        absence.removed_at = change.at
        absence.to_offset = change.offsets[member.member_id]
        absence.epochs_opened += epochs
        if absence.identity in self._kept.removed:
            earlier = self._forget(absence.identity)
            if absence.membership == STATIC or earlier.member_id == absence.member_id:
                self._end_before(absence, earlier)
            else:
                self._keep(f"{MEMBER}{earlier.member_id}", earlier)
        self._keep(absence.identity, absence)

    def _replaced(self, change: Change, member_id: str, new_id: str, epochs: int) -> None:
        absence = self._kept.away.pop(member_id, None)
        before = change.before[member_id]
        if not before.existed:
            return
        offset = change.offsets[member_id]
        if is_hidden(change, member_id):
            if absence is not None:
                self._hide(absence, offset)
            return
        if absence is None:
            absence = self._new(change, change.removed[member_id], before, ABSORBED)
            instance_id = self._life.members[new_id].instance_id
            absence.instance_id = instance_id
            absence.identity, absence.membership = f"instance:{instance_id}", STATIC
        self._absorb(absence, new_id, change.at, offset, epochs)

    def _joined(self, change: Change, member: Member, epochs: int) -> None:
        if self._corrected(change, member, epochs):
            return
        absence = self._removed_before(member)
        if (
            absence is None
            or change.at - (absence.removed_at or 0) > MAX_CHAIN_GAP_MS
            or change.last_hole > (absence.to_offset or 0)
        ):
            return
        self._forget(self._key_of(absence))
        absence.outcome = EXPIRED_RETURNED if absence.membership == STATIC else RETURNED
        self._back(absence, change, member, epochs)

    def _corrected(self, change: Change, member: Member, epochs: int) -> bool:
        """A dynamic member is back under its own id: whoever was taken for it, by client id and
        host, is another process. What that one's coming cost is not the absence's.
        """
        followed = self._followed.get(member.member_id, [])
        absence = followed[-1] if followed else None
        if absence is None or absence.membership != DYNAMIC or absence.outcome != RETURNED:
            return False
        other = absence.returned_as or ""
        if absence.member_id != member.member_id or other == member.member_id:
            return False
        if change.at - (absence.removed_at or 0) > MAX_CHAIN_GAP_MS:
            return False
        self._kept.returned.remove(absence)
        self._drop(other, absence)
        cost = self._kept.return_costs.pop(member.member_id, ReturnCost())
        absence.epochs_opened -= cost.epochs
        if absence.moved is not None:
            absence.moved -= cost.moved
        if change.last_hole > (absence.to_offset or 0):
            absence.outcome, absence.returned_as, absence.returned_at = UNOBSERVED, None, None
            self._output.emit(absence)
        else:
            self._back(absence, change, member, epochs)
        return True

    def _back(self, absence: Absence, change: Change, member: Member, epochs: int) -> None:
        absence.returned_as, absence.returned_at = member.member_id, change.at
        absence.to_offset = change.offsets.get(member.member_id, change.last_offset)
        absence.epochs_opened += epochs
        if absence.membership == DYNAMIC and member.member_id != absence.member_id:
            self._kept.return_costs[absence.member_id] = ReturnCost(epochs)
        self._return(absence)

    def _watch_away(self, change: Change, epochs: int) -> None:
        """Static members that left for a while, or came back under their own id."""
        members, away = self._life.members, self._kept.away
        for member_id, before in change.before.items():
            member = members.get(member_id)
            if member is None:
                continue
            is_away = member.epoch == STATIC_LEAVE_EPOCH
            if not (is_away or away):
                continue
            absence = away.get(member_id)
            if absence is not None and (not is_away or is_hidden(change, member_id)):
                del away[member_id]
                offset = change.offsets.get(member_id, change.last_offset)
                if is_hidden(change, member_id):
                    self._hide(absence, offset)
                else:
                    self._absorb(absence, member_id, change.at, offset, epochs)
                absence = None
            if is_away and absence is None and before.epoch != STATIC_LEAVE_EPOCH:
                absence = self._new(change, member, before, STILL_AWAY)
                absence.left_at, absence.partitions = change.at, len(member.held)
                away[member_id] = absence

    def _absorb(self, absence: Absence, new_id: str, at: int, offset: int, epochs: int) -> None:
        absence.outcome = ABSORBED
        absence.returned_as, absence.returned_at, absence.to_offset = new_id, at, offset
        absence.epochs_opened += epochs
        self._return(absence)

    def _return(self, absence: Absence) -> None:
        self._kept.returned.append(absence)
        self._follow(absence)

    def _hide(self, absence: Absence, offset: int) -> None:
        absence.outcome, absence.to_offset = UNOBSERVED, offset
        self._end(absence)

    # ------------------------------------------------------------ who it is

    def _new(self, change: Change, member: Member, before: Before, outcome: str) -> Absence:
        is_static = member.instance_id is not None
        is_seen = member.last_commit_offset >= max(0, change.last_hole)
        absence = Absence(
            **self._life.place,
            from_offset=change.offsets.get(member.member_id, change.last_offset),
            identity=f"instance:{member.instance_id}",
            membership=STATIC if is_static else DYNAMIC,
            **member.client,
            outcome=outcome,
            partitions=before.held,
            last_commit_at=member.last_commit_at if is_seen else None,
            own_session_ms=member.own_session_ms,
            moved=0 if self._life.follows_partitions else None,
        )
        self._follow(absence)
        return absence

    # ------------------------------------------------------------ what moved

    def granted(self, transition: Transition) -> None:
        event = event_of(self._life.churn, transition)
        if event is None or not transition.is_move or transition.is_hidden:
            return
        member_id, kind, offset = event
        if kind == WENT_AWAY:  # neither its removal nor its return
            return
        for absence in reversed(self._followed.get(member_id, [])):
            is_over = absence.to_offset is not None and offset > absence.to_offset
            if offset < absence.from_offset or is_over:
                continue
            if absence.moved is not None:
                absence.moved += 1
                cost = self._kept.return_costs.get(absence.member_id)
                if cost is not None and member_id != absence.member_id:
                    cost.moved += 1
            return

    def _follow(self, absence: Absence) -> None:
        for member_id in (absence.member_id, absence.returned_as):
            if member_id is None:
                continue
            followed = self._followed.setdefault(member_id, [])
            if not any(each is absence for each in followed):
                followed.append(absence)

    def _removed_before(self, member: Member) -> Absence | None:
        """The absence that a joiner ends: of its instance, its member id, or the one process that
        was its client.
        """
        removed = self._kept.removed
        if member.instance_id is not None:
            return removed.get(f"instance:{member.instance_id}")
        if member.member_id in self._by_member:
            return removed[self._by_member[member.member_id]]
        alike = self._by_client.get(member.client_key, [])
        if len(alike) != 1 or self._life.clients.get(member.client_key, 0) != 1:
            return None
        return removed[alike[0]] if alike[0].startswith(CLIENT) else None

    def _keep(self, key: str, absence: Absence) -> None:
        """Under its identity, or under its member id where another process of that client id and
        host was removed since: then its own id alone shows that it is back.
        """
        self._kept.removed[key] = absence
        self._index(key, absence)

    def _key_of(self, absence: Absence) -> str:
        return self._by_member.get(absence.member_id, absence.identity)

    def _index(self, key: str, absence: Absence) -> None:
        if absence.membership == DYNAMIC:
            self._by_member[absence.member_id] = key
            alike = client_key(absence.client_id, absence.client_host)
            self._by_client.setdefault(alike, []).append(key)

    def _forget(self, key: str) -> Absence:
        absence = self._kept.removed.pop(key)
        if absence.membership == DYNAMIC:
            self._by_member.pop(absence.member_id, None)
            alike = client_key(absence.client_id, absence.client_host)
            self._by_client[alike].remove(key)
            if not self._by_client[alike]:
                del self._by_client[alike]
        return absence

    # ------------------------------------------------------------ the end of an absence

    def _end(self, absence: Absence) -> None:
        """Emits an absence that can no longer change. A dynamic member that did not come back has
        no row.
        """
        self._unfollow(absence)
        if absence.outcome == RETURNED and absence.returned_as != absence.member_id:
            self._kept.return_costs.pop(absence.member_id, None)
        if absence.membership == DYNAMIC and absence.outcome != RETURNED:
            return
        self._output.emit(absence)
        if absence.membership == STATIC and absence.outcome != UNOBSERVED:
            self._kept.ended = [*self._kept.ended, shown(absence)][-KEPT_ABSENCES:]

    def _end_before(self, absence: Absence, earlier: Absence) -> None:
        """The same process was gone before. Where both went by one record, two members had one
        instance, as no coordinator has them: their rows would have one key, and the last one stays.
        """
        if earlier.from_offset == absence.from_offset:
            self._unfollow(earlier)
        else:
            self._end(earlier)

    def _unfollow(self, absence: Absence) -> None:
        for member_id in (absence.member_id, absence.returned_as or ""):
            self._drop(member_id, absence)

    def _drop(self, member_id: str, absence: Absence) -> None:
        left = [each for each in self._followed.get(member_id, []) if each is not absence]
        if left:
            self._followed[member_id] = left
        else:
            self._followed.pop(member_id, None)

    def finish(self) -> None:
        """The life ends: who is away is not seen to come back."""
        for absence in self._kept.returned:
            self._end(absence)
        self._kept.returned.clear()
        for absence in self._kept.away.values():
            absence.outcome, absence.to_offset = UNOBSERVED, self._life.last_offset
            self._end(absence)
        self._kept.away.clear()
        for absence in self._kept.removed.values():
            self._end(absence)
        self._kept.removed.clear()


def shown(absence: Absence) -> tuple[int, int | None, int | None, str]:
    """When it ended, its least and its greatest gap in ms (None while there is none, or where it is
    not known), and its outcome.

    A member that wrote that it leaves was away from then on. The last sign of life of any other
    member is its last commit; it may have lived until it was replaced.
    """
    ended_at = absence.returned_at if absence.returned_at is not None else absence.removed_at
    least = greatest = None
    if absence.returned_at is not None:
        away_since = absence.left_at if absence.left_at is not None else absence.last_commit_at
        greatest = max(0, absence.returned_at - away_since) if away_since is not None else None
        least = greatest if absence.left_at is not None else 0
    return ended_at or 0, least, greatest, absence.outcome


def open_absences(kept: KeptAbsences) -> list[Absence]:
    """The rows that a later record can still change."""
    removed = [each for each in kept.removed.values() if each.membership == STATIC]
    return [copy.copy(each) for each in (*kept.away.values(), *removed, *kept.returned)]
