"""What an estimate of one change of hands may be, by the coordinator's memory and by what clients did
(measures.md, What a change of hands costs, Waves).

Where the records alone decide it, it is one number. Else it lies between two: from the last moment
at which the holder may have shown a sign of life, and from the first that may count as its last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from tests.simulator.compare import Key, OneOf, Wanted
from tests.simulator.expected.hand_overs import hand_overs_of
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import generation_before, is_new_generation, named
from tests.simulator.expected.stops import STOPS, Late
from tests.simulator.expected.transitions import is_kept
from tests.simulator.expected.unread import Unread, are_committed, committed_at
from tests.simulator.injected import Injected
from tests.simulator.lives import Life
from tests.simulator.truth import CLASSIC, Member, Operation

COOPERATIVE: Final = "cooperative-sticky"
LEFT: Final = frozenset({"LEAVE_GROUP", "LEAVE_HEARTBEAT", "ADMIN_REMOVAL", "POLL_TIMEOUT"})
EXPIRED: Final = frozenset({"SESSION_EXPIRED"})

SLACK_MS: Final = 250
"""Of each partition: requests on their way, and who is told a moment after the K2 before."""

BEAT_MS: Final = 8_250
"""Between two heartbeats of a client, at most, but where the group's config asks for fewer."""

SLOW_BEAT_MS: Final = 25_000


class Range(NamedTuple):
    """ms. is_stop: what eager members lost while they stopped, which a request log alone shows.
    least_untold: the least where no line and no commit shows when the holder stopped."""

    least: int
    most: int
    least_untold: int
    is_stop: bool = False


