"""Who came to a group and who went, operation by operation, by its members before and after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.simulator.lives import Life
from tests.simulator.truth import Member, Operation

GONE, REPLACED, JOINED, AWAY = "G", "R", "J", "A"


@dataclass(frozen=True, slots=True)
class Coming:
    """One member that came or went. kind: J joined; G gone, and not with its group; R its instance
    was taken over by heir, or came back under its own id (then heir is itself); A left for a while.

    before: the operation before in the life. member: as it was before, of J as it is now.
    """

    kind: str
    member_id: str
    member: Member
    before: Operation | None
    operation: Operation
    heir: str | None = None

    @property
    def opens_epoch(self) -> bool:
        """Whether the group had another epoch after the operation than before it."""
        return self.before is None or self.before.epoch != self.operation.epoch


def comings_of(life: Life) -> Iterator[list[Coming]]:
    """Those of each operation that has any: gone, replaced, joined, away. Members that a first K2
    shows, of a group that may have had generations before, were not seen to join."""
    for before, operation in life.steps():
        if operation.protocol is None:
            continue
        found = [*_went(before, operation), *_came(life, before, operation)]
        found.sort(key=lambda each: "GRJA".index(each.kind))
        if found:
            yield found


def _went(before: Operation | None, operation: Operation) -> Iterator[Coming]:
    if before is None:
        return
    heirs = _heirs(before, operation)
    for member_id, was in before.members.items():
        now = operation.members.get(member_id)
        if now is None:
            heir = heirs.get(was.instance_id)
            kind = GONE if heir is None else REPLACED
            yield Coming(kind, member_id, was, before, operation, heir)
        elif now.is_away and not was.is_away:
            yield Coming(AWAY, member_id, was, before, operation)
        elif was.is_away and not now.is_away:
            yield Coming(REPLACED, member_id, was, before, operation, member_id)


def _came(life: Life, before: Operation | None, operation: Operation) -> Iterator[Coming]:
    if before is None and not life.is_seen_to_begin(operation):
        return
    there = before.members if before is not None else {}
    heirs = _heirs(before, operation).values() if before is not None else ()
    for member_id, member in operation.members.items():
        if member_id not in there and member_id not in heirs:
            yield Coming(JOINED, member_id, member, before, operation)


def _heirs(before: Operation, operation: Operation) -> dict[str | None, str]:
    """Instance of a member that is gone -> who has it now."""
    gone = {
        member.instance_id
        for member_id, member in before.members.items()
        if member_id not in operation.members and member.instance_id is not None
    }
    return {
        member.instance_id: member_id
        for member_id, member in operation.members.items()
        if member_id not in before.members and member.instance_id in gone
    }
