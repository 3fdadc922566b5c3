"""`members`, of which request logs say who sent what for each, and how that went (evidence.md,
Members), and lines of both logs how it ended, in whose words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from tests.simulator.answers import Answer
from tests.simulator.compare import Between, Key, OneOf, Wanted
from tests.simulator.expected import member_ends
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rejoins import REBALANCE_IN_PROGRESS
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import CONSUMER, Operation

_HEARTBEATS: Final = frozenset({"HEARTBEAT", "CONSUMER_GROUP_HEARTBEAT"})
_SIGNS: Final = _HEARTBEATS | {"JOIN_GROUP", "SYNC_GROUP"}
"""Requests that keep a session."""

_COUNTED: Final = _SIGNS | {"OFFSET_COMMIT", "TXN_OFFSET_COMMIT"}
_GRANTED: Final = frozenset({0, REBALANCE_IN_PROGRESS})
RUN_MS: Final = 10_000
"""Heartbeats at one broker that are not further apart are kept as one run."""

UNKNOWN_MEMBER_ID: Final = 25

LATE_MS: Final = 60_000
"""Who is gone, and not heard of for so long, is gone for good."""


@dataclass(slots=True)
class Contact:
    """What one process said under one member id, from when it was let in until the id is another
    one's, or is let in again. ended: the operation that removed it from a group of the consumer
    protocol, or from a classic one whose id another group has later, with this member."""

    ended: Operation | None
    said: list[Answer] = field(default_factory=list)

    @property
    def granted(self) -> list[Answer]:
        return [each for each in self.said if each.code in _GRANTED]

    @property
    def signs(self) -> list[Answer]:
        return [each for each in self.granted if each.api in _SIGNS and not is_leave(each)]


def is_leave(answer: Answer) -> bool:
    return answer.api == "CONSUMER_GROUP_HEARTBEAT" and (answer.epoch or 0) < 0


def contacts_of(answers: Iterable[Answer], ends: Sequence[Operation]) -> list[Contact]:
    """Of one member id, in order. answers: in the order of clocks; ends: operations of the consumer
    protocol that removed it."""
    found = [Contact(each) for each in (*ends, None)]
    for answer in answers:
        if answer.code in _GRANTED:
            place = sum(each.true_at < answer.came_true_at for each in ends)
            if found[place].said or not is_leave(answer):
                found[place].said.append(answer)
        elif begun := [each for each in found if each.said]:
            begun[-1].said.append(answer)
    return found


@dataclass(frozen=True, slots=True)
class Errors:
    """`errors` and what stands beside them, by request and code. least: so many of the errors, in
    order, are counted for sure: who is gone for a while need not be known any more."""

    errors: Sequence[Answer]
    least: int

    def admits(self, value: Any) -> bool:
        sizes = range(self.least, len(self.errors) + 1)
        return any(value == _counted(self.errors[:size]) for size in sizes)

    def __str__(self) -> str:
        return f"{_counted(self.errors)}, at least those of the first {self.least}"


Counts = tuple[tuple[str, int, str | None, int, int, int], ...]
"""Request, code, its name, how often, first and last time of each."""


def _counted(errors: Iterable[Answer]) -> Counts:
    found: dict[tuple[str, int], list[Answer]] = defaultdict(list)
    for each in errors:
        found[each.api, each.code].append(each)
    return tuple(
        (*key, each[0].error_name, len(each), each[0].at, each[-1].at)
        for key, each in found.items()
    )


_OF_ERRORS: Final = ("error_apis", "errors", "error_first_at", "error_last_at")


def _counts_in(row: Row) -> Any:
    """None where there are none; a text where the lists do not belong together."""
    lists = [row[name] for name in _OF_ERRORS]
    if not any(isinstance(each, list) for each in lists):
        return None if all(each is None for each in lists) else "no lists"
    if len({len(each) if isinstance(each, list) else -1 for each in lists}) > 1:
        return "lists of several lengths"
    return tuple(
        (api, each["error_code"], each["error"], each["requests"], _ms(first), _ms(last))
        for api, each, first, last in zip(*lists, strict=True)
    )


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def errors_of(contact: Contact) -> Errors:
    errors = [each for each in contact.said if each.code]
    if contact.ended is None:
        return Errors(errors, _heard_of(contact, errors))
    heard_at = contact.ended.at
    for place, each in enumerate(errors):
        if each.at - heard_at > LATE_MS:
            return Errors(errors, place)
        heard_at = max(heard_at, each.at)
    return Errors(errors, len(errors))


def _heard_of(contact: Contact, errors: Sequence[Answer]) -> int:
    """How many errors come before a silence in which a classic member was removed, that lasted so
    long that it may be gone for good. Its session ran out in it, no record says when."""
    for before, each in pairwise(contact.said):
        if each.code == UNKNOWN_MEMBER_ID and each.at - before.at > LATE_MS:
            return errors.index(each)
    return len(errors)


def _gap_of(signs: Sequence[Answer]) -> Between | None:
    """A gap ends when a request comes, or, between heartbeats, when it is answered: a run of them
    keeps these times alone. A run of one broker's may go over what another one heard."""
    if len(signs) < 2:
        return None
    low = high = 0
    last_at = signs[0].at
    for each in signs[1:]:
        came, answered = each.logged_received_at, each.at
        low = max(low, came - last_at)
        high = max(high, (answered if each.api in _HEARTBEATS else came) - last_at)
        last_at = max(last_at, each.at)
    return Between(low, max(high, *_own_gaps(signs)))


