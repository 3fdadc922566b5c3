"""What holds of every log of a streams group: recorded ones in which records were lost, doubled or
moved, and such as no coordinator would write.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings

from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.facts import Fact
from groupreplay.replay.streams_facts import ACTIVE, HeldTask, StreamsRebalance, TaskHandOver
from tests.support.random_logs import NAMES, logs
from tests.support.recordings import RecordedGroup, group, groups
from tests.support.replaying import boundaries, difference, fact_keys, reduced, replayed
from tests.support.sound_facts import check_facts

RECORDED = [*groups("streams-protocol-4.3"), group("other-groups-4.2", "streams-new")]
TIMES = 3
"""So many logs of each group are made by several changes."""

CUTS = 1
"""So many single cuts of each log, besides one at every fourth place at once."""

of_each_group = pytest.mark.parametrize("recorded", RECORDED, ids=lambda each: each.group_id)


@cache
def few_commits(index: int) -> tuple[Entry, ...]:
    """A recorded log without the commits that say nothing new."""
    return tuple(reduced(RECORDED[index].entries))


def entries_of(recorded: RecordedGroup) -> list[Entry]:
    return list(few_commits(RECORDED.index(recorded)))


# ---------------------------------------------------------------- what is done to a log


def holed(entries: list[Entry], chance: random.Random) -> list[Entry]:
    """A stretch is lost, and every record behind it knows."""
    begin = chance.randrange(1, len(entries))
    end = min(len(entries) - 1, begin + chance.randint(1, 12))
    hole = entries[end].offset - 1
    rest = [entry._replace(last_hole=max(hole, entry.last_hole)) for entry in entries[end:]]
    return entries[:begin] + rest


def dropped(entries: list[Entry], chance: random.Random) -> list[Entry]:
    """A record is not there, and nobody knows."""
    index = chance.randrange(len(entries))
    return entries[:index] + entries[index + 1 :]


def doubled(entries: list[Entry], chance: random.Random) -> list[Entry]:
    """A record stands again in the place of a later one."""
    one, other = sorted(chance.sample(range(len(entries)), 2))
    again = entries[other]._replace(record=entries[one].record)
    return [*entries[:other], again, *entries[other + 1 :]]


def shuffled(entries: list[Entry], chance: random.Random) -> list[Entry]:
    """Records of a stretch changed places."""
    begin = chance.randrange(len(entries))
    stretch = entries[begin : begin + chance.randint(2, 10)]
    records = [entry.record for entry in stretch]
    chance.shuffle(records)
    moved = [entry._replace(record=record) for entry, record in zip(stretch, records, strict=True)]
    return entries[:begin] + moved + entries[begin + len(stretch) :]


def joined(entries: list[Entry], chance: random.Random) -> list[Entry]:
    """A stretch was written in one batch and millisecond."""
    begin = chance.randrange(len(entries))
    first = entries[begin]
    end = begin + chance.randint(2, 20)
    as_one = [
        entry._replace(ts_ms=first.ts_ms, batch_base_offset=first.batch_base_offset)
        for entry in entries[begin:end]
    ]
    return entries[:begin] + as_one + entries[end:]


def cut_off(entries: list[Entry], chance: random.Random) -> list[Entry]:
    """The log begins in the middle."""
    return entries[chance.randrange(len(entries) // 2) :]


CHANGES: dict[str, Callable[[list[Entry], random.Random], list[Entry]]] = {
    change.__name__: change for change in (holed, dropped, doubled, shuffled, joined, cut_off)
}


def check_log(entries: Sequence[Entry], names: dict[str, str], chance: random.Random) -> None:
    """Facts are sound, and nights change nothing of them."""
    facts = replayed(entries, names)
    check_facts(facts)
    wanted, places = fact_keys(facts), boundaries(entries)
    singles = [[place] for place in chance.sample(places, min(CUTS, len(places)))]
    for cuts in [*singles, places[chance.randrange(4) :: 4]]:
        got = fact_keys(replayed(entries, names, cuts))
        assert got == wanted, f"cut at {cuts}:\n{difference(wanted, got)}"


# ---------------------------------------------------------------- recorded logs, changed


@pytest.mark.long
@of_each_group
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_log_gives_sound_facts(recorded: RecordedGroup, change: str) -> None:
    chance = random.Random(f"{recorded.group_id} {change}")
    check_log(CHANGES[change](entries_of(recorded), chance), recorded.names, chance)


@pytest.mark.long
@of_each_group
def test_a_log_that_was_changed_often_gives_sound_facts(recorded: RecordedGroup) -> None:
    chance = random.Random(recorded.group_id)
    for _ in range(TIMES):
        entries = entries_of(recorded)
        for change in chance.choices(list(CHANGES), k=chance.randint(2, 8)):
            if len(entries) > 2:
                entries = CHANGES[change](entries, chance)
        check_log(entries, recorded.names, chance)


# ---------------------------------------------------------------- recorded logs as they are


@of_each_group
def test_a_recorded_log_can_be_cut_at_every_change(recorded: RecordedGroup) -> None:
    entries = entries_of(recorded)
    wanted = fact_keys(replayed(entries, recorded.names))
    changes = [
        place
        for place in boundaries(entries)
        if not isinstance(entries[place].record, OffsetCommit)
    ]
    for place in changes[:: max(1, len(changes) // 4)]:
        got = fact_keys(replayed(entries, recorded.names, [place]))
        assert got == wanted, f"cut at {place}:\n{difference(wanted, got)}"


def held(facts: list[Fact]) -> list[HeldTask]:
    found = [fact for fact in facts if isinstance(fact, HeldTask) and fact.role == ACTIVE]
    return sorted(found, key=lambda fact: fact.assigned_at)


@of_each_group
def test_one_member_at_a_time_runs_a_task(recorded: RecordedGroup) -> None:
    """T13, T15: of what a broker wrote. Who got a task next is who got it next."""
    facts = held(replayed(recorded.entries, recorded.names))
    tasks = {(fact.incarnation, fact.subtopology, fact.partition) for fact in facts}
    assert tasks
    for task in tasks:
        runs = [f for f in facts if (f.incarnation, f.subtopology, f.partition) == task]
        for before, after in pairwise(runs):
            assert before.released_at is not None
            assert before.released_at <= after.assigned_at
            assert before.next_member_id == after.member_id
            assert before.unowned_ms == after.assigned_at - before.released_at


@of_each_group
def test_every_end_of_an_active_task_is_one_hand_over(recorded: RecordedGroup) -> None:
    facts = replayed(recorded.entries, recorded.names)
    ended = {
        (fact.subtopology, fact.partition, fact.member_id, fact.to_offset)
        for fact in held(facts)
        if fact.to_offset is not None and fact.incarnation in streams_lives(facts)
    }
    moved = {
        (fact.subtopology, fact.partition, fact.from_member_id, fact.from_offset)
        for fact in facts
        if isinstance(fact, TaskHandOver) and fact.protocol == "streams"
    }
    assert ended == moved


def streams_lives(facts: list[Fact]) -> set[int]:
    """Incarnations that spoke the streams protocol."""
    return {
        fact.incarnation
        for fact in facts
        if isinstance(fact, StreamsRebalance) and fact.protocol == "streams"
    }


# ---------------------------------------------------------------- any log


def test_any_log_of_a_streams_group_gives_sound_facts() -> None:
    @settings(max_examples=40, derandomize=True, database=None)
    @given(entries=logs(of_streams=True))
    def check(entries: list[Entry]) -> None:
        facts = replayed(entries, NAMES)
        check_facts(facts)
        assert fact_keys(replayed(entries, NAMES, boundaries(entries))) == fact_keys(facts)

    check()
