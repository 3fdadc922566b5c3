"""For how long processes of a wave were gone, by what brokers answered them and by their commits
(measures.md, What if, Absences)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tests.simulator.expected.absences import HOUR_MS, granted
from tests.simulator.expected.comings import AWAY, GONE, JOINED, REPLACED, Coming
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import named
from tests.simulator.expected.rejoins import WRITTEN_LATE_MS
from tests.simulator.expected.spread import Spread, exactly
from tests.simulator.expected.told import Told
from tests.simulator.expected.wave_steps import Gap
from tests.simulator.expected.waves import Chain, Event
from tests.simulator.truth import Member
from tests.simulator.truth_log import CommitKey

BY_LEAVE: Final = frozenset({"LEAVE_GROUP", "LEAVE_HEARTBEAT", "ADMIN_REMOVAL", "POLL_TIMEOUT"})
HEARTBEATS: Final = ("HEARTBEAT", "CONSUMER_GROUP_HEARTBEAT")
NO_COORDINATOR: Final = (14, 15, 16)
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
BY_SESSION: Final = frozenset({"SESSION_EXPIRED"})


class Gaps:
    """Of one chain. told: when members were told to join again. ends: of its departures, how each
    may have ended."""

    def __init__(
        self,
        history: History,
        chain: Chain,
        told: Told,
        ends: Sequence[frozenset[str]],
        classic_beat_ms: int,
    ) -> None:
        self._history, self._told, self._beat_ms = history, told, classic_beat_ms
        self._events, self._ends = chain.events, ends
        self._processes = processes_of(chain)
        self._left: dict[int, int] = {}
        self._back: dict[int, int] = {}
        self._away: dict[int, int] = {}
        self._follow()

    def _follow(self) -> None:
        """Who left for a while, who went and who came back."""
        away, gone = dict[str, int](), dict[str, int]()
        for place, event in enumerate(self._events):
            process, kind = self._processes[place], event.coming.kind
            if kind == AWAY:
                away[process] = place
            elif kind == JOINED:
                left = gone.pop(process, None)
                if left is not None:
                    self._left[place], self._back[left] = left, place
            else:
                if process in away:
                    self._away[place] = event.at - self._events[away.pop(process)].at
                if kind == GONE:
                    gone[process] = place

    def of(self, place: int) -> Gap | None:
        """None of who is not back, and where nothing shows when it went."""
        event, kind = self._events[place], self._events[place].coming.kind
        if kind == REPLACED:
            known = self._away.get(place)
            return self._of_replaced(event) if known is None else Gap(*[exactly(known)] * 3)
        left = place if kind == GONE else self._left.get(place)
        back = None if left is None else self._back.get(left)
        if kind == AWAY or left is None or back is None:
            return None
        back_ms = self._events[back].at - self._events[left].at
        if left in self._away:
            return Gap(*[exactly(self._away[left] + back_ms)] * 3)
        silent = self._silent(left)
        if silent is None:
            return None
        mid = silent.plus(exactly(back_ms))
        return Gap(exactly(back_ms), mid, mid)

    # ------------------------------------------------------------ its last sign of life

    def _silent(self, place: int) -> Spread | None:
        """From when a member that was removed had stopped, to its removal."""
        event, ends = self._events[place], self._ends[place]
        heard, committed_at = self._heard(event), self._committed_at(event)
        signs: list[Spread | None] = []
        if not ends or ends & BY_LEAVE:
            signs.append(self._leave(event))
        if not ends or ends & BY_SESSION:
            signs.append(heard)
        if not ends or ends - BY_LEAVE - BY_SESSION:
            signs.append(None if committed_at is None else exactly(committed_at))
        known = [each for each in signs if each is not None]
        never = self._told.never_joined[event.life.group_id, event.coming.member_id]
        told = [at for at in never if event.at - HOUR_MS <= at <= event.at]
        if not known and not told:
            return None
        stopped = [Spread(max(told), max(told))] if told and not known else known
        least, most = min(each.least for each in stopped), max(each.most for each in stopped)
        if told:
            least, most = min(least, *told), min(most, max(told))
        return self._before(event, Spread(least, most))

    def _before(self, event: Event, sign: Spread) -> Spread:
        """From a sign of life to an event, which another broker's clock may have told."""
        slack = 0
        truth, operation = self._history.truth, event.coming.operation
        since = operation.true_at - HOUR_MS
        if self._history.is_elected_between(operation.offsets_partition, since, operation.true_at):
            slack = truth.clocks_differ_ms
        return Spread(event.at - sign.most - slack, event.at - sign.least + slack).at_least(0)

    def _leave(self, event: Event) -> Spread | None:
        who, member = event.coming.member_id, event.coming.member
        left = [
            each
            for each in self._history.truth.answers.of_groups.get(event.life.group_id, ())
            if each.kind == "leave"
            and event.at - HOUR_MS <= each.received_at <= event.at + WRITTEN_LATE_MS
            and (each.about == who or (member.instance_id or "") == each.instance_id)
        ]
        if not left:
            return Spread(event.at - HOUR_MS, event.at)
        last = left[-1]
        return Spread(last.received_at - WRITTEN_LATE_MS, min(last.at, event.at))

    def _heard(self, event: Event) -> Spread | None:
        """Its last request that was granted: when it came, or was answered; or its last heartbeat
        since then that found no coordinator. Which that was one after the removal may hide."""
        found = self._granted(event)
        if found is None:
            return None
        came, answered = found
        asked = [
            each.at
            for each in self._history.truth.answers.of_groups.get(event.life.group_id, ())
            if each.about == event.coming.member_id
            and each.api in HEARTBEATS
            and each.code in NO_COORDINATOR
            and each.at >= came.least
        ]
        before = max((at for at in asked if at <= event.at), default=came.least)
        is_sure = all(at <= event.at for at in asked)
        return Spread(before if is_sure else came.least, max(before, answered.most))

    def _granted(self, event: Event) -> tuple[Spread, Spread] | None:
        """When it was alive for sure, and when it was answered last."""
        who, operation = event.coming.member_id, event.coming.operation
        answers = self._history.truth.answers.of_groups.get(event.life.group_id, ())
        asked = [
            each
            for each in granted([each for each in answers if each.about == who])
            if each.came_true_at <= operation.true_at and each.at <= event.at + WRITTEN_LATE_MS
        ]
        if not asked:
            return None
        answered = max(each.at for each in asked)
        is_classic = event.coming.member.is_classic
        came = max(
            each.received_at if each.kind != "heartbeat" and is_classic else each.at
            for each in asked
        )
        committed_at = self._committed_at(event)
        alive = min(answered, max(came, committed_at or came))
        return Spread(alive - WRITTEN_LATE_MS, alive), exactly(answered)

    def _committed_at(self, event: Event) -> int | None:
        """Its last commit of a partition while it had it."""
        history, life, coming = self._history, event.life, event.coming
        found = []
        before = coming.operation.first_offset
        for span in history.holdings(life).spans:
            opened = life.operations[span.opened]
            if span.member_id != coming.member_id or opened.first_offset >= before:
                continue
            closed = before if span.closed is None else life.operations[span.closed].first_offset
            key = CommitKey(life.group_id, *named(span.partition))
            last = history.truth.last_commit_before(
                key, min(before, closed), since=opened.first_offset
            )
            if last is not None:
                found.append(last.at)
        return max(found, default=None)

    def _of_replaced(self, event: Event) -> Gap | None:
        """Its session had not ended."""
        committed_at, found = self._committed_at(event), self._granted(event)
        uncommitted = None if committed_at is None else max(0, event.at - committed_at)
        if found is None:
            if uncommitted is None:
                return None
            said = event.coming.member.said
            session = uncommitted if said is None else said.session_timeout_ms
            longest = exactly(min(uncommitted, session))
            return Gap(exactly(0), longest, longest)
        unheard, absent = self._before(event, found[1]), self._before(event, found[0])
        low = Spread(unheard.least - self._beat_ms, unheard.most - self._beat_ms).at_least(0)
        mid = Spread(max(unheard.least, absent.least), max(unheard.most, absent.most))
        high = mid.at_least(uncommitted or 0)
        return Gap(low, mid, high)


# ---------------------------------------------------------------- processes


def processes_of(chain: Chain) -> list[str]:
    """Of each event which process it is of: its instance, its client id and host where no other
    live member had both, or its member id. A member that was one of these is so throughout."""
    of_member, of_name = dict[str, str](), dict[str, str]()
    found = []
    for event in chain.events:
        coming = event.coming
        name = _name(coming)
        process = of_member.get(coming.member_id) or of_name.get(name) or name
        of_member[coming.member_id] = of_name[name] = process
        if coming.heir is not None:
            of_member[coming.heir] = process
        found.append(process)
    return found


def _name(coming: Coming) -> str:
    member = coming.member
    if member.instance_id is not None:
        return f"instance {member.instance_id}"
    there = coming.operation.members
    if coming.kind == GONE and coming.before is not None:
        there = coming.before.members
    if member.client_id is not None and _is_alone(member, there.values()):
        return f"client {member.client_id} {member.host}"
    return f"member {coming.member_id}"


def _is_alone(member: Member, there: Iterable[Member]) -> bool:
    return sum(each.client == member.client for each in there) == 1