class Estimated:
    """Of one life. ends: (group, member, offset of its removal) -> how it ended."""

    def __init__(self, history: History, life: Life, ends: Mapping[Key, Wanted]) -> None:
        self._history, self._life, self._ends = history, life, ends
        self._asked = {
            (each.member_id, each.partition, each.ended): life.operations[each.requested]
            for each in hand_overs_of(life)
            if each.ended is not None
        }
        self._done: dict[str | None, list[Injected]] = defaultdict(list)
        self._beat_ms = BEAT_MS
        self._ran_out: dict[str, list[Injected]] = defaultdict(list)
        self._late = Late(history.truth)
        for event in history.truth.injected:
            if event.what == "ran out":
                self._ran_out[event.detail].append(event)
            if event.group_id == life.group_id:
                self._done[event.member_id].append(event)
                if event.what == "slow heartbeats":
                    self._beat_ms = SLOW_BEAT_MS

    def of(self, charged: Sequence[Unread]) -> list[Range]:
        """Of all that one wave is charged with."""
        found = [(each, self._of(each, charged)) for each in charged]
        # By another of its names, what a topic costs that is gone may be unknown.
        return [
            known._replace(least=0, least_untold=0) if each.is_unmatched else known
            for each, known in found
        ]

    def _of(self, unread: Unread, charged: Sequence[Unread]) -> Range:
        released, granted = unread.released, unread.granted
        who, place = unread.span.member_id, unread.place
        if unread.span.closed != place and not unread.is_back:
            return self._stop(unread, charged)
        asked = self._asked.get((who, unread.span.partition, place))
        before = self._life.operations[place - 1]
        if asked is not None:
            return _exactly(granted.at - asked.at)
        if before.members[who].is_away:
            return _exactly(granted.at - self._away_since(who, place).at)
        if who not in released.members:
            return self._went(unread, before)
        if released.protocol == CLASSIC and is_new_generation(before, released):
            is_gap = released.protocol_name == COOPERATIVE
            return self._gap(unread, before) if is_gap else self._stop(unread, charged)
        return _exactly(granted.at - released.at)

    def _gap(self, unread: Unread, before: Operation) -> Range:
        """Who gives up hears of it by one K2, and the next holder has it by a later one. What one
        generation takes and gives its holder had lost before: its last commit shows that, or when
        it got what it never committed."""
        if unread.released is not unread.granted or before.protocol != CLASSIC:
            goes_on = is_kept(self._life, unread)
            return _exactly(0 if goes_on else unread.granted.at - unread.released.at)
        if not are_committed(self._history, self._life, unread):
            return _exactly(0)
        opened_at = self._life.operations[unread.span.opened].true_at
        last = committed_at(self._history, self._life, unread) or opened_at
        return _exactly(unread.granted.true_at - max(last, opened_at))

    def _away_since(self, member_id: str, place: int) -> Operation:
        operations = self._life.operations
        while operations[place - 1].members[member_id].is_away:
            place -= 1
        return operations[place]

    # ---------------------------------------------------------------- who stays, and stops

    def _stop(self, unread: Unread, charged: Sequence[Unread]) -> Range:
        """Nobody stops before it is told; who was told is told of a generation in the mean."""
        before = generation_before(self._life, unread.released)
        most = unread.granted.true_at - before.true_at
        if unread.released.protocol_name == COOPERATIVE:
            # Who never got what the K2 before gave lists nothing, as eager members do.
            looks_eager = before.protocol == CLASSIC and any(before.answer[:1])
            return Range(0, most + SLACK_MS, 0, is_stop=True) if looks_eager else _exactly(0)
        stopped: dict[str, int] = {}
        for each in charged:
            if each.released is each.granted is unread.released and each.gap is not None:
                since = max(each.gap.since, stopped.get(each.span.member_id, 0))
                stopped[each.span.member_id] = since
        least = max(0, unread.granted.true_at - max(stopped.values())) if stopped else 0
        # The mean is that of all who were told: who read nothing may have been told at the end.
        told = unread.released.members.keys() & before.members.keys() | stopped.keys()
        least = least * len(stopped) // max(1, len(told))
        is_unwritten = unread.released.epoch > before.epoch + 1  # nobody sent its assignment
        heard = [
            self._late.polled_ms(self._life.group_id, who, since) for who, since in stopped.items()
        ]
        if is_unwritten or None in heard:
            least = 0  # who stands still, or in a callback that it began itself, is told late
        return Range(max(0, least - SLACK_MS), most + SLACK_MS, 0, is_stop=True)

    # ---------------------------------------------------------------- who went

    def _went(self, unread: Unread, before: Operation) -> Range:
        """From the last sign of life, which is a line of its end, a heartbeat, or a commit."""
        released, granted = unread.released, unread.granted
        who = unread.span.member_id
        least_untold = granted.true_at - released.true_at
        joined_at = self._since(who, unread.place, lambda member: member is not None)
        events = [each for each in self._done[who] if joined_at <= each.at <= released.true_at]
        done = [each.at for each in events if each.what in STOPS]
        committed = committed_at(self._history, self._life, unread)
        stopped = self._stopped_at(unread)
        signs = [stopped, *done[-1:], *(() if committed is None else (committed,))]
        latest = min(released.true_at, max(signs))
        beaten = min([stopped, *done[-1:]]) - self._beat_ms
        earliest = self._earliest(who, unread, committed, beaten, done, joined_at)
        opened_at = self._life.operations[unread.span.opened].true_at
        latest = max(latest, opened_at)
        ends = self._ends_of(who, released)
        is_told = ends is not None and (ends <= LEFT or ends <= EXPIRED)
        if committed is None and not is_told and not self._is_expired(who, unread):
            latest = released.true_at  # when it was told to join is the first that shows
        if before.members[who].is_classic or before.protocol == CLASSIC:
            told = self._told(who, unread, before)
            waits = self._joined_since(done[-1]) if done and before.protocol == CLASSIC else told
            earliest = min(earliest, told, waits)
            if released.protocol_name != COOPERATIVE:
                # Before that it is among those that stopped; of a generation that nobody wrote
                # nothing is priced, so it counts from the answer that armed its session.
                latest = max(latest, told, *self._unwritten_since(who, unread))
        earliest = max(earliest, opened_at)  # before that another transition has its price
        slack = SLACK_MS + self._clocks_ms
        return Range(
            max(0, granted.true_at - latest - slack),
            granted.true_at - min(earliest, released.true_at) + slack,
            max(0, least_untold - slack),
        )

    def _stopped_at(self, unread: Unread) -> int:
        """When it read last before it was removed: a frozen one that thaws after that reads on until
        it hears of it."""
        released_at = unread.released.true_at
        read = (self._life.group_id, *named(unread.span.partition))
        gaps = (unread.gap, self._history.truth.readers.gap_at(read, released_at))
        return min([released_at, *(each.since for each in gaps if each is not None)])

    def _earliest(
        self,
        who: str,
        unread: Unread,
        committed: int | None,
        beaten: int,
        done: Sequence[int],
        joined_at: int,
    ) -> int:
        """The first moment that may count as its last sign of life."""
        ends = self._ends_of(who, unread.released)
        if ends and ends <= LEFT and done:
            return done[-1]
        if ends and ends <= EXPIRED:
            return max(beaten, joined_at)
        silent = joined_at if committed is None else committed
        if ends is None:
            return min(silent, beaten, *done[-1:])
        return silent

    def _ends_of(self, who: str, released: Operation) -> frozenset[str] | None:
        """How a member may have ended; None where nothing says so."""
        must = self._ends.get((self._life.group_id, who, released.first_offset))
        if must is None or must.left_out or must.values["end_detail"] is None:
            return None
        detail = must.values["end_detail"]
        return frozenset(detail.values if isinstance(detail, OneOf) else (detail,))

    def _told(self, who: str, unread: Unread, before: Operation) -> int:
        """Since when a member may have been told to join again, and did not. True time."""
        if before.protocol == CLASSIC:
            return generation_before(self._life, unread.released).true_at
        epoch = before.members[who].epoch
        return self._since(who, unread.place, lambda each: each is not None and each.epoch == epoch)

    def _is_expired(self, who: str, unread: Unread) -> bool:
        """Whether its session ran out since the K2 before. Who waits then is in the next one."""
        released = unread.released
        since = generation_before(self._life, released).true_at
        timer = f"Timeout(key=heartbeat-{self._life.group_id}-{who})"
        return any(since < each.at <= released.true_at for each in self._ran_out[timer])

    def _unwritten_since(self, who: str, unread: Unread) -> list[int]:
        """Since when the session ran that ended a member, where generations were never written."""
        before = generation_before(self._life, unread.released)
        if unread.released.epoch <= before.epoch + 1:
            return []
        timer = f"Timeout(key=heartbeat-{self._life.group_id}-{who})"
        until = unread.released.true_at
        return [each.armed_at for each in self._ran_out[timer] if each.at <= until]

    def _joined_since(self, true_at: int) -> int:
        """The K2 before a time: what waited for its answer then came later."""
        generations = [
            operation.true_at
            for was, operation in self._life.steps()
            if operation.true_at <= true_at and (was is None or is_new_generation(was, operation))
        ]
        return max(generations, default=true_at)

    def _since(self, who: str, place: int, is_so: Callable[[Member | None], bool]) -> int:
        """True time of the first of the operations before a place from which on it was so."""
        operations = self._life.operations
        while place > 1 and is_so(operations[place - 2].members.get(who)):
            place -= 1
        return operations[place - 1].true_at

    @property
    def _clocks_ms(self) -> int:
        life, truth = self._life, self._history.truth
        return (
            truth.clocks_differ_ms
            if self._history.has_other_leader(life.operations[0], life.end)
            else 0
        )


def _exactly(estimate_ms: int) -> Range:
    estimate_ms = max(0, estimate_ms)
    return Range(estimate_ms, estimate_ms, estimate_ms)
