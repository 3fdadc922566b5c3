"""When processes stopped working, by what was done to them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import Final

from tests.simulator.expected.history import History
from tests.simulator.injected import Injected
from tests.simulator.truth import Operation, Truth

STOPS: Final = ("close", "crash", "freeze", "polls too late", "admin removal")
"""What is done to a process that ends its work, for a while or for good."""

WAKES: Final = ("subscribe",)
"""What makes a process that was frozen do something meanwhile: it commits what it read."""

STORM: Final = "epoch storm"
STORM_TURN_MS: Final = 23_000
"""A story in which members of a group do so in turn, each so long after the one before at most."""

IN_FLIGHT_MS: Final = 50
"""A request is on its way for so long at most: what was sent at the end is written later."""


class Stops:
    """Of all processes of a history."""

    def __init__(self, truth: Truth) -> None:
        self._stops: dict[tuple[str | None, str | None], list[Injected]] = defaultdict(list)
        self._woken: dict[tuple[str | None, str | None], list[int]] = defaultdict(list)
        self._storms: dict[str | None, list[Injected]] = defaultdict(list)
        for event in truth.injected:
            if event.what == STORM:
                self._storms[event.group_id].append(event)
            elif event.what in STOPS:
                self._stops[event.group_id, event.member_id].append(event)
            elif event.what in WAKES:
                self._woken[event.group_id, event.member_id].append(event.at)

    def last(
        self, group_id: str, member_id: str, since: int, until: int, *, closes_unheard: bool = False
    ) -> int | None:
        """When a member stopped that was missed at `until`; None where nothing was done to it since
        a time, or where it went on before it was missed. Who crashed while it stood still stopped
        before; closes_unheard: so did who was closed, which may have said nothing. True times."""
        stops = self._stops.get((group_id, member_id), [])
        place = bisect_right(stops, until, key=lambda each: each.at)
        stop = stops[place - 1] if place else None
        if stop is None or stop.at < since or is_over(stop, until):
            return None
        is_unheard = stop.what == "crash" or (closes_unheard and stop.what == "close")
        frozen = stops[place - 2] if place > 1 and is_unheard else None
        if frozen is not None and since <= frozen.at and _stands(frozen, stop.at):
            stop = frozen
        is_woken = any(stop.at < at < until for at in self._woken.get((group_id, member_id), ()))
        return None if is_woken or self._is_stormy(group_id, stop.at, until) else stop.at

    def _is_stormy(self, group_id: str, since: int, until: int) -> bool:
        storms = self._storms.get(group_id, ())
        return any(
            storm.at < until and since < storm.at + _number_of(storm) * STORM_TURN_MS
            for storm in storms
        )


class Late:
    """How late members act on what they hear: until then they go on reading."""

    def __init__(self, truth: Truth) -> None:
        self._noted: dict[tuple[str, str | None, str | None], list[Injected]] = defaultdict(list)
        for event in truth.injected:
            if event.what in ("joins late", "slow revoke"):
                self._noted[event.what, event.group_id, event.member_id].append(event)

    def polled_ms(self, group_id: str, member_id: str, stopped_at: int) -> int | None:
        """For how long a member that stopped at a time had heard of a rebalance, and had not polled;
        None where it had not heard of one. True time."""
        heard = self._last("joins late", group_id, member_id, stopped_at)
        if heard is None or stopped_at - heard.at > _number_of(heard):
            return None
        return stopped_at - heard.at

    def revoked_ms(self, group_id: str, member_id: str, asked_at: int, stopped_at: int) -> int:
        """For how long a member that was asked for partitions was still in a callback for others.
        True times."""
        begun = self._last("slow revoke", group_id, member_id, asked_at)
        if begun is None or begun.at + _number_of(begun) < asked_at:
            return 0
        return max(0, min(stopped_at, begun.at + _number_of(begun)) - asked_at)

    def _last(self, what: str, group_id: str, member_id: str, until: int) -> Injected | None:
        noted = self._noted.get((what, group_id, member_id), [])
        place = bisect_right(noted, until, key=lambda each: each.at)
        return noted[place - 1] if place else None


def _number_of(noted: Injected) -> int:
    """For how many ms, or turns."""
    return int(noted.detail.split()[-1])


def is_over(stop: Injected, true_at: int) -> bool:
    """Whether a process that was frozen went on before it was missed."""
    return stop.what == "freeze" and stop.at + _number_of(stop) < true_at


def _stands(stop: Injected, true_at: int) -> bool:
    """Whether a process is frozen still."""
    return stop.what == "freeze" and not is_over(stop, true_at)


def called_for(history: History, before: Operation, operation: Operation) -> int:
    """When the first request came, or session ran out, that a generation can be for. Who stopped
    before that asks for a rebalance itself, as its topics changed: no log shows since when. True
    time."""
    group_id, ahead = operation.group_id, operation.true_at - operation.at
    asked = [
        each.received_at + ahead
        for each in history.truth.answers.of_groups.get(group_id, ())
        if each.kind in ("join", "leave") and each.received_at > before.at
    ]
    ran_out = [
        each.at
        for each in history.truth.injected
        if each.what == "ran out" and f"-{group_id}-" in each.detail and each.at > before.true_at
    ]
    return min([operation.true_at, *asked, *ran_out])
