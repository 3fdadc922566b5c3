"""Cut a group's log anywhere, carry the state over as bytes, and the facts are the same:
nights are such cuts.

Nearly all places are between two commits, and a cut there is like the one before. The suite cuts at
what is no commit, and at commits spread over the log; `make soak` cuts everywhere.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise

import pytest

from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.facts import Epoch, HandOver, HeldPartition, MemberState
from groupreplay.replay.group_replay import GroupReplay
from tests.support.recordings import RecordedGroup, all_groups, groups, recordings
from tests.support.replaying import (
    FactKey,
    boundaries,
    carried,
    difference,
    fact_keys,
    reduced,
    replayed,
)

pytestmark = pytest.mark.long

GROUPS_CUT_EVERYWHERE = 2
SINGLE_CUTS, RANDOM_PLACES = 40, 50
COMMITS = 20
"""So many commits of a log are cut at in the suite, and of `SINGLE_CUTS` each replays the rest."""

_ALL = list(all_groups())
_IDS = [f"{group.recording}-{group.group_id}" for group in _ALL]


def facts_of(group: RecordedGroup, cuts: Iterable[int] = ()) -> Counter[FactKey]:
    return fact_keys(
        replayed(group.entries, group.names, cuts, group.group_id, group.offsets_partition)
    )


@cache
def wanted_of(recording: str, group_id: str, partition: int) -> Counter[FactKey]:
    (own,) = (
        each
        for each in groups(recording)
        if (each.group_id, each.offsets_partition) == (group_id, partition)
    )
    return facts_of(own)


def uncut(group: RecordedGroup) -> Counter[FactKey]:
    """The facts of one run, for all tests the same. Nobody changes them."""
    return wanted_of(group.recording, group.group_id, group.offsets_partition)


def is_commit(group: RecordedGroup, place: int) -> bool:
    return isinstance(group.entries[place].record, OffsetCommit)


def spread(places: Sequence[int], most: int) -> list[int]:
    """At most so many of these, as far from each other as can be."""
    wanted = min(most, len(places))
    return [places[(2 * number + 1) * len(places) // (2 * wanted)] for number in range(wanted)]


def chosen_places(group: RecordedGroup) -> list[int]:
    """Before and after each operation that is no commit, and at some commits."""
    places = boundaries(group.entries)
    beside = {
        each
        for number, place in enumerate(places)
        if not is_commit(group, place)
        for each in places[number : number + 2]
    }
    commits = [place for place in places if is_commit(group, place)]
    return sorted(beside | set(spread(commits, COMMITS)))


def all_places(group: RecordedGroup) -> list[int]:
    return boundaries(group.entries)


in_suite_and_soak = pytest.mark.parametrize(
    "places_of", [chosen_places, pytest.param(all_places, marks=pytest.mark.soak)]
)


def begin(group: RecordedGroup) -> GroupReplay:
    return GroupReplay(group.group_id, group.offsets_partition, group.names)


def check_single_cuts(group: RecordedGroup, places: list[int]) -> None:
    """One run that is never cut, and beside it one for each place that is cut there and nowhere
    else.
    """
    wanted = uncut(group)
    whole, told, at = begin(group), Counter[FactKey](), 0
    for place in sorted(places):
        for entry in group.entries[at:place]:
            whole.replay(entry)
        whole.flush()
        told += fact_keys(whole.take_facts())
        at = place
        rest = carried(whole, group.group_id, group.offsets_partition, group.names)
        for entry in group.entries[place:]:
            rest.replay(entry)
        rest.flush()
        got = told + fact_keys(rest.take_facts()) + fact_keys(rest.open_facts())
        assert got == wanted, (
            f"cut before offset {group.entries[place].offset}:\n{difference(wanted, got)}"
        )


@pytest.mark.parametrize(
    ("single_cuts", "random_places"),
    [
        pytest.param(SINGLE_CUTS, RANDOM_PLACES, id="some"),
        pytest.param(10_000, 2 * RANDOM_PLACES, id="all", marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("recording", recordings())
def test_a_log_can_be_cut_at_an_operation(
    recording: str, single_cuts: int, random_places: int
) -> None:
    """Of the groups that change most."""

    def operations(group: RecordedGroup) -> list[int]:
        return [place for place in boundaries(group.entries) if not is_commit(group, place)]

    busiest = sorted(groups(recording), key=lambda group: -len(operations(group)))
    for group in busiest[:GROUPS_CUT_EVERYWHERE]:
        check_single_cuts(group, spread(operations(group), single_cuts))
    chance = random.Random(recording)
    others = [
        (group, place)
        for group in busiest[GROUPS_CUT_EVERYWHERE:]
        for place in boundaries(group.entries)
    ]
    chosen = chance.sample(others, min(random_places, len(others)))
    for group in busiest[GROUPS_CUT_EVERYWHERE:]:
        check_single_cuts(group, [place for each, place in chosen if each is group])


@in_suite_and_soak
@pytest.mark.parametrize("group", _ALL, ids=_IDS)
def test_a_log_can_be_cut_at_many_places_at_once(
    group: RecordedGroup, places_of: Callable[[RecordedGroup], list[int]]
) -> None:
    wanted, places = uncut(group), places_of(group)
    for cuts in (places, places[::7], places[3::11]):
        got = facts_of(group, cuts)
        assert got == wanted, f"{len(cuts)} cuts:\n{difference(wanted, got)}"


@in_suite_and_soak
@pytest.mark.parametrize("group", _ALL, ids=_IDS)
def test_open_facts_change_nothing(
    group: RecordedGroup, places_of: Callable[[RecordedGroup], list[int]]
) -> None:
    """They are asked every night of every live group, whether it has news or not."""
    wanted, machine = uncut(group), begin(group)
    places = set(places_of(group)[::5])
    told: Counter[FactKey] = Counter()
    for index, entry in enumerate(group.entries):
        if index in places:
            machine.flush()
            state = machine.state()
            first = fact_keys(machine.open_facts())
            assert machine.state() == state
            assert fact_keys(machine.open_facts()) == first
            assert (
                fact_keys(
                    carried(
                        machine, group.group_id, group.offsets_partition, group.names
                    ).open_facts()
                )
                == first
            )
        machine.replay(entry)
    machine.flush()
    told += fact_keys(machine.take_facts()) + fact_keys(machine.open_facts())
    assert told == wanted, difference(wanted, told)


@pytest.mark.parametrize("group", _ALL, ids=_IDS)
def test_reduced_commits_give_the_same_facts(group: RecordedGroup) -> None:
    """First and last ones between two other records are kept, and so are those at the edges of
    files and nights.
    """
    wanted = uncut(group)
    chance = random.Random(group.group_id)
    for edges in (0, 1, 5, 20):
        places = frozenset(chance.sample(range(len(group.entries)), min(edges, len(group.entries))))
        kept = reduced(group.entries, places)
        got = fact_keys(replayed(kept, group.names, (), group.group_id, group.offsets_partition))
        assert got == wanted, (
            f"{len(kept)} of {len(group.entries)} entries kept:\n{difference(wanted, got)}"
        )


def night_cuts(group: RecordedGroup, nights: int, first_ms: int, last_ms: int) -> list[int]:
    """Where each night but the first begins: with the first operation after its share of the
    recording's time. Two that are equal: a night without news.
    """
    starts = [first_ms + (last_ms - first_ms) * night // nights for night in range(1, nights)]
    places = [0, *boundaries(group.entries)]
    return [
        next((place for place in places if group.entries[place].ts_ms >= start), len(group.entries))
        for start in starts
    ]


def facts_of_nights(group: RecordedGroup, cuts: list[int]) -> Counter[FactKey]:
    """As the job does it: each night lands its own commits, reduced; restores the state; tells what
    became final, and at the end what is open.
    """
    told, state = Counter[FactKey](), None
    kept = set(map(id, reduced(group.entries, frozenset(cuts))))
    for begin, end in pairwise([0, *cuts, len(group.entries)]):
        machine = start(group, state)
        for entry in group.entries[begin:end]:
            if id(entry) in kept:
                machine.replay(entry)
        machine.flush()
        told += fact_keys(machine.take_facts())
        still_open, state = fact_keys(machine.open_facts()), machine.state()
    return told + still_open


def start(group: RecordedGroup, state: bytes | None) -> GroupReplay:
    return (
        begin(group)
        if state is None
        else GroupReplay.restore(group.group_id, group.offsets_partition, group.names, state)
    )


@pytest.mark.parametrize("nights", [2, 5, 24])
@pytest.mark.parametrize("recording", recordings())
def test_nights_give_what_one_run_gives(recording: str, nights: int) -> None:
    """All groups of a recording, cut at the same times."""
    times = [entry.ts_ms for group in groups(recording) for entry in group.entries]
    for group in groups(recording):
        wanted, got = (
            uncut(group),
            facts_of_nights(group, night_cuts(group, nights, min(times), max(times))),
        )
        assert got == wanted, f"{group.group_id}:\n{difference(wanted, got)}"


@pytest.mark.parametrize("group", _ALL, ids=_IDS)
def test_a_log_that_is_no_more_ends_every_row_unobserved(group: RecordedGroup) -> None:
    """Its topic was created anew: what follows is told of a group of its own, as if nothing had
    been before.
    """
    places = [*boundaries(group.entries), len(group.entries)]
    middle = places[len(places) // 2]
    machine = begin(group)
    for entry in group.entries[:middle]:
        machine.replay(entry)
    machine.flush()
    open_then = machine.open_facts()
    ended = carried(machine, group.group_id, group.offsets_partition, group.names)
    ended.end_log()
    closed = ended.take_facts()
    assert (ended.state(), ended.open_facts()) == (None, [])
    assert all(fact.is_final for fact in closed)
    for kind in (HeldPartition, MemberState, Epoch, HandOver):
        were_open = {
            (fact.from_offset, fact.incarnation) for fact in open_then if isinstance(fact, kind)
        }
        are_closed = [fact for fact in closed if isinstance(fact, kind)]
        assert were_open <= {(fact.from_offset, fact.incarnation) for fact in are_closed}, (
            "no row is lost"
        )
    held = [
        fact.end_reason
        for fact in closed
        if isinstance(fact, HeldPartition) and fact.next_member_id is None
    ]
    assert "OPEN" not in held
    for entry in group.entries[middle:]:
        ended.replay(entry)
    ended.flush()
    anew = begin(group)
    for entry in group.entries[middle:]:
        anew.replay(entry)
    anew.flush()
    assert fact_keys([*ended.take_facts(), *ended.open_facts()]) == fact_keys(
        [*anew.take_facts(), *anew.open_facts()]
    )


def test_enough_is_cut() -> None:
    """Three groups of every recording that has as many; nothing of a recording is left out because
    it could not be read.
    """
    assert len(recordings()) >= 4
    for recording in recordings():
        assert len(groups(recording)) >= GROUPS_CUT_EVERYWHERE
        assert sum(len(group.entries) for group in groups(recording)) > 200
