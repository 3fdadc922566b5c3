"""Every partition that was asked back from a member in one life of a group: when, by which target,
and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from tests.simulator.lives import Life
from tests.simulator.truth import CLASSIC, CONSUMER, Member, Operation, Partition

Asked = tuple[str, Partition]
"""(member id, partition)"""


@dataclass(slots=True)
class HandOver:
    """requested, ended: places of operations; ended is None while it is open. member: as it was
    when it was asked.

    taken_at, epoch: time and epoch of the target that took the partition from the member; None
    where it gave it up by itself.
    """

    member_id: str
    partition: Partition
    requested: int
    member: Member
    taken_at: int | None
    epoch: int | None
    ended: int | None = None
    outcome: str = "OPEN"


def hand_overs_of(life: Life) -> list[HandOver]:
    """In the order of their requests."""
    found: list[HandOver] = []
    is_open: dict[Asked, HandOver] = {}
    takings = _Takings()
    for place, (before, operation) in enumerate(life.steps()):
        takings.step(before, operation)
        pending = _pending(operation)
        for key in [key for key in is_open if key not in pending]:
            ended = is_open.pop(key)
            ended.ended = place
            assert before is not None
            ended.outcome = _outcome(ended, before, operation)
        for member_id, partition in sorted(pending - is_open.keys(), key=str):
            member = operation.members[member_id]
            taken = takings.of(member_id, partition)
            new = HandOver(member_id, partition, place, member, *taken)
            is_open[member_id, partition] = new
            found.append(new)
    return found


def _pending(operation: Operation) -> set[Asked]:
    if operation.protocol != CONSUMER:
        return set()
    return {
        (member_id, partition)
        for member_id, member in operation.members.items()
        for partition in member.pending
    }


class _Takings:
    """Remembers of each member when a target last took a partition from it."""

    def __init__(self) -> None:
        self._taken: dict[Asked, tuple[int, int | None]] = {}

    def of(self, member_id: str, partition: Partition) -> tuple[int | None, int | None]:
        """(time, epoch) of the target; (None, None) where no target took it."""
        return self._taken.get((member_id, partition), (None, None))

    def step(self, before: Operation | None, operation: Operation) -> None:
        if operation.protocol != CONSUMER:
            return
        for member_id, member in operation.members.items():
            was = before.members.get(member_id) if before is not None else None
            if was is None or before is None:
                had: frozenset[Partition] = frozenset()
            elif before.protocol == CLASSIC:
                # Converted with what it had; the first target can take some of that at once.
                self._forget(member_id)
                had = member.assigned
            else:
                had = was.target
            for partition in had - member.target:
                self._taken[member_id, partition] = operation.at, operation.target_epoch
            for partition in member.target:
                self._taken.pop((member_id, partition), None)

    def _forget(self, member_id: str) -> None:
        for key in [key for key in self._taken if key[0] == member_id]:
            del self._taken[key]


def _outcome(asked: HandOver, before: Operation, operation: Operation) -> str:
    """How a request ended that was open until an operation (measures.md, hand-overs)."""
    member = operation.members.get(asked.member_id)
    if member is None:
        return _outcome_of_removed(before.members[asked.member_id], operation)
    if operation.protocol == CLASSIC:
        named = Partition(None, asked.partition.topic, asked.partition.number)
        return "CANCELLED" if named in member.assigned else "UNOBSERVED"
    if member.is_away:
        return "LEFT"
    return "CANCELLED" if asked.partition in member.assigned else "ACKED"


def _outcome_of_removed(was: Member, operation: Operation) -> str:
    instances = {each.instance_id for each in operation.members.values()}
    if was.instance_id is not None and was.instance_id in instances:
        return "REPLACED"
    return "FENCED" if is_rebalance_timeout(operation) else "LEFT_OR_FENCED"


def is_rebalance_timeout(operation: Operation) -> bool:
    """Whether the coordinator removed a member because it did not give up in time: the timer says
    so."""
    return operation.kind == "internal" and "key=rebalance-timeout-" in operation.reason
