"""Changes of hands of one life by the coordinator's memory: how long each took, what of it is sure,
and which commits show its end (measures.md, What a change of hands costs)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.simulator.expected.generations import generation_of
from tests.simulator.expected.hand_overs import hand_overs_of
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import Span, generation_before, is_new_generation, named
from tests.simulator.expected.unread import Unread, unread_of
from tests.simulator.lives import Life, is_conversion
from tests.simulator.truth import CLASSIC, CONSUMER, Operation
from tests.simulator.truth_log import CommitKey

HOUR_MS = 3_600_000
COOPERATIVE = "cooperative-sticky"


@dataclass(frozen=True, slots=True)
class Transition:
    """One partition from one holder to the next.

    took_ms: from when it was asked for, left or let go to when it was given; None where a K2 shows
    the release, but of a cooperative group. sync_ms: phase of the generation that gave it, as far
    as it is sure that nobody read meanwhile. low_ms: for how long nobody read it for sure. idle_ms: from the last commit before to the first one
    after, None without both.
    """

    unread: Unread
    took_ms: int | None
    sync_ms: int
    low_ms: int
    idle_ms: int | None


def transitions_of(history: History, life: Life) -> list[Transition]:
    """Those that cost something: not what nobody missed."""
    return history.made_once(_transitions_of, life)


def _transitions_of(history: History, life: Life) -> list[Transition]:
    times = _Times(history, life)
    return [times.transition(each) for each in unread_of(history, life) if times.is_one(each)]


def join_phases_of(history: History, life: Life) -> dict[int, int]:
    """First offset of each operation that told a generation -> when its join phase ended: its joins
    are answered then. Not of generations without one: of nobody, and of a downgrade. A former
    leader may still answer a join with a generation that it never tells: not of its members."""
    found: dict[int, int] = {}
    answers = [
        each
        for each in history.truth.answers.in_order.get(life.group_id, ())
        if each.joined >= 0 and each.code == 0
    ]
    since = _gone_at(history, life)
    for before, operation in life.steps():
        if operation.protocol != CLASSIC or not is_new_generation(before, operation):
            continue
        if operation.members and not is_conversion(before, operation):
            begin = max(since, _elected_at(history, operation))
            leader = _leader_of(history, operation)
            joins = [
                each.at
                for each in answers
                if each.joined == operation.epoch
                if begin <= each.true_at <= operation.true_at
                if each.broker == leader or leader is None
                if each.members & operation.members.keys()
            ]
            if joins:
                found[operation.first_offset] = min(joins)
        since = operation.true_at
    return found


def _gone_at(history: History, life: Life) -> int:
    """When the group was told of last before a life: it may have had the same generations."""
    first = life.operations[0]
    earlier = (each.true_at for each in history.truth.operations[life.group_id])
    return max((at for at in earlier if at < first.true_at), default=0)


def _elected_at(history: History, operation: Operation) -> int:
    """When its leader took the partition over: what the one before had not written is lost."""
    elected = history.truth.elected.get(operation.offsets_partition, ())
    return max((each for each in elected if each <= operation.true_at), default=0)


def _leader_of(history: History, operation: Operation) -> int | None:
    """Id of the broker that was elected last; None where none was. The one before may still answer
    joins."""
    elected = history.made_of_all(_elections).get(operation.offsets_partition, ())
    return next((broker for at, broker in reversed(elected) if at <= operation.true_at), None)


def _elections(history: History) -> Mapping[int, Sequence[tuple[int, int]]]:
    """Offsets partition -> (true time, id of the broker), in order."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for event in history.truth.injected:
        if event.what == "elect":
            found[event.offsets_partition].append((event.at, event.broker))
    return found


def sync_phases_of(history: History, life: Life) -> dict[int, int]:
    """First offset of each operation that told a generation -> how long that was assigned, ms."""
    ended = join_phases_of(history, life)
    return {
        each.first_offset: max(0, each.at - ended[each.first_offset])
        for each in life.operations
        if each.first_offset in ended
    }


def is_eager(before: Operation | None, operation: Operation) -> bool:
    """Whether members that stay stop for a generation, as far as what they listed as owned shows it;
    who never got what the K2 before gave it lists nothing."""
    cooperative = generation_of(before, operation).cooperative
    return not cooperative if cooperative is not None else operation.protocol_name != COOPERATIVE


