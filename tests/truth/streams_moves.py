"""Which tasks left whom, who got them, and what was known of the receiver: of classic groups by the
words of their leaders, of streams groups by the broker's debug log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tests.truth.streams_logs import MemberState
from tests.truth.streams_truth import Led, StreamsTruth


@dataclass(frozen=True, slots=True)
class Move:
    """A task that a member of a classic group lost: in the generation `taken`.

    grant: the generation that gave it to the process `to`, None where none did.
    learning: the generations before `taken`, in order, in which `to` kept a replica of it.
    """

    group: str
    task: str
    member: str
    process: str
    taken: Led
    to: str | None
    grant: Led | None
    learning: tuple[Led, ...]

    @property
    def is_gone(self) -> bool:
        """Its member is not in the group any more."""
        return self.member not in self.taken.members

    @property
    def owed_to(self) -> str | None:
        return self.taken.owed.get(self.task)

    @property
    def is_stateless(self) -> bool:
        return self.task in self.taken.said.stateless

    @property
    def is_within(self) -> bool:
        """From one thread of a process to another."""
        return self.to == self.process and self.owed_to in (None, self.process)

    @property
    def is_bounce(self) -> bool:
        """It went back to the process that had lost it for the sake of another."""
        return self.to == self.process and not self.is_within

    def lag(self, led: Led) -> int | None:
        """Records that the receiver lacked when a generation was decided."""
        told = led.told(self.to) if self.to is not None else None
        return told.lags.get(self.task) if told is not None else None

    def has_state(self) -> bool:
        """Whether the receiver had state of it on disk when it was taken or granted."""
        if self.to is None or self.grant is None:
            return False
        told = (led.told(self.to) for led in (self.taken, self.grant))
        return any(each is not None and each.sums.get(self.task, -1) >= 0 for each in told)


def moves(truth: StreamsTruth, group: str) -> list[Move]:
    """Every task that a member of a classic group lost, but to another thread of its process that
    took over as it went, and but for those of a group that became empty: its application stopped,
    and hands nothing over.
    """
    found = []
    for leds in _lives(truth.led[group]):
        for place, (before, taken) in enumerate(pairwise(leds), 1):
            for task, member in before.active.items():
                process = before.process(member)
                has_stayed = taken.active.get(task) == member
                is_handed_on = taken.runner(task) == process and member not in taken.members
                if not has_stayed and not is_handed_on:
                    found.append(_move(leds, place, task, member))
    return found


def _lives(leds: list[Led]) -> list[list[Led]]:
    """Generations that follow each other: a new life begins with the first again."""
    found: list[list[Led]] = []
    for led in leds:
        if found and led.number == found[-1][-1].number + 1:
            found[-1].append(led)
        else:
            found.append([led])
    return found


def _move(leds: list[Led], place: int, task: str, member: str) -> Move:
    grant = next((led for led in leds[place:] if task in led.active), None)
    to = grant.runner(task) if grant is not None else None
    learning: list[Led] = []
    for led in reversed(leds[:place]):
        if to is None or not led.has_copy(task, to):
            break
        learning.insert(0, led)
    process = leds[place - 1].process(member)
    return Move(leds[place].group, task, member, process, leds[place], to, grant, tuple(learning))


@dataclass(frozen=True, slots=True)
class LetGo:
    """A task that a member of a streams group let go of.

    asked_at: since when it had been asked for it; None: it went without having been asked.
    to_member: who had it next, in the same life of the group, from granted_at on; None: nobody.
    was_kept: the receiver kept a replica of it before, when it last was at rest or since.
    """

    group: str
    task: str
    member: str
    released_at: int
    asked_at: int | None
    to_member: str | None
    granted_at: int | None
    was_kept: bool


def let_go(truth: StreamsTruth, group: str) -> Iterator[LetGo]:
    """Every task that a member of a streams group let go of, in whatever way."""
    ends = truth.lives_end(group)
    for (each, member), states in truth.broker.states.items():
        if each != group:
            continue
        for place, (before, after) in enumerate(pairwise(states), 1):
            for task in before.runs - after.runs:
                end = min((at for at in ends if at > after.at), default=None)
                receiver = _receiver(truth, group, task, after.at, end)
                yield LetGo(
                    group,
                    task,
                    member,
                    after.at,
                    _asked_since(states[:place], task),
                    receiver[1] if receiver else None,
                    receiver[0] if receiver else None,
                    receiver is not None and _was_kept(truth, group, task, receiver),
                )


def _asked_since(states: list[MemberState], task: str) -> int | None:
    since = None
    for state in reversed(states):
        if task not in state.asked_active:
            break
        since = state.at
    return since


def _receiver(
    truth: StreamsTruth, group: str, task: str, released_at: int, end: int | None
) -> tuple[int, str] | None:
    """(when, member) that had the task next, before the group's life ended."""
    found = []
    for (each, member), states in truth.broker.states.items():
        if each == group:
            had = False
            for state in states:
                has = task in state.active
                if has and not had and released_at <= state.at and (end is None or state.at < end):
                    found.append((state.at, member))
                had = has
    return min(found, default=None)


def _was_kept(truth: StreamsTruth, group: str, task: str, receiver: tuple[int, str]) -> bool:
    """A standby is given up before the task is granted, so the last state at rest counts too."""
    granted_at, member = receiver
    before = [state for state in truth.broker.states[group, member] if state.at < granted_at]
    at_rest = [state for state in before if state.state == "STABLE"]
    return any(task in state.keeps for state in (*before[-1:], *at_rest[-1:]))
