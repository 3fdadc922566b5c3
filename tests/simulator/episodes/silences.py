"""NOT_RECONCILING and ASSIGNED_NOT_CONSUMING by the truth alone (measures.md, "Stuck").

Both are told from a floor on (MIN_STALL_MS, MIN_QUIET_MS); the report's thresholds are higher.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from groupreplay.limits import MIN_QUIET_MS, MIN_STALL_MS
from tests.simulator.compare import Key, Wanted
from tests.simulator.lives import Life
from tests.simulator.truth import CONSUMER, UNREVOKED, Member, Operation, Truth
from tests.simulator.truth_log import Commit, CommitKey

NOT_RECONCILING: Final = "NOT_RECONCILING"
NOT_CONSUMING: Final = "ASSIGNED_NOT_CONSUMING"


# ------------------------------------------------------------ silent after a new target


@dataclass(slots=True)
class _Current:
    """A member's last K8. at: its time; led: by which leader; epoch, state: what it says."""

    at: int
    led: int
    epoch: int
    state: str


@dataclass(slots=True)
class _Silence:
    """One life as it unfolds. targets: (epoch, at, led), of K6s in order. led: how many leaders
    there were before the one of now; led_since: its first operation, before which no heartbeat
    could be answered. Times of two leaders are of two clocks, so they are not compared."""

    targets: list[tuple[int, int, int]] = field(default_factory=list)
    currents: dict[str, _Current] = field(default_factory=dict)
    led: int = 0
    led_since: int = 0

    def since(self, member_id: str) -> int | None:
        """Since when a member has not reacted to a newer target than its epoch's."""
        current = self.currents.get(member_id)
        if current is None or current.epoch < 0 or current.state == UNREVOKED:
            return None
        place = bisect_right(self.targets, (current.epoch, 1 << 62, 0))
        if place == len(self.targets):
            return None
        _, at, led = self.targets[place]
        asked = at if led == self.led else self.led_since
        return asked if current.led != self.led else max(current.at, asked)


def silences(truth: Truth, life: Life) -> Iterator[tuple[Key, Wanted]]:
    """From a K6 past a member's epoch until its next K8 or its tombstone; not while it is asked to
    revoke, nor at epoch -2; after a change of leader from that leader's first operation."""
    now = _Silence()
    elected = truth.elected.get(life.offsets_partition, [])
    for before, operation in life.steps():
        if before is not None and _was_elected(elected, before.true_at, operation.true_at):
            now.led, now.led_since = now.led + 1, operation.at
        if operation.protocol == CONSUMER:
            now.targets += [(epoch, operation.at, now.led) for epoch in operation.target_epochs]
        told = [each for each in now.currents if _is_told(operation, each)]
        for member_id in [*told, *(each for each in operation.members if each not in told)]:
            since = now.since(member_id) if member_id in told else None
            if since is not None and operation.at - since >= MIN_STALL_MS:
                yield _episode(life, NOT_RECONCILING, member_id, since, operation)
            _take(now, operation, member_id)
        if operation.protocol != CONSUMER:
            now.targets.clear()
    for member_id in sorted(now.currents):
        if (since := now.since(member_id)) is not None and life.end is None:
            yield _episode(life, NOT_RECONCILING, member_id, since, None)


def _was_elected(elected: list[int], after: int, until: int) -> bool:
    place = bisect_right(elected, after)
    return place < len(elected) and elected[place] <= until


def _is_told(operation: Operation, member_id: str) -> bool:
    """Whether an operation wrote the member's K8, or removed the member."""
    member = operation.members.get(member_id)
    if member is None or operation.protocol != CONSUMER:
        return True
    return operation.has(f"K8 {member_id} ")


def _take(now: _Silence, operation: Operation, member_id: str) -> None:
    member = operation.members.get(member_id)
    if member is None:
        now.currents.pop(member_id, None)
    elif member_id not in now.currents or _is_told(operation, member_id):
        now.currents[member_id] = _Current(operation.at, now.led, member.epoch, member.state)


# ------------------------------------------------------------ owning and not committing


@dataclass(slots=True)
class _Owner:
    """A member that owns partitions. since_at: of its last commit, or of when it began to own.

    committed_offset: of its last commit, -1 without one. held: topic and number of each. One that
    loses all of them begins anew, whatever it gets at the same time: measures.md says no more than
    "loses them". is_seen: whether the log shows since when; else there is no row.
    """

    since_at: int
    committed_offset: int
    held: frozenset[tuple[str, int]]
    is_seen: bool = True