def is_kept(life: Life, unread: Unread) -> bool:
    """Whether a member of a cooperative group never heard that a generation took a partition, as its
    SyncGroup told it to join again: it lists that as owned then, and the next generation gives it
    back. A static member that did not join said what it lists in an earlier one."""
    granted, who = unread.granted, unread.span.member_id
    member = granted.members.get(who)
    if member is None or who not in unread.released.members or member.said is None:
        return False
    is_again = granted is not unread.released and unread.released.protocol == CLASSIC
    if not is_again or unread.span.partition not in member.assigned:
        return False
    before = generation_before(life, granted).epoch
    has_joined = member.instance_id is None or (member.said.generation or -1) >= before
    return has_joined and named(unread.span.partition) in member.said.owned


class _Times:
    """Of one life."""

    def __init__(self, history: History, life: Life) -> None:
        self._history, self._life = history, life
        phases = sync_phases_of(history, life)
        self._sync_ms = {
            place: phases.get(operation.first_offset, 0)
            for place, (before, operation) in enumerate(life.steps())
            if operation.protocol == CLASSIC and is_new_generation(before, operation)
        }
        self._eager = {place for place, step in enumerate(life.steps()) if is_eager(*step)}
        self._asked = {
            (each.member_id, each.partition, each.ended): life.operations[each.requested]
            for each in hand_overs_of(life)
            if each.ended is not None
        }

    def is_one(self, unread: Unread) -> bool:
        """Members of cooperative groups go on with what they keep."""
        is_kept = unread.place != unread.span.closed
        return not is_kept or unread.is_back or unread.place in self._eager

    def transition(self, unread: Unread) -> Transition:
        given = self._life.operations.index(unread.granted)
        by_k2 = unread.place in self._sync_ms
        is_later = given > unread.place and not is_kept(self._life, unread)
        is_sure = given in self._eager or is_later
        sure_ms = self._sync_ms.get(given, 0) if by_k2 and is_sure else 0
        low_ms = sure_ms
        if CLASSIC not in (unread.released.protocol, unread.granted.protocol):
            since = self._left_at(unread) or unread.released
            low_ms = max(0, unread.granted.at - since.at)
        took_ms, idle_ms = self._took_ms(unread, by_k2), self._idle_ms(unread, given)
        return Transition(unread, took_ms, sure_ms, low_ms, idle_ms)

    def _took_ms(self, unread: Unread, by_k2: bool) -> int | None:
        released, granted, who = unread.released, unread.granted, unread.span.member_id
        if by_k2:
            is_gap = unread.place not in self._eager and who in released.members
            return max(0, granted.at - released.at) if is_gap else None
        if granted.protocol == CLASSIC or released.protocol != CONSUMER:
            return None
        asked = self._asked.get((who, unread.span.partition, unread.place))
        since = asked or self._left_at(unread) or released
        return max(0, granted.at - since.at)

    def _left_at(self, unread: Unread) -> Operation | None:
        """When its holder left for a while, that was away until then: it went, or is back without
        it."""
        operations, who = self._life.operations, unread.span.member_id
        before = operations[unread.place - 1].members.get(who)
        now = unread.released.members.get(who)
        if before is None or not before.is_away:
            return unread.released if now is not None and now.is_away else None
        place = unread.place - 1
        while operations[place - 1].members[who].is_away:
            place -= 1
        return operations[place]

    def _idle_ms(self, unread: Unread, given: int) -> int | None:
        history, life = self._history, self._life
        key = CommitKey(life.group_id, *named(unread.span.partition))
        commit = history.last_commit(life, unread.span.partition, unread.released.first_offset)
        last = None if commit is None else commit.at
        until = self._ended(unread, given)
        before = None if until is None else life.operations[until].first_offset
        first = history.truth.commit_after(key, unread.granted.last_offset, before)
        if last is None or first is None or first < last:
            return None
        is_near = first - unread.granted.at <= HOUR_MS and unread.released.at - last <= HOUR_MS
        return first - last if is_near else None

    def _ended(self, unread: Unread, given: int) -> int | None:
        """Where what the next holder got ends: of an eager generation at the next one too. Who is
        back from a while away has it once more."""
        heir = self._heir(unread, given)
        ends = [] if heir is None or heir.closed is None else [heir.closed]
        if heir is not None:
            returns = self._history.holdings(self._life).returns_in(heir)
            ends += [place for place in returns if place > given][:1]
        if unread.place != unread.span.closed:
            stops = sorted(self._eager & self._sync_ms.keys())
            ends += [place for place in stops if place > given][:1]
        return min(ends, default=None)

    def _heir(self, unread: Unread, given: int) -> Span | None:
        if unread.place != unread.span.closed:
            return unread.span
        return self._history.holdings(self._life).next_after(unread.span)
