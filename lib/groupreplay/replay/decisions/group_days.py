"""Rows of `group_days`: what one life of a group came to on each day, added up as the log is read.

Between two operations nothing of a group changes, so every rate counts from one to the next; a
stretch that a hole lies in counts as unobserved. Commits change no rate: they only close
transitions. A day is final at the first operation SETTLE_MS past its end, when nothing that began
in it waits any more. What a later commit shows of it counts for the next day, so that a day is the
same wherever the log is cut. Source of the rules: docs/measures.md, Days of groups.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

from groupreplay.limits import DAY_MS
from groupreplay.records.consumer import STATIC_LEAVE_EPOCH
from groupreplay.replay.change import Change, is_hidden
from groupreplay.replay.decision_facts import GroupDay
from groupreplay.replay.decisions.bounds import SETTLE_MS, tell_high
from groupreplay.replay.decisions.calendar import Calendar, day_of
from groupreplay.replay.decisions.hand_over_times import add_time, tell_percentiles
from groupreplay.replay.decisions.missed_units import (
    AwayPartitions,
    MissedUnits,
    away_partitions,
    wanted,
)
from groupreplay.replay.decisions.transitions import Listener, waiting
from groupreplay.replay.facts import Epoch
from groupreplay.replay.kept.transition import GAP, Transition
from groupreplay.replay.life import CLASSIC, CONSUMER, STREAMS, Life
from groupreplay.replay.output import Output

MAX_SILENCE_MS = 400 * DAY_MS
"""Two operations further apart are no stretch of time but a clock that was wrong."""

EMPTY, MIXED = "EMPTY", "MIXED"

_FOLLOWED = frozenset({CLASSIC, CONSUMER, STREAMS})
_OF_PARTITIONS = frozenset({CLASSIC, CONSUMER})


class GroupDays(Listener):
    """The days of one life."""

    def __init__(self, life: Life, output: Output, missed: MissedUnits) -> None:
        self._life = life
        self._output = output
        self._missed = missed
        self._away = AwayPartitions(life)
        self._calendar = Calendar(life, life.days)

    # ------------------------------------------------------------ the clock

    def advance(self, at: int, last_hole: int) -> bool:
        """Before an operation: the group was until now as the one before left it. True where a day
        is settled: transitions are to expire, and then it is told (`tell_settled`).

        last_hole: greatest offset that is missing before it.
        """
        life, begin = self._life, self._life.days_clock
        if begin < 0 or at <= begin:
            if begin - at > SETTLE_MS:
                life.days_clock = at  # the clock of another leader was far ahead
            return False
        if at - begin <= MAX_SILENCE_MS:
            self._pass(self._calendar, begin, at, last_hole)
        life.days_clock = at
        return bool(life.days) and _is_settled(life.days[0], at)

    def _pass(self, calendar: Calendar, begin: int, end: int, last_hole: int) -> None:
        """Adds what held from one time to another, day by day."""
        is_behind = last_hole > self._life.last_change_offset
        while True:
            day, until = calendar.day(begin), (begin // DAY_MS + 1) * DAY_MS
            passed = min(end, until) - begin
            if is_behind:
                day.unobserved_ms += passed
            else:
                self._add(day, passed)
            day.to_at = max(day.to_at, min(end, until))
            if end < until:
                return
            begin = until

    def _add(self, day: GroupDay, ms: int) -> None:
        """Adds so long a time to a day, at the rates of the group as it stands (`rates_of`).
        Written out, because every operation comes here.
        """
        life = self._life
        members, protocol = len(life.members), life.protocol
        if members > day.members_max:
            day.members_max = members
        day.members_ms += members * ms
        if protocol in _OF_PARTITIONS:
            partitions = len(life.holders)
            if life.unowned and (unowned := self._missed.wanted()):
                partitions += unowned
                day.unowned_ms += unowned * ms
            if life.away:
                day.away_ms += self._away.count() * ms
            day.partitions_ms += partitions * ms
        if is_rebalancing(life):
            day.rebalancing_ms += ms
        if not members:
            day.empty_ms += ms
        elif protocol == CLASSIC:
            day.classic_ms += ms
        elif protocol == CONSUMER:
            if life.classic_members:
                day.mixed_ms += ms
            else:
                day.consumer_ms += ms

    def tell_settled(self, at: int) -> None:
        """Days that nothing can change any more are final."""
        days = self._life.days
        while days and _is_settled(days[0], at):
            self._tell(days.pop(0))

    def _tell(self, day: GroupDay) -> None:
        self._life.days_told = max(self._life.days_told, day.day)
        tell_percentiles(day)
        self._output.emit(day)

    def end(self) -> None:
        """The life ends: every day of it is final."""
        for day in self._life.days:
            self._tell(day)
        self._life.days.clear()

    # ------------------------------------------------------------ an operation

    def note(self, change: Change, opened: Sequence[Epoch]) -> None:
        """At an operation's end: what happened in it counts for its day.

        opened: the epochs that it began.
        """
        life = self._life
        if life.protocol not in _FOLLOWED:
            return
        day = self._today(change.at)
        for row in opened:
            if row.start_observed:
                day.epochs_begun += 1
                _add_cause(day, row.cause)
        if not change.group_ends:
            day.members_max = max(day.members_max, len(life.members))
            self._note_members(day, change)
        generation = change.generation
        if generation is not None and generation.sync_phase_ms:
            begin = change.at - generation.sync_phase_ms
            self._calendar.spread("rebalancing_ms", begin, change.at)

    def _note_members(self, day: GroupDay, change: Change) -> None:
        """Who came, went, came back under another id, and left for a while."""
        life, replaced, away = self._life, change.replaced, self._life.away
        heirs = change.heirs()
        day.replaced += len(heirs)
        for member_id, before in change.before.items():
            if member_id in change.removed:
                is_seen = before.existed and not is_hidden(change, member_id)
                day.departures += is_seen and member_id not in replaced
                away.discard(member_id)
                continue
            member = life.members[member_id]
            if member.epoch == STATIC_LEAVE_EPOCH:
                day.away += before.epoch != STATIC_LEAVE_EPOCH
                away.add(member_id)
            elif away:
                away.discard(member_id)
            if not before.existed and member.join_observed and member_id not in heirs:
                day.joins += 1
        for member_id in change.before:
            self._away.note(member_id)
        if change.converts:
            self._away.forget()

    def note_cycle(self, at: int) -> None:
        """A member that had been removed is back."""
        if self._life.protocol in _FOLLOWED:
            self._today(at).cycles += 1

    def _begin(self, at: int) -> None:
        """Days are counted from the first operation on."""
        if self._life.days_clock < 0:
            self._life.days_clock, self._life.days_told = at, day_of(at) - 1

    def _today(self, at: int) -> GroupDay:
        self._begin(at)
        return self._calendar.day(self._life.days_clock)

    # ------------------------------------------------------------ transitions

    def granted(self, transition: Transition) -> None:
        granted_at = transition.granted_at or 0
        self._begin(granted_at)
        day = self._calendar.day(granted_at)
        if transition.is_hidden:
            day.transitions_hidden += 1
            return
        day.moved += transition.is_move
        day.returned += transition.is_return
        if not transition.is_costed:
            return
        if transition.by_k2 and transition.low_ms:
            begin = granted_at - transition.low_ms
            self._calendar.spread("sync_ms", begin, granted_at)
        if transition.kind == GAP or not (transition.by_k2 or self._life.protocol == CLASSIC):
            add_time(day, max(0, granted_at - transition.waited_since))

    def lost(self, transition: Transition) -> None:
        if transition.is_costed:
            self._begin(transition.released_at)
            self._calendar.day(transition.released_at).high_unknown += 1

    def closed(self, transition: Transition) -> None:
        if transition.is_costed:
            at = transition.first_commit_at
            _add_closed(self._calendar, transition, self._life.days_clock if at is None else at)

    # ------------------------------------------------------------ as it stands

    def open_days(self) -> list[GroupDay]:
        """The open days as they stand, as if nothing that waits for a commit got one. Changes
        nothing.
        """
        life = self._life
        days = [_copied(day) for day in life.days]
        calendar = Calendar(life, days)
        for transition in waiting(life):
            unread = copy.copy(transition)
            tell_high(unread)
            _add_closed(calendar, unread, (unread.granted_at or 0) + SETTLE_MS)
        if not days:
            return days
        clock, newest = life.days_clock, days[-1]
        if newest.day == day_of(clock) + 1:
            # A commit past midnight closed a transition: until that day all was as it stands.
            self._pass(calendar, clock, newest.day * DAY_MS, life.last_hole)
        elif newest.day != day_of(clock):
            newest = calendar.day(clock)
        self._tell_rates(newest)
        for day in days:
            tell_percentiles(day)
        return days

    def _tell_rates(self, day: GroupDay) -> None:
        life, rates = self._life, rates_of(self._life)
        day.rate_members, day.rate_partitions = rates.members, rates.partitions
        day.rate_unowned, day.rate_away = rates.unowned, rates.away
        day.rate_offset = max(life.last_change_offset, life.incarnation)
        day.is_rebalancing, day.mode = rates.is_rebalancing, rates.mode
        day.is_watched = life.last_hole <= life.last_change_offset


class Rates(NamedTuple):
    """By how much the sums of a group grow each ms while nothing happens, and which state it is
    in.
    """

    members: int
    partitions: int
    unowned: int
    away: int
    is_rebalancing: bool
    mode: str | None


def rates_of(life: Life) -> Rates:
    """Rates of a group as it stands."""
    unowned = away = partitions = 0
    if life.protocol in _OF_PARTITIONS:
        unowned = wanted(life) if life.unowned else 0
        away = away_partitions(life) if life.away else 0
        partitions = len(life.holders) + unowned
    return Rates(len(life.members), partitions, unowned, away, is_rebalancing(life), mode_of(life))


def mode_of(life: Life) -> str | None:
    """Which state a group is in; None of a streams group with members."""
    if not life.members:
        return EMPTY
    if life.protocol == CONSUMER and life.classic_members:
        return MIXED
    return life.protocol if life.protocol in _OF_PARTITIONS else None


def is_rebalancing(life: Life) -> bool:
    """Whether an epoch is open that not all members have reached. A K2 shows a generation that they
    have reached already.
    """
    row = life.epoch_row
    return (
        row is not None
        and row.outcome == "OPEN"
        and bool(life.members)
        and life.protocol != CLASSIC
    )


def _add_cause(day: GroupDay, cause: str) -> None:
    if cause not in day.causes:
        day.causes.append(cause)
        day.cause_counts.append(0)
    day.cause_counts[day.causes.index(cause)] += 1


def _add_closed(calendar: Calendar, transition: Transition, closed_at: int) -> None:
    """By how much a partition may have stood still for longer than is sure: before and after. What
    lies in a day that had settled when that was known counts for the next.

    closed_at: when it was closed; what waits in vain is closed SETTLE_MS after its grant.
    """
    granted_at, low_ms = transition.granted_at or 0, transition.low_ms or 0
    longer_ms = (transition.high_ms or 0) - low_ms
    if not transition.is_high_known:
        calendar.day(granted_at).high_unknown += 1
    if longer_ms <= 0:
        return
    is_by_commits = transition.high_ms == transition.idle_ms
    high_begin = transition.last_commit_at if is_by_commits else None
    if high_begin is None:
        high_begin = granted_at - (transition.high_ms or 0)
    low_begin = granted_at - low_ms
    before_ms = min(longer_ms, max(0, low_begin - high_begin))
    open_day = day_of(min(closed_at, granted_at + SETTLE_MS) - SETTLE_MS)
    for begin, end in (
        (low_begin - before_ms, low_begin),
        (granted_at, granted_at + longer_ms - before_ms),
    ):
        calendar.spread("longer_ms", begin, end, open_day)


def _copied(day: GroupDay) -> GroupDay:
    copied = copy.copy(day)
    copied.handover_upper_ms = list(day.handover_upper_ms)
    copied.handover_counts = list(day.handover_counts)
    copied.causes, copied.cause_counts = list(day.causes), list(day.cause_counts)
    return copied


def _is_settled(day: GroupDay, at: int) -> bool:
    return at >= (day.day + 1) * DAY_MS + SETTLE_MS
