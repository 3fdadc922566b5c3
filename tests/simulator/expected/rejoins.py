"""`rejoins`: who was told to join a generation, and who joined when, by the answers of requests
(evidence.md, Rejoins)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from tests.simulator.answers import Answer
from tests.simulator.compare import Between, Key, LineAt, OneOf, Untold, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.tables import Row
from tests.simulator.truth import CONSUMER

REBALANCE_IN_PROGRESS: Final = 27

WRITTEN_LATE_MS: Final = 20
"""A line says how long all of a request took, to which waits of some ms belong that no coordinator
sees."""

TOLD_LATER: Final = "the next leader, whose clock is behind, let in who was told by a clock ahead"
"""Lines cannot show that order."""

OVER_BY_A_LINE: Final = Untold("who is gone needs no answer; a line of its end may not be there")


@dataclass(frozen=True, slots=True)
class LineOf:
    """The place of the line of an answer."""

    answer: Answer

    def admits(self, value: Any) -> bool:
        file = f"broker-{self.answer.broker}.request.log.gz"
        is_of_file = isinstance(value, dict) and value["input"].endswith(f"/{file}")
        return is_of_file and LineAt("request_log", self.answer.position).admits(value)

    def __str__(self) -> str:
        return f"broker-{self.answer.broker} at {self.answer.position}"


@dataclass(slots=True)
class Rejoin:
    """One generation that a member joined, or was told to join. told: the first answer that said
    so. join: the last that let it in, and synced that of its assignment; None without one.
    is_over: nothing that may still be answered belongs to it. to_consumers: a consumer group
    answered that join. is_called_first: it was told to join again before it had its assignment."""

    member_id: str
    told: Answer | None
    join: Answer | None
    synced: Answer | None = None
    is_over: bool = False
    to_consumers: bool = True
    is_called_first: bool = False

    @property
    def first(self) -> Answer:
        """The answer that begins it."""
        found = self.told or self.join
        assert found is not None, "it begins with one of the two"
        return found

    @property
    def is_a_try(self) -> bool:
        """Its join brought it no further: a consumer group wants partitions back first. A classic
        group that lost a generation has it once more."""
        told, join = self.told, self.join
        is_same = told is not None and join is not None and join.joined == told.generation
        return is_same and self.to_consumers

    @property
    def times(self) -> list[int]:
        """Of its answers, by their brokers' clocks."""
        return [each.at for each in (self.told, self.join, self.synced) if each is not None]

    @property
    def is_told_later(self) -> bool:
        """Whether the next leader let its member in before the one before told it to, by clocks."""
        told, join = self.told, self.join
        is_of_two = told is not None and join is not None and told.broker != join.broker
        return is_of_two and self.times[1] < self.times[0]

    def hear(self, answers: Sequence[Answer]) -> None:
        """What was answered since its join, and before the next one."""
        assert self.join is not None, "it is the last one without a join"
        for each in answers:
            if each.kind == "sync" and _is_granted(each, self.join.joined):
                self.synced = each
            elif self.synced is None and each.generation == self.join.joined:
                self.is_called_first |= each.code == REBALANCE_IN_PROGRESS
        is_synced = self.synced is not None and not self.is_a_try
        self.is_over = is_synced or any(map(_is_quiet, answers))


def rejoins_of(
    answers: Iterable[Answer],
    gone: Mapping[str, Sequence[int]],
    consumers: Sequence[range],
) -> Iterator[Rejoin]:
    """Of one group, from answers in the order in which they were given. gone: member -> true times
    at which its group removed it. A consumer group lets it come back under its id. consumers: true
    times in which it is one."""
    by_member: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        is_join = answer.joined >= 0 and answer.code == 0
        if is_join or (answer.generation >= 0 and answer.code in (0, REBALANCE_IN_PROGRESS)):
            by_member[answer.about or ""].append(answer)
    for member_id, of_member in by_member.items():
        yield from _of_member(member_id, of_member, gone.get(member_id, ()), consumers)