def _own_gaps(signs: Sequence[Answer]) -> Iterator[int]:
    """Between heartbeats at one broker, where they are of one run."""
    last: dict[int, int] = {}
    yield 0
    for each in signs:
        gap = each.at - last.get(each.broker, each.at)
        if each.api in _HEARTBEATS and gap < RUN_MS:
            yield gap
        last[each.broker] = each.at


def _row(contact: Contact, ended: Operation | None, left: Sequence[int]) -> dict[str, Any]:
    """Of one that was heard of. Who is gone may be answered later.

    left: when its own leave was answered, where it asked for it.
    """
    first, signs = contact.granted[0], contact.signs
    last_at = max(each.at for each in signs)
    gone_at = [] if ended is None else [min(last_at, at) for at in (ended.at, *left)]
    return {
        "principal": first.principal,
        "software_name": first.software_name,
        "software_version": first.software_version,
        "last_heartbeat_at": OneOf((last_at, *gone_at)),
        "longest_gap_ms": _gap_of(signs),
        "heartbeats": len(contact.granted),
        **dict.fromkeys(_OF_ERRORS, errors_of(contact)),
    }


_NOTHING: Final = dict.fromkeys(
    (
        *("principal", "software_name", "software_version", "last_heartbeat_at"),
        *("longest_gap_ms", "heartbeats", *_OF_ERRORS),
    )
)


@dataclass(frozen=True, slots=True)
class Membership:
    """A row. ended: the operation that removed it, None while it is there; is_consumer: from a group
    of the consumer protocol."""

    member_id: str
    opened: Operation
    ended: Operation | None
    is_consumer: bool = False


def memberships_of(life: Life) -> Iterator[Membership]:
    joined: dict[str, Operation] = {}
    for before, operation in life.steps():
        was = before.members if before is not None else {}
        for member_id in was.keys() - operation.members.keys():
            is_consumer = before is not None and before.protocol == CONSUMER
            yield Membership(member_id, joined.pop(member_id), operation, is_consumer)
        joined |= dict.fromkeys(operation.members.keys() - was.keys(), operation)
    for member_id, opened in joined.items():
        yield Membership(member_id, opened, None)


def contacts_in(history: History, group_id: str) -> Mapping[str, list[Contact]]:
    """Member id -> its contacts."""
    said: dict[str, list[Answer]] = defaultdict(list)
    for answer in history.truth.answers.of_groups.get(group_id, ()):
        member_id = answer.member_id or answer.answered_member_id
        if member_id is not None and answer.api in _COUNTED:
            said[member_id].append(answer)
    ends: dict[str, list[Operation]] = defaultdict(list)
    lives = [life for life in history.lives if life.group_id == group_id]
    of_lives = [list(memberships_of(life)) for life in lives]
    for place, memberships in enumerate(of_lives):
        again = {each.member_id for later in of_lives[place + 1 :] for each in later}
        for each in memberships:
            if each.ended is not None and (each.is_consumer or each.member_id in again):
                ends[each.member_id].append(each.ended)
    return {name: contacts_of(each, ends[name]) for name, each in said.items()}


def contact_of(contacts: Sequence[Contact], membership: Membership) -> Contact | None:
    """What is said of a row."""
    ended = [each.ended for each in contacts[:-1] if each.ended is not None]
    place = sum(each.true_at <= membership.opened.true_at for each in ended)
    return contacts[place] if contacts and contacts[place].signs else None


def _wanted(history: History) -> dict[Key, Wanted]:
    ends = member_ends.CHECK.wanted(history)
    of_groups: dict[str, Mapping[str, list[Contact]]] = {}
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        group_id = life.group_id
        if group_id not in of_groups:
            of_groups[group_id] = contacts_in(history, group_id)
        for each in memberships_of(life):
            key = (group_id, each.member_id, each.opened.first_offset)
            contact = contact_of(of_groups[group_id].get(each.member_id, ()), each)
            left = [leave.at for leave in _leaves(history, group_id, each.member_id)]
            values = _row(contact, each.ended, left) if contact is not None else dict(_NOTHING)
            values["client_reason"] = _reason(history, each, group_id, ends.get(key))
            offsets = [each.opened.first_offset]
            if each.ended is not None:
                offsets.append(each.ended.first_offset)
            wanted[key] = Wanted(values, tuple(offsets))
    return wanted


def _reason(history: History, of: Membership, group_id: str, end: Wanted | None) -> Any:
    """What it, or who removed it, said of why it left."""
    if end is None or of.ended is None:
        return None
    detail = end.values.get("end_detail")
    said = {each.reason for each in _leaves(history, group_id, of.member_id)}
    if end.left_out:
        return OneOf((None, *said)) if end.values["end_confidence"] != "EXACT" else None
    return OneOf(tuple(said)) if detail in _BY_REQUEST else None


def _leaves(history: History, group_id: str, member_id: str) -> Iterator[Answer]:
    """Requests by which it, or an administrator, ended its membership."""
    for each in history.truth.answers.of_groups.get(group_id, ()):
        if each.api == "LEAVE_GROUP" and not each.code and each.about == member_id:
            yield each


_BY_REQUEST: Final = ("LEAVE_GROUP", "POLL_TIMEOUT", "ADMIN_REMOVAL")


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [{**row, **dict.fromkeys(_OF_ERRORS, _counts_in(row))} for row in rows]


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["member_id"], history.opened_by(row)


CHECK: Final = Check("contacts", _wanted, _key_of, gathered=_gathered)
