"""`revocation_latencies`: each step of every hand-over (measures.md, hand-overs)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Between, Key, OneOf, Wanted
from tests.simulator.expected.hand_overs import HandOver, hand_overs_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.untold import COMMITS_OF_DELETED, END_IS_HIDDEN, NAME_OF_DELETED
from tests.simulator.lives import Life
from tests.simulator.tables import Row, elapsed_ms
from tests.simulator.truth import CONSUMER, Operation, Partition

TIMER_SLACK_MS: Final = 50
"""A timer is armed some ms before its K8 is stamped."""


@dataclass(frozen=True, slots=True)
class _Grant:
    """place: of the operation that gave the partition to a member."""

    place: int
    member_id: str


@dataclass(frozen=True, slots=True)
class _Life:
    """One life and what its hand-overs are judged by."""

    history: History
    life: Life
    has_conversions: bool

    def row(self, asked: HandOver) -> tuple[Key, Wanted]:
        requested = self.life.operations[asked.requested]
        ended = None if asked.ended is None else self.life.operations[asked.ended]
        of_partition = self.history.partition_key(asked.partition)
        key = (self.life.group_id, asked.member_id, *of_partition, requested.first_offset)
        values = self._request(asked, requested) | self._end(asked, requested, ended)
        grant = self._next_owner(asked)
        values |= self._grant(asked, ended, grant) | {"is_final": self._is_final(asked, grant)}
        offsets = tuple(each.first_offset for each in (requested, ended) if each)
        return key, Wanted(values, offsets)

    def _request(self, asked: HandOver, requested: Operation) -> dict[str, Any]:
        member = asked.member
        return {
            "incarnation": self.history.incarnation(self.life),
            "offsets_partition": self.life.offsets_partition,
            "from_offset": Between(requested.first_offset, requested.last_offset),
            "start_observed": True,
            "epoch": asked.epoch,
            "instance_id": member.instance_id,
            "client_id": member.client_id,
            "client_host": member.host,
            "member_protocol": member.protocol,
            "topic": self.history.topic_of(asked.partition),
            "topic_id": asked.partition.topic_id,
            "target_at": asked.taken_at,
            "requested_at": requested.at,
            "notify_ms": elapsed_ms(asked.taken_at, requested.at),
        }

    def _end(
        self, asked: HandOver, requested: Operation, ended: Operation | None
    ) -> dict[str, Any]:
        until_at = self.history.truth.as_of_ms if ended is None else ended.at
        is_unseen = asked.outcome == "UNOBSERVED"
        fallen = self.history.has_other_leader(requested, ended)
        return {
            "to_offset": Between(ended.first_offset, ended.last_offset) if ended else None,
            # Of an end that is hidden the time of the operation may be told or not.
            "ended_at": OneOf((None, ended.at)) if ended and is_unseen else ended and ended.at,
            "acked_at": ended.at if ended and asked.outcome == "ACKED" else None,
            "revoke_ms": None if is_unseen else elapsed_ms(requested.at, until_at),
            "timeout_ms": _timeout_ms(asked, fallen),
            "outcome": _outcome(asked, until_at - requested.at, fallen),
            "is_censored": ended is None,
        }

    def _grant(
        self, asked: HandOver, ended: Operation | None, grant: _Grant | None
    ) -> dict[str, Any]:
        is_deleted = asked.partition.topic in self.history.truth.deleted
        if grant is None or ended is None:
            nothing = (
                *("granted_at", "granted_to", "first_commit_at"),
                *("grant_ms", "resume_ms", "unowned_ms"),
            )
            return dict.fromkeys(nothing)
        granted = self.life.operations[grant.place]
        is_nameless = is_deleted and self.has_conversions
        first: Any = None if is_nameless else self._first_commit(asked.partition, grant)
        unowned_ms = elapsed_ms(ended.at, granted.at)
        values = {
            "granted_at": granted.at,
            "granted_to": grant.member_id,
            "unowned_ms": unowned_ms,
            "grant_ms": unowned_ms if asked.outcome == "ACKED" else None,
            "first_commit_at": first,
            "resume_ms": elapsed_ms(granted.at, first),
        }
        if asked.outcome == "UNOBSERVED":
            return dict.fromkeys(values, END_IS_HIDDEN)
        if is_nameless:
            return dict.fromkeys(values, NAME_OF_DELETED)
        if is_deleted:
            values |= {"first_commit_at": COMMITS_OF_DELETED, "resume_ms": COMMITS_OF_DELETED}
        return values

    def _next_owner(self, asked: HandOver) -> _Grant | None:
        """Who had the partition assigned next, the same member included; None where a target left
        it out before."""
        if asked.ended is None or asked.outcome == "CANCELLED":
            return None
        holdings = self.history.holdings(self.life)
        for place in range(asked.ended, len(self.life.operations)):
            owner = _owner(self.life.operations[place], asked.partition)
            if owner is not None and holdings.has_at(owner, asked.partition, place):
                is_left_out = holdings.left_out(asked.partition, asked.ended + 1, place)
                return None if is_left_out else _Grant(place, owner)
        return None

    def _is_final(self, asked: HandOver, grant: _Grant | None) -> Any:
        """At the new owner's first commit, or when there can be none any more."""
        if asked.ended is None or asked.outcome == "CANCELLED" or self.life.end is not None:
            return asked.ended is not None
        holdings = self.history.holdings(self.life)
        if grant is None:
            places = len(self.life.operations)
            return holdings.left_out(asked.partition, asked.ended + 1, places)
        is_deleted = asked.partition.topic in self.history.truth.deleted
        if is_deleted and self.has_conversions:  # the next owner may have the one created again
            return NAME_OF_DELETED
        if holdings.held_at(grant.member_id, asked.partition, grant.place).closed is not None:
            return True
        if is_deleted:
            return COMMITS_OF_DELETED
        return self._first_commit(asked.partition, grant) is not None

    def _first_commit(self, partition: Partition, grant: _Grant) -> int | None:
        span = self.history.holdings(self.life).held_at(grant.member_id, partition, grant.place)
        return self.history.first_commit(self.life, span, grant.place)


