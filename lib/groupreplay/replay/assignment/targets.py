"""Which partitions are to be whose: the only writer of targets, and of whom a partition moves from.

In a consumer group a K7 sets a member's target and a K6 its epoch. In a classic group the leader's
assignment is target and assignment at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from groupreplay.records.entries import Entry
from groupreplay.replay.assignment.stalls import Stalls
from groupreplay.replay.change import Change
from groupreplay.replay.decisions.missed_units import MissedUnits
from groupreplay.replay.life import Life, Member, TopicPartition
from groupreplay.replay.names import Names


class Targets:
    """The targets of one life."""

    def __init__(self, life: Life, names: Names, stalls: Stalls, missed: MissedUnits) -> None:
        self._life = life
        self._names = names
        self._stalls = stalls
        self._missed = missed

    def set(
        self,
        change: Change,
        entry: Entry,
        member: Member,
        wanted: frozenset[TopicPartition] | None,
    ) -> None:
        """A member's new target by its K7; None: it has none any more."""
        life = self._life
        seen, after = member.target or frozenset(), wanted or frozenset()
        before = seen
        if 0 <= member.target_offset < entry.last_hole:
            before |= member.held  # what it was given back in the hole, the target takes again
        lost = before - after
        if lost and wanted is not None:
            change.dropped.append((member, lost))
        for tp in lost:
            # Where another has it by now, that was noted when it came to that one.
            if life.target_owner.get(tp) == member.member_id:
                life.moved_from.setdefault(tp, member.member_id)
                del life.target_owner[tp]
            member.taken[tp] = (entry.ts_ms, life.epoch)
        for tp in after - before:
            owner = life.target_owner.get(tp)
            stays = owner is not None and self._is_same_instance(owner, member)
            life.moved_from.setdefault(tp, member.member_id if stays else owner)
            if owner is not None:
                change.claims.append((tp, owner, member.member_id))
            life.target_owner[tp] = member.member_id
            member.taken.pop(tp, None)
        for tp in (before - seen) & after:
            life.target_owner[tp] = member.member_id
        for topic_id in dict.fromkeys([topic for topic, _ in after - before]):
            self._see_topic(topic_id)
        member.target, member.target_offset = wanted, entry.offset
        self._missed.retargeted(before)
        self._missed.retargeted(after)
        self._stalls.retargeted(member, entry.offset)

    def _is_same_instance(self, owner: str, member: Member) -> bool:
        """Whether a static member has come back under another id: an upgrade may take over who came
        in no K2, before the old id is seen to be gone.
        """
        was = self._life.members.get(owner) if member.instance_id is not None else None
        return was is not None and was.instance_id == member.instance_id

    def assign(self, member: Member, wanted: frozenset[TopicPartition]) -> None:
        """A member's new target by a K2."""
        life = self._life
        before = member.target or frozenset()
        for tp in before - wanted:
            life.moved_from.setdefault(tp, member.member_id)
            if life.target_owner.get(tp) == member.member_id:
                del life.target_owner[tp]
        for tp in wanted - before:
            life.moved_from.setdefault(tp, life.target_owner.get(tp))
            life.target_owner[tp] = member.member_id
        member.target = wanted
        self._missed.retargeted(before)
        self._missed.retargeted(wanted)
        member.taken.clear()

    def own_all(self) -> None:
        """At the end of a K2: what a leader had given to two members, and takes from one of them,
        is the other's, and did not move.
        """
        life = self._life
        if len(life.target_owner) == sum(len(m.target or ()) for m in life.members.values()):
            return
        for member in life.members.values():
            for tp in member.target or frozenset():
                if tp not in life.target_owner:
                    life.target_owner[tp] = member.member_id
                    life.moved_from.pop(tp, None)

    def inherit(self, old: Collection[str], member_id: str) -> None:
        """A static member under a new id takes its own partitions over: they do not move."""
        for tp, owner in self._life.moved_from.items():
            if owner in old:
                self._life.moved_from[tp] = member_id

    def begin_epoch(self, epoch: int, *, follows: bool = False) -> int | None:
        """The target of an epoch is whole. Returns how many partitions went from one member to
        another since the target before; None where that was not seen.

        follows: an upgrade's first target, behind a generation that was seen.
        """
        life = self._life
        knows_target = life.birth_seen or life.target_epoch is not None or follows
        life.target_epoch = epoch
        moved = _moved(life.moved_from, life.target_owner) if knows_target else None
        life.moved_from.clear()
        return moved

    def imply_epoch(self, epoch: int) -> None:
        """The target epoch of a group whose first K6 is not written (4.3+)."""
        self._life.target_epoch = epoch

    def forget_moves(self) -> None:
        """What changed without another target does not count as moved."""
        self._life.moved_from.clear()

    def take_unnamed(self) -> bool:
        """Whether a topic id without a name came into a target since this was asked last."""
        unnamed, self._life.unnamed_topics = self._life.unnamed_topics, False
        return unnamed

    def rename(self, new_topic: Mapping[TopicPartition, str | None]) -> None:
        """At an online conversion: the same partitions, as the other protocol names their topics.

        new_topic: None where no name is known.
        """
        life = self._life
        for member in life.members.values():
            named = {
                (topic, tp[1])
                for tp in member.target or ()
                if (topic := new_topic.get(tp)) is not None
            }
            member.target = frozenset(named) if member.target is not None else None
            member.taken.clear()
        life.target_owner = {
            tp: m.member_id for m in life.members.values() for tp in m.target or ()
        }
        life.moved_from.clear()
        self._missed.forget()

    def forget_epoch(self) -> None:
        """At an upgrade: a target of the consumer protocol was not seen yet."""
        self._life.target_epoch = None

    def _see_topic(self, topic_id: str) -> None:
        """Takes note of a topic id in a target, and whether its name is still to be found."""
        self._names.see(topic_id)
        if self._names.name(topic_id) is None:
            self._life.unnamed_topics = True


def _moved(
    moved_from: Mapping[TopicPartition, str | None], target_owner: Mapping[TopicPartition, str]
) -> int:
    """First assignments and dropped ones do not count."""
    return sum(
        1
        for tp, before in moved_from.items()
        if before is not None and target_owner.get(tp, before) != before
    )
