"""How many units nobody holds and somebody should, and how many are with members that are away.

Every operation asks, and one operation may change a few units of thousands. So only what changed is
counted again. `wanted` and `away_partitions` say the same of a group as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable

from groupreplay.replay.life import CONSUMER, Life, Unit


class MissedUnits:
    """The units of one life that wait for an owner.

    _changed: units to be judged again, None for all.
    _hole: the life's last hole when they were judged.
    _unheld: units that nobody holds.
    _missed: units among these that were let go in sight, and not by a K2.
    _targeted: units among _missed that are in a target.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._changed: set[Unit] | None = None
        self._hole = -1
        self._unheld: set[Unit] = set()
        self._missed: set[Unit] = set()
        self._targeted: set[Unit] = set()

    def note(self, unit: Unit) -> None:
        """A unit was let go, given, or asked back."""
        if self._changed is not None:
            self._changed.add(unit)

    def retargeted(self, units: Iterable[Unit]) -> None:
        """Units came into a target, or left it."""
        unowned = self._life.unowned
        if unowned and self._changed is not None:
            self._changed.update(unowned.intersection(units))

    def forget(self) -> None:
        """Units have other names now."""
        self._changed = None

    def wanted(self) -> int:
        """As `wanted` says."""
        life = self._life
        if not life.unowned or not life.members or life.protocol != CONSUMER:
            return 0
        self._judge()
        return len(self._missed) if lags(life) else len(self._targeted)

    def unheld(self) -> int:
        """Units that wait for an owner while nobody holds them."""
        if not self._life.unowned:
            return 0
        self._judge()
        return len(self._unheld)

    def _judge(self) -> None:
        life = self._life
        changed = self._changed
        if changed is None or self._hole != life.last_hole:
            self._hole = life.last_hole
            self._unheld.clear()
            self._missed.clear()
            self._targeted.clear()
            changed = life.unowned
        for unit in changed:
            self._judge_one(unit)
        self._changed = set()

    def _judge_one(self, unit: Unit) -> None:
        life = self._life
        is_unheld = unit in life.unowned and unit not in life.holders
        is_missed = is_unheld and was_let_go(life, unit)
        _put(self._unheld, unit, is_unheld)
        _put(self._missed, unit, is_missed)
        _put(self._targeted, unit, is_missed and unit in life.target_owner)


class AwayPartitions:
    """How many partitions members have that left for a while.

    _held: member id -> how many partitions it has, where it has some.
    _hole: the life's last hole when they were counted, None where they are to be counted again.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._held: dict[str, int] = {}
        self._total = 0
        self._hole: int | None = None

    def note(self, member_id: str) -> None:
        """An operation names this member."""
        life = self._life
        self._total -= self._held.pop(member_id, 0)
        if member_id in life.away and (held := away_partitions_of(life, member_id)):
            self._held[member_id] = held
            self._total += held

    def forget(self) -> None:
        """Members that no operation named have other partitions now."""
        self._hole = None

    def count(self) -> int:
        """As `away_partitions` says."""
        life = self._life
        if self._hole != life.last_hole:
            self._hole, self._total = life.last_hole, 0
            self._held.clear()
            for member_id in life.away:
                self.note(member_id)
        return self._total


def _put(units: set[Unit], unit: Unit, is_in: bool) -> None:
    if is_in:
        units.add(unit)
    else:
        units.discard(unit)


def lags(life: Life) -> bool:
    """Whether the next target is not computed yet."""
    return life.target_epoch is None or (life.epoch or 0) > life.target_epoch


def was_let_go(life: Life, unit: Unit) -> bool:
    """Whether a unit without an owner was let go in sight: not by a K2, nor in or before a hole, in
    which it may have been given.
    """
    return any(
        not (each.by_k2 or each.is_hidden) and each.released_offset >= life.last_hole
        for each in life.trails[unit].leaving
    )


def wanted(life: Life) -> int:
    """Partitions that nobody holds and somebody should: they were let go, not by a K2, and are in a
    target or wait for the next one. None where nobody is there to ask for them, and none that may
    have been given in a hole since.
    """
    if not life.unowned or not life.members or life.protocol != CONSUMER:
        return 0
    waits = lags(life)
    return sum(
        (waits or unit in life.target_owner) and unit not in life.holders and was_let_go(life, unit)
        for unit in life.unowned
    )


def away_partitions(life: Life) -> int:
    """Partitions of members that have left for a while, and did not come back in a hole."""
    return sum(away_partitions_of(life, member_id) for member_id in life.away)


def away_partitions_of(life: Life, member_id: str) -> int:
    """Partitions of one member that is away."""
    member = life.members[member_id]
    return len(member.spans) if member.current_offset >= life.last_hole else 0
