"""Changes of hands of one life, and for how long nobody read the partition in truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tests.simulator.compare import Bound, Untold
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import Named, Span, is_new_generation, named, same
from tests.simulator.lives import Life, is_conversion
from tests.simulator.readers import Gap
from tests.simulator.truth import CLASSIC, CONSUMER, Operation, Partition
from tests.simulator.truth_log import Commit, CommitKey


@dataclass(frozen=True, slots=True)
class Unread:
    """One partition from one holder to the next, or kept by a member that an eager generation
    stopped, or that had left for a while and is back under its own id (is_back). place: of the
    operation in which it was let go; given: in which its holder got it; lost: in which the next
    holder lost it, None where it did not.

    gap: while nobody read it; None where somebody did when the next holder had it. seen_from: of
    the gap, from when it shows at most: a client that commits in its callback reads no more.
    is_unmatched: the next holder has it by the other of its topic's name and id, and the topic was
        deleted since: it may be that of a topic created again, and which id a name had may be unknown.
    """

    span: Span
    place: int
    given: Operation
    released: Operation
    granted: Operation
    gap: Gap | None
    seen_from: int
    lost: Operation | None = None
    is_back: bool = False
    is_unmatched: bool = False


def unread_of(history: History, life: Life) -> list[Unread]:
    """Of a life, in no order. What was let go and got while nobody was a member is none."""
    return history.made_once(_unread_of, life)


def _unread_of(history: History, life: Life) -> list[Unread]:
    operations, holdings, found = life.operations, history.holdings(life), []
    for span, released, granted, lost in _changes(history, life):
        if all(each.members for each in operations[released : granted + 1]):
            unread = _unread(history, life, span, released, granted)
            until = None if lost is None else operations[lost]
            is_back = released in holdings.returns_in(span)
            found.append(replace(unread, lost=until, is_back=is_back))
    return found


def _changes(history: History, life: Life) -> Iterator[tuple[Span, int, int, int | None]]:
    """Spans, and places: where it is let go, where it is had again, and where that ends."""
    operations, holdings = life.operations, history.holdings(life)
    generations = [
        place
        for place, (before, operation) in enumerate(life.steps())
        if operation.protocol == CLASSIC
        and before is not None
        and before.protocol == CLASSIC
        and is_new_generation(before, operation)
    ]
    for span in holdings.spans:
        heir = holdings.next_after(span)
        if heir is not None and span.closed is not None:
            yield span, span.closed, heir.opened, heir.closed
        closed = len(operations) if span.closed is None else span.closed
        for place in generations:
            if span.opened < place < closed:
                yield span, place, place, span.closed
        for place in holdings.returns_in(span):
            yield span, place, place, span.closed


def _unread(history: History, life: Life, span: Span, released: int, granted: int) -> Unread:
    operations, truth = life.operations, history.truth
    topic, number = named(span.partition)
    gap = truth.readers.gap_at((life.group_id, topic, number), operations[granted].true_at)
    release, grant = operations[released], operations[granted]
    seen_from = 0 if gap is None else gap.since
    last = truth.commit_before(CommitKey(life.group_id, topic, number), release.first_offset)
    if last is not None:
        seen_from = max(seen_from, last - release.at + release.true_at)
    unread = Unread(span, released, operations[span.opened], release, grant, gap, seen_from)
    return replace(unread, is_unmatched=_is_unmatched(history, unread))


def _is_unmatched(history: History, unread: Unread) -> bool:
    """Over a conversion: a classic group names the topic, a consumer group its id."""
    given, granted = unread.given, unread.granted
    deleted = history.truth.deleted.get(unread.span.partition.topic, ())
    is_converted = given.protocol != granted.protocol
    return is_converted and any(at > given.true_at for at, _ in deleted)


def committed_at(history: History, life: Life, unread: Unread) -> int | None:
    """True time of the last commit of its holder, of any partition that it let go in the same
    operation: what a holder before committed is no sign of its life."""
    found, released = [], unread.released
    for span in _let_go(history, life, unread):
        commit = _last_commit(history, life, span, released)
        if commit is not None and commit.offset > life.operations[span.opened].first_offset:
            found.append(commit.at)
    at = max(found, default=None)
    return None if at is None else at - released.at + released.true_at


def _last_commit(history: History, life: Life, span: Span, released: Operation) -> Commit | None:
    """Before a release. Once the topic is deleted, who commits its name has that of its successor."""
    before, (topic, number) = released.first_offset, named(span.partition)
    deleted = history.truth.deleted.get(topic, ())
    for at in (at for at, topic_id in deleted if topic_id == span.partition.topic_id):
        commits = history.truth.commits.get(CommitKey(life.group_id, topic, number), ())
        later = [each.offset for each in commits if each.at > at]
        before = min([before, *later[:1]])
    return history.last_commit(life, span.partition, before)


def are_committed(history: History, life: Life, unread: Unread) -> bool:
    """Whether anybody had committed any of these."""
    released = unread.released
    return any(
        history.last_commit(life, span.partition, released.first_offset) is not None
        for span in _let_go(history, life, unread)
    )


def _let_go(history: History, life: Life, unread: Unread) -> Iterator[Span]:
    """What its holder let go in the same operation."""
    for span in history.holdings(life).spans:
        if span.member_id == unread.span.member_id and span.closed == unread.place:
            yield span


CONTESTED: Final = Untold("who reads what a leader's assignor gave to two members")
REMOVED: Final = Untold("a member that an administrator removed reads until it hears of it")
NOT_AGAIN: Final = Untold("partitions that nobody read again")


def bounds_of_day(history: History, life: Life, unread: Sequence[Unread]) -> dict[str, Any]:
    """Of low_ms and high_ms of a life that one day holds. low: not above the time in which nobody
    read what was held in it, while it had members."""
    if is_contested(history, life):
        return {"low_ms": CONTESTED, "high_ms": CONTESTED}
    slack = _slack_ms(history, life, unread)
    partitions = {named(span.partition) for span in history.holdings(life).spans}
    occupied = list(_occupied(history, life))
    readers = history.truth.readers
    missed = sum(
        readers.unread_ms((life.group_id, *partition), *span)
        for partition in partitions
        for span in occupied
    )
    low = REMOVED if is_admin(history, life.group_id) else Bound(missed, is_lower=True, slack=slack)
    asked_for = [each for each in unread if not _is_unwanted(life, each)]
    return {"low_ms": low, "high_ms": _high(asked_for, slack)}


def _is_unwanted(life: Life, unread: Unread) -> bool:
    """Whether a group asked nobody to read a partition for a while: all gave up its topic. A day
    does not count it."""
    until = life.operations.index(unread.granted)
    return any(
        each.protocol == CONSUMER
        and each.target_epoch == each.epoch
        and not any(
            same(target, unread.span.partition)
            for member in each.members.values()
            for target in member.target
        )
        for each in life.operations[unread.place : until]
    )


def bounds_of_wave(
    history: History, lives: Sequence[Life], unread: Sequence[Unread], charged: Sequence[Unread]
) -> dict[str, Any]:
    """Of low_ms and high_ms of a wave. unread: what was let go before the next wave; charged: of
    it what the wave is charged with, of all that it may be.

    What a member reads on after it was removed counts as not read (measures.md): a frozen one that
    thaws does not know yet.
    """
    if any(is_contested(history, life) for life in lives):
        return {"low_ms": CONTESTED, "high_ms": CONTESTED}
    slack = max(_slack_ms(history, life, unread) for life in lives)
    since: dict[tuple[Partition, Gap], int] = {}
    for each in unread:
        if each.gap is not None:
            key = (each.span.partition, each.gap)
            since[key] = min(since.get(key, each.gap.since), each.released.true_at)
    low: Any = NOT_AGAIN
    if all(gap.until is not None for _, gap in since):
        missed = sum((gap.until or 0) - begun for (_, gap), begun in since.items())
        missed += _never_read_ms(history, unread)
        low = Bound(missed, is_lower=True, slack=slack)
    return {
        "low_ms": REMOVED if is_admin(history, lives[0].group_id) else low,
        "high_ms": _high(charged, slack),
    }


def _never_read_ms(history: History, unread: Sequence[Unread]) -> int:
    """For how long nobody read what nobody had read before, from when it was given to a member until
    the next one had it. A generation can be over before its members have what its K2 gives them: who
    joins while that K2 is written has their SyncGroup answered with REBALANCE_IN_PROGRESS
    (GroupMetadataManager.prepareRebalance).
    """
    times: dict[Named, tuple[int, int]] = {}
    for each in unread:
        partition, granted_at = named(each.span.partition), each.granted.true_at
        read = (each.granted.group_id, *partition)
        if not history.truth.readers.has_read(read, granted_at):
            since, until = times.get(partition, (each.given.true_at, 0))
            times[partition] = min(since, each.given.true_at), max(until, granted_at)
    return sum(until - since for since, until in times.values())


def _slack_ms(history: History, life: Life, unread: Sequence[Unread]) -> int:
    """By how much clocks of two leaders can be between the ends of each."""
    has_two = history.has_other_leader(life.operations[0], life.end)
    return history.truth.clocks_differ_ms * len(unread) if has_two else 0


def _high(unread: Sequence[Unread], slack: int) -> Any:
    seen: dict[tuple[Partition, Gap], int] = {}
    for each in unread:
        if each.gap is not None and _stops(each):
            key = (each.span.partition, each.gap)
            seen[key] = max(seen.get(key, 0), each.seen_from)
    if any(gap.until is None for _, gap in seen):
        return NOT_AGAIN
    times = (max(0, (gap.until or 0) - since) for (_, gap), since in seen.items())
    return Bound(sum(times), is_lower=False, slack=slack)


def _occupied(history: History, life: Life) -> Iterator[tuple[int, int]]:
    """While it had members, by true times."""
    since: int | None = None
    for operation in life.operations:
        if since is None and operation.members:
            since = operation.true_at
        elif since is not None and not operation.members:
            yield since, operation.true_at
            since = None
    if since is not None:
        end = life.end
        yield since, history.truth.ended_at if end is None else end.true_at


def is_admin(history: History, group_id: str) -> bool:
    """Whether an administrator removed members of a group."""
    return any(
        each.what == "admin removal" and each.group_id == group_id
        for each in history.truth.injected
    )


def _stops(each: Unread) -> bool:
    """Whether the records show that it stopped: members of cooperative groups go on."""
    if each.gap is None or each.is_unmatched:
        return False
    return each.is_back or each.released is not each.granted or each.gap.was_eager


def is_contested(history: History, life: Life) -> bool:
    """Whether two had a partition at once, so that who read it is not told."""
    holdings = history.holdings(life)
    return any(holdings.is_contested(span.partition) for span in holdings.spans)


def is_unsure(history: History, life: Life) -> bool:
    """Whether an estimate of the life says nothing of how far estimates are off: other clocks, and
    commits that count later, make it so."""
    return (
        any(is_conversion(*step) for step in life.steps())
        or is_contested(history, life)
        or history.has_other_leader(life.operations[0], life.end)
        or life.group_id in history.truth.transactional
    )
