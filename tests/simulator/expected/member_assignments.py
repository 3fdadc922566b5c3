"""`member_assignments`: who held which partition (measures.md, who holds what)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Between, Key, OneOf, Untold, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.holdings import Holdings, Span, named
from tests.simulator.expected.untold import COMMITS_OF_DELETED, TO_TWO_AT_ONCE, start_observed
from tests.simulator.lives import Life
from tests.simulator.tables import Row, elapsed_ms
from tests.simulator.truth import CLASSIC, Member, Operation, Partition
from tests.simulator.truth_log import CommitKey

DELETED_OVER_CONVERSION: Final = "a deleted topic's name need not be known over a conversion"


@dataclass(frozen=True, slots=True)
class _Life:
    """One life and what its spans are judged by."""

    history: History
    life: Life
    holdings: Holdings

    def operation(self, place: int) -> Operation:
        return self.life.operations[place]

    def row(self, span: Span) -> tuple[Key, Wanted]:
        opened = self.operation(span.opened)
        partition = span.partition
        member = opened.members[span.member_id]
        values: dict[str, Any] = {
            "incarnation": self.history.incarnation(self.life),
            "offsets_partition": self.life.offsets_partition,
            "from_offset": Between(opened.first_offset, opened.last_offset),
            "start_observed": start_observed(self.life, opened),
            "instance_id": member.instance_id,
            "topic": self.history.topic_of(partition),
            "topic_id": partition.topic_id or Untold("told by name alone"),
            "assigned_at": opened.at,
            "assigned_epoch": span.epoch,
        }
        values |= self._end(span) if span.closed is not None else _OPEN
        places = [span.opened, *([] if span.closed is None else [span.closed])]
        of_partition = self.history.partition_key(partition)
        key = (self.life.group_id, span.member_id, *of_partition, opened.first_offset)
        left_out = DELETED_OVER_CONVERSION if self._is_blurred(span) else ""
        offsets = tuple(self.operation(place).first_offset for place in places)
        return key, Wanted(values, offsets, left_out)

    def _end(self, span: Span) -> dict[str, Any]:
        assert span.closed is not None
        closed = self.operation(span.closed)
        member = closed.members.get(span.member_id)
        following = self.holdings.next_after(span)
        granted = self.operation(following.opened) if following else None
        end = {
            "to_offset": Between(closed.first_offset, closed.last_offset),
            "released_at": closed.at,
            "released_epoch": _released_epoch(closed, member),
            "end_reason": self._end_reason(span, closed, member),
        }
        if self.holdings.is_contested(span.partition):
            return end | dict.fromkeys(_AFTER, TO_TWO_AT_ONCE)
        return end | {
            "is_final": self._is_final(span, following),
            "next_member_id": following.member_id if following else None,
            "next_assigned_at": granted.at if granted else None,
            "unowned_ms": self._if_seen(span, _unowned_ms(closed, granted)),
            **self._read_between(span, following),
        }

    def _end_reason(self, span: Span, closed: Operation, member: Member | None) -> Any:
        if closed.protocol is None:
            return "GROUP_REMOVED"
        if member is not None:
            return self._reason_of_loss(span, closed, member)
        assert span.closed is not None
        before = self.operation(span.closed - 1).members[span.member_id]
        returned = any(each.instance_id == before.instance_id for each in closed.members.values())
        return "REPLACED" if before.instance_id and returned else "LEFT_OR_FENCED"

    def _reason_of_loss(self, span: Span, closed: Operation, member: Member) -> Any:
        partition = span.partition
        is_deleted = any(
            at <= closed.true_at and partition.topic_id in (None, topic_id)
            for at, topic_id in self.history.truth.deleted.get(partition.topic, ())
        )
        if not is_deleted:
            return "REVOKED"
        if partition.topic in member.subscription and self._shows_removal(span):
            return "TOPIC_REMOVED"
        return OneOf(("REVOKED", "TOPIC_REMOVED"))

    def _shows_removal(self, span: Span) -> bool:
        """Whether the target since which nobody was given a partition shows that its topic is gone:
        the member subscribed to it then, and every regular expression was resolved (measures.md 4).
        If it said something else when the target before was made, the topic's name may be unknown.
        """
        assert span.closed is not None
        place = span.closed
        while place > span.opened and not self._is_given(place - 1, span.partition):
            place -= 1
        if not self._has(place - 1, span):  # others had been given it, and may have gone since
            targets = range(place, span.closed + 1)
            place = next((each for each in targets if self.operation(each).target_epochs), -1)
            if place < 0 or not self._is_topic_given(place - 1, span.partition):
                return False
        operation = self.operation(place)
        resolved: set[str] = set()
        for each in range(place + 1):
            for record in self.operation(each).records:
                kind, _, regex = record.partition(" ")
                if kind == "K16":
                    resolved = (
                        resolved - {regex.removesuffix(" gone")}
                        if regex.endswith(" gone")
                        else resolved | {regex}
                    )
        subscribes = span.partition.topic in operation.members[span.member_id].subscription
        members = operation.members.values()
        is_told = subscribes and self._had_said_so(place, span.member_id)
        return is_told and all(not each.regex or each.regex in resolved for each in members)

    def _had_said_so(self, place: int, member_id: str) -> bool:
        """Whether a member subscribed as it does when the target before that of an operation was
        made."""
        now = self.operation(place).members[member_id]
        targets = (each for each in reversed(range(place)) if self.operation(each).target_epochs)
        before = self.operation(next(targets, 0)).members.get(member_id)
        said = None if before is None else (before.subscription, before.regex)
        return said == (now.subscription, now.regex)

    def _has(self, place: int, span: Span) -> bool:
        """Whether a partition is in its holder's target after an operation."""
        member = self.operation(place).members.get(span.member_id)
        return member is not None and span.partition in member.target

    def _is_given(self, place: int, partition: Partition) -> bool:
        """Whether a partition is in anybody's target after an operation."""
        return any(partition in each.target for each in self.operation(place).members.values())

    def _is_topic_given(self, place: int, partition: Partition) -> bool:
        """Whether a partition of its topic is in anybody's target after an operation."""
        return any(
            each.topic_id == partition.topic_id
            for member in self.operation(place).members.values()
            for each in member.target
        )

    def _read_between(self, span: Span, following: Span | None) -> dict[str, Any]:
        """From the last commit before the release to the first of the next holder: how long that
        took, and how much is read again: that, clocks of two brokers that differ do not hide."""
        if following is None or span.closed is None:
            return dict.fromkeys(_READ_BETWEEN)
        truth = self.history.truth
        if span.partition.topic in truth.deleted:
            return dict.fromkeys(_READ_BETWEEN, COMMITS_OF_DELETED)
        key = CommitKey(self.life.group_id, *named(span.partition))
        closed = self.operation(span.closed)
        last = self.history.last_commit(self.life, span.partition, closed.first_offset)
        granted, until = self.operation(following.opened), following.closed
        before = None if until is None else self.operation(until).first_offset
        first = truth.first_commit_after(key, granted.last_offset, before)
        if last is None or first is None:
            return dict.fromkeys(_READ_BETWEEN)
        is_kept = not any(
            last.offset < each < first.offset for each in truth.tombstones.get(key, ())
        )
        rewound = max(0, last.position - first.position) if is_kept else None
        return {
            "idle_ms": self._if_seen(span, elapsed_ms(last.at, first.at)),
            "rewound": self._if_seen(span, rewound),
        }

    def _if_seen(self, span: Span, duration_ms: int | None) -> Any:
        """A duration, or what is counted over it; a row that is not seen to begin need not have it."""
        is_seen = self.life.is_seen_to_begin(self.operation(span.opened))
        return duration_ms if is_seen else OneOf((None, duration_ms))

    def _is_final(self, span: Span, following: Span | None) -> Any:
        """At the next holder's first commit, or when there can be none any more."""
        assert span.closed is not None
        if self.life.end is not None:
            return True
        if following is None:
            places = len(self.life.operations)
            return self.holdings.left_out(span.partition, span.closed + 1, places)
        if following.closed is not None:
            return True
        if span.partition.topic in self.history.truth.deleted:
            return COMMITS_OF_DELETED
        return self.history.first_commit(self.life, following, following.opened) is not None

    def _is_blurred(self, span: Span) -> bool:
        """Whether the row hangs on the name of a deleted topic: a conversion lies in it."""
        following = self.holdings.next_after(span)
        until = None if following is None else self.operation(following.opened).first_offset
        return span.partition.topic in self.history.truth.deleted and self.history.is_converted(
            self.life.group_id, self.operation(span.opened).first_offset, until
        )


