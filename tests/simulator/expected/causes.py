"""Why an epoch began, by what the members of the group were before and after (measures.md, epochs:
`cause`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tests.simulator.compare import OneOf, Untold
from tests.simulator.lives import is_conversion
from tests.simulator.truth import CLASSIC, CONSUMER, Member, Operation

EXACT, INFERRED = "EXACT", "INFERRED"


@dataclass(frozen=True, slots=True)
class Cause:
    """cause, member_id, confidence: values, or what they may be."""

    cause: Any
    member_id: Any
    confidence: Any


def cause_of(
    before: Operation | None,
    operation: Operation,
    begins_by_conversion: bool,
    hash_before: str | None,
) -> Cause:
    """The first cause that applies to the epoch that an operation began.

    begins_by_conversion: the operation is the first of a life that an offline conversion began.
    hash_before: of the subscribed topics, in the K3 before; None without one.
    """
    topics_changed = operation.has("K4") or operation.topics_hash != hash_before
    if begins_by_conversion or is_conversion(before, operation):
        direction = "UPGRADE" if operation.protocol == CONSUMER else "DOWNGRADE"
        return Cause(direction, _trigger(before, operation), EXACT)
    was = before.members if before is not None else {}
    gone, come = was.keys() - operation.members.keys(), operation.members.keys() - was.keys()
    confidence = INFERRED if operation.protocol == CLASSIC else EXACT
    returned = _returned(was, gone, operation.members, come)
    if returned:
        return _replaced(operation, returned, confidence)
    if gone:
        return Cause("LEFT_OR_FENCED", _the_one(gone), confidence)
    if come:
        return Cause("JOIN", _the_one(come), confidence)
    if operation.protocol == CLASSIC:
        return _cause_of_subscriptions(operation, was)
    if any(operation.has(f"K5 {member_id} gone") for member_id in operation.members):
        return _returned_under_its_id(operation, was, topics_changed)
    return _cause_of_members(operation, was, topics_changed)


def _cause_of_members(
    operation: Operation, was: Mapping[str, Member], topics_changed: bool
) -> Cause:
    """Of an epoch that began while no member came or went."""
    changed = [
        member_id
        for member_id, member in operation.members.items()
        if _wants(member) != _wants(was[member_id])
    ]
    if changed:
        return Cause("SUBSCRIPTION", _the_one(changed), EXACT)
    if operation.has("K16"):
        return Cause("REGEX", None, EXACT)
    if topics_changed:
        return Cause("TOPIC_METADATA", None, EXACT)
    return _cause_of_assignors(operation.members, was)


def _cause_of_subscriptions(operation: Operation, was: Mapping[str, Member]) -> Cause:
    """Of a generation of the same members."""
    changed = [
        member_id
        for member_id, member in operation.members.items()
        if _named(member) != _named(was[member_id])
    ]
    if changed:
        return Cause("SUBSCRIPTION", _the_one(changed), INFERRED)
    return Cause("UNKNOWN", None, "NONE")


def _named(member: Member) -> frozenset[str] | None:
    return None if member.said is None else member.said.topics


def _cause_of_assignors(now: Mapping[str, Member], was: Mapping[str, Member]) -> Cause:
    """Assignors count from 4.4 on. While as many members ask for one as for another, brokers of
    4.4.0 take now the one, now the other, and nothing in the log names who made them."""
    changed = [name for name, member in now.items() if member.assignor != was[name].assignor]
    if changed:
        return Cause("ASSIGNOR", _the_one(changed), EXACT)
    asked = Counter(each.assignor for each in now.values() if each.assignor is not None)
    counts = sorted(asked.values())
    if counts[-2:-1] == counts[-1:] and counts:
        return Cause("ASSIGNOR", None, INFERRED)
    return Cause("UNKNOWN", None, "NONE")


def _trigger(before: Operation | None, operation: Operation) -> Any:
    """Who joined or was removed."""
    was = before.members.keys() if before is not None else set()
    changed = operation.members.keys() ^ was
    return OneOf((None, *changed))


def _returned(
    was: Mapping[str, Member],
    gone: Collection[str],
    now: Mapping[str, Member],
    come: Collection[str],
) -> list[str]:
    """New ids of instances that were there under another id before."""
    instances = {was[member_id].instance_id for member_id in gone} - {None}
    return [member_id for member_id in come if now[member_id].instance_id in instances]


def _replaced(operation: Operation, returned: Collection[str], confidence: str) -> Cause:
    """Between two K2s others may have come or gone besides."""
    member_id = OneOf((None, *returned))
    if operation.protocol == CONSUMER:
        return Cause("STATIC_REPLACED", member_id, confidence)
    causes = OneOf(("STATIC_REPLACED", "LEFT_OR_FENCED", "JOIN"))
    return Cause(causes, Untold("several may have changed between two K2s"), confidence)


def _returned_under_its_id(
    operation: Operation, was: Mapping[str, Member], topics_changed: bool
) -> Cause:
    """A static member that left for a while can return under its id: it replaces itself."""
    other = _cause_of_members(operation, was, topics_changed)
    return Cause(OneOf(("STATIC_REPLACED", other.cause)), OneOf((None, *operation.members)), EXACT)


def _the_one(member_ids: Collection[str]) -> str | None:
    """The member behind it; None where there are several."""
    return next(iter(member_ids)) if len(member_ids) == 1 else None


def _wants(member: Member) -> tuple[frozenset[str], str | None]:
    return member.subscription, member.regex
