"""Whose client the record of a member names (measures.md, Members, `client_inherited`)."""

from __future__ import annotations

from typing import Any

from tests.simulator.lives import Life
from tests.simulator.truth import CONSUMER, Member, Operation


class Inherited:
    """Members of one life whose client id and host may be those of an earlier process that had
    their instance: the coordinator keeps these in a classic group."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._of: dict[str, tuple[Any, Member]] = {}

    def step(self, before: Operation | None, operation: Operation) -> None:
        was = before.members if before is not None else {}
        for member_id, member in operation.members.items():
            if member_id not in was:
                self._of[member_id] = self._joined(before, operation, member), member
            elif self._of[member_id][1].client != member.client:
                self._of[member_id] = False, member

    def _joined(self, before: Operation | None, operation: Operation, member: Member) -> Any:
        """None where the join was not seen, and where a later generation has another id: its
        process may have joined anew."""
        if before is None:
            return False if self._life.is_seen_to_begin(operation) else None
        former = [
            each
            for member_id, each in before.members.items()
            if each.instance_id == member.instance_id and member_id not in operation.members
        ]
        if not former or operation.protocol == CONSUMER or former[0].client != member.client:
            return False
        return True if before.epoch == operation.epoch else None

    def of(self, member_id: str, member: Member) -> Any:
        """Of a member as it was last."""
        if member.instance_id is None or not member.is_classic:
            return False
        return self._of[member_id][0]