_READ_BETWEEN: Final = ("idle_ms", "rewound")
_AFTER: Final = ("is_final", "next_member_id", "next_assigned_at", "unowned_ms", *_READ_BETWEEN)

_OPEN: Final[Mapping[str, Any]] = {
    "to_offset": None,
    "is_final": False,
    "released_at": None,
    "released_epoch": None,
    "end_reason": "OPEN",
    "next_member_id": None,
    "next_assigned_at": None,
    "unowned_ms": None,
    "idle_ms": None,
    "rewound": None,
}


def _released_epoch(closed: Operation, member: Member | None) -> Any:
    """The member's epoch then, or the group's where the member is gone: an upgrade begins two."""
    if member is not None:
        return member.epoch
    if closed.protocol is None:
        return None
    return OneOf((closed.epoch, *closed.group_epochs))


def _unowned_ms(closed: Operation, granted: Operation | None) -> int | None:
    """None where either end is a classic generation: a give-up in a join phase is not recorded."""
    if granted is None or CLASSIC in (closed.protocol, granted.protocol):
        return None
    return elapsed_ms(closed.at, granted.at)


def _wanted(history: History) -> dict[Key, Wanted]:
    return {key: row for _, _, key, row in spans_of(history)}


def spans_of(history: History) -> Iterator[tuple[Life, Span, Key, Wanted]]:
    """Each span with its life, its key and its row."""
    for life in history.lives:
        holdings = history.holdings(life)
        of_life = _Life(history, life, holdings)
        for span in holdings.spans:
            yield life, span, *of_life.row(span)


def key_of(history: History, row: Row) -> Key:
    of_partition = history.partition_key(history.partition_of(row))
    return row["group_id"], row["member_id"], *of_partition, history.opened_by(row)


def excuse(history: History, row: Row) -> str:
    is_deleted = history.partition_of(row).topic in history.truth.deleted
    is_blurred = is_deleted and history.is_converted(
        row["group_id"], row["from_offset"], row["to_offset"]
    )
    return DELETED_OVER_CONVERSION if is_blurred else ""


CHECK: Final = Check("member_assignments", _wanted, key_of, excuse)