def _of_member(
    member_id: str, answers: Sequence[Answer], gone: Sequence[int], consumers: Sequence[range]
) -> Iterator[Rejoin]:
    """Between two joins a member is in one generation: what it is told there first, it is told for
    the second."""
    joins = [place for place, each in enumerate(answers) if each.joined >= 0]
    rejoin: Rejoin | None = None
    for begin, end in zip([0, *(each + 1 for each in joins)], [*joins, None], strict=True):
        between, join = answers[begin:end], None if end is None else answers[end]
        before = answers[begin - 1] if begin else None
        told = _first_told([each for each in between if _is_told(each, before)])
        # What a group of consumers wrote may be answered once it is a classic one.
        to_consumers = join is not None and any(join.came_true_at in each for each in consumers)
        if rejoin is not None:
            rejoin.hear(between)
        if told is None and join is None:
            continue
        if rejoin is not None and _goes_on(rejoin, between, told, join, gone):
            if join is not None:
                rejoin.join, rejoin.synced, rejoin.to_consumers = join, None, to_consumers
            continue
        if rejoin is not None:
            rejoin.is_over = True
            yield rejoin
            if _is_told_again(rejoin, between, told):
                told = None
        if told is not None and join is not None and _is_gone(told, join, gone):
            yield Rejoin(member_id, told, None, is_over=True)
            told = None
        rejoin = Rejoin(member_id, told, join, to_consumers=to_consumers)
    if rejoin is not None:
        yield rejoin


def _first_told(answers: Sequence[Answer]) -> Answer | None:
    """By the clocks of brokers: two leaders may have told it of one generation."""
    same = [each for each in answers if each.generation == answers[0].generation]
    return min(same, key=lambda each: each.at, default=None)


def _is_told(answer: Answer, join: Answer | None) -> bool:
    """Whether a member was told to join again. An answer to what it asked before its join was
    answered, of the generation before that, is one that was on its way."""
    if answer.code != REBALANCE_IN_PROGRESS:
        return False
    if join is None or answer.broker != join.broker or answer.generation >= join.joined:
        return True
    return answer.came_true_at > join.true_at


def _goes_on(
    rejoin: Rejoin,
    answers: Sequence[Answer],
    told: Answer | None,
    join: Answer | None,
    gone: Sequence[int],
) -> bool:
    """Whether a member that came no further joins again for the same, and had nothing to do
    between."""
    if not _is_told_again(rejoin, answers, told):
        return False
    return join is None or not _is_gone(rejoin.first, join, gone)


def _is_told_again(rejoin: Rejoin, answers: Sequence[Answer], told: Answer | None) -> bool:
    """Whether it came no further, and had nothing to do before it was told so again."""
    before = answers if told is None else answers[: answers.index(told)]
    return rejoin.is_a_try and not any(map(_is_quiet, before))


def _is_gone(since: Answer, join: Answer, gone: Sequence[int]) -> bool:
    """Whether a member was removed between an answer and when a join came."""
    return any(since.true_at <= at <= join.came_true_at for at in gone)


def _is_granted(answer: Answer, generation: int) -> bool:
    return answer.generation == generation and answer.code == 0


def _is_quiet(answer: Answer) -> bool:
    return answer.kind == "heartbeat" and answer.code == 0


def _row(history: History, rejoin: Rejoin) -> Wanted:
    first, told, join, synced = rejoin.first, rejoin.told, rejoin.join, rejoin.synced
    came: Any = None
    if join is not None:
        came = Between(join.received_at - WRITTEN_LATE_MS, join.received_at + 1)
    values: dict[str, Any] = {
        "instance_id": first.instance_id,
        "client_id": first.client_id,
        "client_host": first.client_host,
        "generation": None if told is None else told.generation,
        "told_at": None if told is None else told.at,
        "joined_at": came,
        "answered_at": None if join is None else join.at,
        "synced_at": synced_at(join, synced, is_untold=rejoin.is_called_first),
        "new_generation": None if join is None else join.joined,
        "rejoin_ms": None,
        "wait_ms": None,
        "evidence": LineOf(first),
        "is_final": True if rejoin.is_over else OVER_BY_A_LINE,
    }
    if told is not None and join is not None:
        values["rejoin_ms"] = _lasts(join.received_at - told.at)
    if join is not None:
        values["wait_ms"] = _lasts(join.at - join.received_at)
    return Wanted(values, ())