@dataclass(slots=True)
class _Quiet:
    """One life's members that own something. committed: member -> its last commit's time."""

    owners: dict[str, _Owner] = field(default_factory=dict)
    committed: dict[str, int] = field(default_factory=dict)
    changed_offset: int = -1

    def is_quiet(self, member_id: str, until: int, floor_ms: int) -> bool:
        owner = self.owners[member_id]
        others = [at for other, at in self.committed.items() if other != member_id]
        is_long = owner.is_seen and until - owner.since_at >= floor_ms
        return is_long and max(others, default=-1) >= owner.since_at


def quiet_stretches(truth: Truth, life: Life) -> Iterator[tuple[Key, Wanted]]:
    """From a member's last commit, or from when it began to own, until it commits or loses all,
    while another commits. Between two commits it is told only if the group changed in between:
    of the others some are not kept (measures.md, "Commits")."""
    now = _Quiet()
    end = life.end
    for operation, until in _with_next(life):
        yield from _own(now, life, operation)
        for place, commit in _commits(truth, life, operation, until):
            yield from _commit(now, life, operation, place, commit)
    if end is not None:
        return
    for member_id, owner in now.owners.items():
        if not owner.is_seen:
            continue
        since = owner.since_at + MIN_QUIET_MS
        others = [at for other, at in now.committed.items() if other != member_id]
        if max(others, default=-1) >= since and not life.operations[-1].members[member_id].is_away:
            yield _episode(life, NOT_CONSUMING, member_id, owner.since_at, None)


def _with_next(life: Life) -> Iterator[tuple[Operation, int | None]]:
    """(operation, first offset of the group's next one)."""
    after = [each.first_offset for each in life.operations[1:]]
    last = life.converted_by.first_offset if life.converted_by is not None else None
    yield from zip(life.operations, [*after, last], strict=True)


def _own(now: _Quiet, life: Life, operation: Operation) -> Iterator[tuple[Key, Wanted]]:
    for member_id in list(now.owners):
        member, owner = operation.members.get(member_id), now.owners[member_id]
        if member is None or not _places(member) & owner.held:
            if now.is_quiet(member_id, operation.at, MIN_QUIET_MS):
                yield _episode(life, NOT_CONSUMING, member_id, owner.since_at, operation)
            del now.owners[member_id]
    for member_id, member in operation.members.items():
        if member.held and member_id not in now.owners:
            held = _places(member)
            is_seen = life.is_seen_to_begin(operation)
            now.owners[member_id] = _Owner(operation.at, -1, held, is_seen)
        elif member.held:
            now.owners[member_id].held = _places(member)
    now.changed_offset = operation.last_offset


def _places(member: Member) -> frozenset[tuple[str, int]]:
    return frozenset((each.topic, each.number) for each in member.held)


def _commits(
    truth: Truth, life: Life, operation: Operation, until: int | None
) -> list[tuple[tuple[str, int], Commit]]:
    """Commits of what members hold between an operation and the next, in order."""
    found = []
    for key in {place for member in operation.members.values() for place in _places(member)}:
        commits = truth.commits.get(CommitKey(life.group_id, *key), [])
        first = bisect_left(commits, operation.last_offset + 1, key=lambda each: each.offset)
        for commit in commits[first:]:
            if until is not None and commit.offset >= until:
                break
            found.append((key, commit))
    return sorted(found, key=lambda each: each[1].offset)


def _commit(
    now: _Quiet, life: Life, operation: Operation, place: tuple[str, int], commit: Commit
) -> Iterator[tuple[Key, Wanted]]:
    for member_id, member in operation.members.items():
        if place not in _places(member):
            continue
        owner = now.owners[member_id]
        is_exact = owner.committed_offset < now.changed_offset
        if is_exact and now.is_quiet(member_id, commit.at, MIN_QUIET_MS):
            yield _episode(life, NOT_CONSUMING, member_id, owner.since_at, None, commit)
        now.owners[member_id] = _Owner(commit.at, commit.offset, owner.held)
        now.committed[member_id] = commit.at


# ------------------------------------------------------------ rows


def _episode(
    life: Life,
    reason: str,
    member_id: str,
    since_at: int,
    closed: Operation | None,
    commit: Commit | None = None,
) -> tuple[Key, Wanted]:
    """closed, commit: what ended it; neither while it lasts."""
    until = closed.at if closed is not None else commit.at if commit is not None else None
    values: Mapping[str, object] = {"until_at": until, "start_observed": True}
    near = closed.first_offset if closed is not None else commit.offset if commit else 1 << 62
    return (life.group_id, reason, member_id, since_at), Wanted(values, (near,))