def _owner(operation: Operation, partition: Partition) -> str | None:
    """The member that has a partition assigned after an operation."""
    wanted = partition
    if operation.protocol != CONSUMER:
        wanted = Partition(None, partition.topic, partition.number)
    owners = (name for name, member in operation.members.items() if wanted in member.assigned)
    return next(owners, None)


def _outcome(asked: HandOver, lasted_ms: int, fallen: bool) -> Any:
    """The topic tells FENCED by the time that the request was open.

    Not of classic members, nor once a new leader armed the timers anew; and who leaves in the very
    moment looks fenced.
    """
    timeout_ms = asked.member.rebalance_timeout_ms
    hides = asked.outcome == "FENCED" and (fallen or asked.member.is_classic)
    is_due = timeout_ms is not None and lasted_ms >= timeout_ms - TIMER_SLACK_MS
    if hides or (asked.outcome == "LEFT_OR_FENCED" and is_due):
        return OneOf(("FENCED", "LEFT_OR_FENCED"))
    return asked.outcome


def _timeout_ms(asked: HandOver, fallen: bool) -> Any:
    """None for classic members, and once a new leader armed the timers anew."""
    if asked.member.is_classic:
        return None
    timeout_ms = asked.member.rebalance_timeout_ms
    return OneOf((None, timeout_ms)) if fallen else timeout_ms


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        protocols = {each.protocol for each in life.operations if each.protocol}
        of_life = _Life(history, life, len(protocols) > 1)
        wanted.update(of_life.row(asked) for asked in hand_overs_of(life))
    return wanted


def _key_of(history: History, row: Row) -> Key:
    of_partition = history.partition_key(history.partition_of(row))
    return row["group_id"], row["member_id"], *of_partition, history.opened_by(row)


CHECK: Final = Check("revocation_latencies", _wanted, _key_of)