def synced_at(join: Answer | None, synced: Answer | None, *, is_untold: bool = False) -> Any:
    """By the clocks of two brokers a member may have its assignment before its join is answered.
    Then no line shows of which of its joins the assignment is. is_untold: another rebalance came
    first, and a consumer group gives it the assignment all the same (evidence.md, Rejoins).
    """
    if join is None or synced is None:
        return None
    is_of_two = synced.broker != join.broker
    seems_earlier = (synced.at, synced.broker) < (join.at, join.broker)
    may_be_unknown = is_untold or (is_of_two and seems_earlier)
    return OneOf((None, synced.at)) if may_be_unknown else synced.at


def _lasts(ms: int) -> Between:
    """Between two lines, which are written late."""
    return Between(max(0, ms - WRITTEN_LATE_MS), max(0, ms + WRITTEN_LATE_MS))


def rejoins_in(history: History) -> Mapping[str, Sequence[Rejoin]]:
    """Group -> its rejoins, those of each member in order."""
    return {
        group_id: list(
            rejoins_of(answers, gone_from(history, group_id), consumers_in(history, group_id))
        )
        for group_id, answers in history.truth.answers.in_order.items()
    }


def untold_times(rejoins: Sequence[Rejoin], clocks_differ_ms: int) -> Iterator[tuple[str, range]]:
    """Of one group: members and times in which it cannot be told which join answers what: from the
    one before such a join to the one behind it."""
    by_member: dict[str, list[Rejoin]] = defaultdict(list)
    for rejoin in rejoins:
        by_member[rejoin.member_id].append(rejoin)
    for member_id, of_member in by_member.items():
        for place, rejoin in enumerate(of_member):
            if rejoin.is_told_later:
                near = of_member[max(0, place - 1) : place + 2]
                times = [at for each in near for at in each.times]
                since = min(times) - clocks_differ_ms
                yield member_id, range(since, max(times) + clocks_differ_ms)


def _untold(history: History) -> Mapping[Key, Sequence[range]]:
    found: dict[Key, list[range]] = defaultdict(list)
    for group_id, rejoins in rejoins_in(history).items():
        for member_id, times in untold_times(rejoins, history.truth.clocks_differ_ms):
            found[group_id, member_id].append(times)
    return found


def _why_untold(history: History, key: Key) -> str:
    group_id, member_id, first_at, _ = key
    times = history.made_of_all(_untold).get((group_id, member_id), ())
    return TOLD_LATER if any(first_at in each for each in times) else ""


def _wanted(history: History) -> dict[Key, Wanted]:
    return {
        key: replace(_row(history, rejoin), left_out=_why_untold(history, key))
        for group_id, rejoins in rejoins_in(history).items()
        for rejoin in rejoins
        for key in [(group_id, rejoin.member_id, rejoin.first.at, rejoin.first.position)]
    }


def consumers_in(history: History, group_id: str) -> Sequence[range]:
    """True times in which a group is one of consumers."""
    operations = history.truth.operations.get(group_id, ())
    begun = [
        (operation.true_at, operation.protocol)
        for before, operation in pairwise([None, *operations])
        if before is None or before.protocol != operation.protocol
    ]
    ends = [*(at for at, _ in begun[1:]), history.truth.ended_at + 1]
    stretches = zip(begun, ends, strict=False)
    return [range(at, end) for (at, protocol), end in stretches if protocol == CONSUMER]


def gone_from(history: History, group_id: str) -> Mapping[str, Sequence[int]]:
    """Member -> true times by which its group had removed it. Who joins and leaves in one ms is gone
    in the next one: its join came before."""
    gone: dict[str, list[int]] = defaultdict(list)
    joined: dict[str | None, int] = {}
    for before, operation in pairwise(history.truth.operations.get(group_id, ())):
        at = operation.true_at
        for member_id in before.members.keys() - operation.members.keys():
            gone[member_id].append(at + (joined.get(member_id) == at))
        if operation.kind == "join":
            joined[operation.asked_by] = at
    return gone


def _key_of(history: History, row: Row) -> Key:
    """A member may be let in and told to join again in one ms, or let in by two brokers."""
    first_at = row["answered_at"] if row["told_at"] is None else row["told_at"]
    return row["group_id"], row["member_id"], first_at, row["evidence"]["position"]


def _excuse(history: History, row: Row) -> str:
    return _why_untold(history, _key_of(history, row))


CHECK: Final = Check("rejoins", _wanted, _key_of, _excuse)
