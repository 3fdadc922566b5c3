"""What holds of every log, also of such as no coordinator would write: broken ones are what a
replay meets when bytes are lost.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.group_replay import GroupReplay
from tests.support.random_logs import NAMES, logs
from tests.support.recordings import RecordedGroup, all_groups
from tests.support.replaying import boundaries, carried, difference, fact_keys, reduced, replayed
from tests.support.sound_facts import check_facts

pytestmark = pytest.mark.long

_RECORDED = [group for group in all_groups() if len(boundaries(group.entries)) > 3]


@st.composite
def damaged_recordings(draw: st.DrawFn) -> tuple[RecordedGroup, list[Entry]]:
    """A stretch of a recorded group's log in which records were dropped, doubled or swapped.
    Offsets and times stay where they were.
    """
    group = draw(st.sampled_from(_RECORDED))
    entries = reduced(group.entries)
    begin = draw(st.integers(0, max(0, len(entries) - 5)))
    entries = entries[begin : begin + draw(st.integers(5, 150))]
    for kind, where in draw(
        st.lists(
            st.tuples(
                st.sampled_from(["drop", "double", "swap", "hole"]), st.integers(0, len(entries))
            ),
            max_size=8,
        )
    ):
        index = where % max(1, len(entries) - 1)
        if kind == "drop" and len(entries) > 1:
            del entries[index]
        elif kind == "double":
            entries[-1] = entries[-1]._replace(record=entries[index].record)
        elif kind == "swap" and len(entries) > 1:
            one, other = entries[index], entries[index + 1]
            entries[index : index + 2] = [
                one._replace(record=other.record),
                other._replace(record=one.record),
            ]
        elif kind == "hole":
            hole = entries[index].offset - 1
            entries[index:] = [
                entry._replace(last_hole=max(hole, entry.last_hole)) for entry in entries[index:]
            ]
    return group, entries


def check_open_facts_are_pure(entries: list[Entry], names: dict[str, str]) -> None:
    machine = GroupReplay("g", 0, names)
    for entry in entries:
        machine.replay(entry)
    machine.flush()
    machine.take_facts()
    before = machine.state()
    first, second = fact_keys(machine.open_facts()), fact_keys(machine.open_facts())
    assert first == second
    assert machine.state() == before
    assert not machine.take_facts()
    again = carried(machine, "g", 0, names)
    assert again.state() == before
    assert fact_keys(again.open_facts()) == first


def check_cuts(entries: list[Entry], names: dict[str, str], data: st.DataObject) -> None:
    places = boundaries(entries)
    cuts = data.draw(st.sets(st.sampled_from(places))) if places else set()
    wanted, got = fact_keys(replayed(entries, names)), fact_keys(replayed(entries, names, cuts))
    assert wanted == got, f"cut at {sorted(cuts)}:\n{difference(wanted, got)}"


USUAL = settings(max_examples=150, derandomize=True)
LONG = settings(max_examples=4_000, database=None)
"""By make soak: other logs every time."""

EFFORTS = [pytest.param(USUAL, id="usual"), pytest.param(LONG, id="long", marks=pytest.mark.soak)]


@pytest.mark.parametrize("effort", EFFORTS)
def test_any_log_gives_sound_facts(effort: settings) -> None:
    @effort
    @given(entries=logs())
    def check(entries: list[Entry]) -> None:
        check_facts(replayed(entries, NAMES))
        check_open_facts_are_pure(entries, NAMES)

    check()


@pytest.mark.parametrize("effort", EFFORTS)
def test_any_log_can_be_cut_anywhere(effort: settings) -> None:
    @effort
    @given(entries=logs(), data=st.data())
    def check(entries: list[Entry], data: st.DataObject) -> None:
        check_cuts(entries, NAMES, data)

    check()


def with_lasting_ids(entries: list[Entry]) -> list[Entry]:
    """A broker that names topic ids in commits goes on to do so: without this the one commit that
    names an id could be one that is reduced.
    """
    lasting: dict[tuple[str, int], bool] = {}
    found = []
    for entry in reversed(entries):
        commit = entry.record
        if isinstance(commit, OffsetCommit) and commit.value is not None:
            key = (commit.topic, commit.partition)
            if not lasting.get(key, True):
                entry = entry._replace(
                    record=replace(commit, value=replace(commit.value, topic_id=None))
                )
            lasting[key] = lasting.get(key, True) and commit.value.topic_id is not None
        found.append(entry)
    return found[::-1]


@pytest.mark.parametrize("effort", EFFORTS)
def test_commits_between_changes_say_nothing(effort: settings) -> None:
    """But for logs in which a broker's clock goes back: silences are measured by clocks."""

    @effort
    @given(entries=logs(is_ordered=True), data=st.data())
    def check(entries: list[Entry], data: st.DataObject) -> None:
        entries = with_lasting_ids(entries)
        edges = data.draw(st.frozensets(st.integers(0, len(entries)), max_size=3))
        wanted, got = (
            fact_keys(replayed(entries, NAMES)),
            fact_keys(replayed(reduced(entries, edges), NAMES)),
        )
        assert wanted == got, difference(wanted, got)

    check()


@pytest.mark.parametrize("effort", EFFORTS)
def test_a_damaged_recording_gives_sound_facts(effort: settings) -> None:
    @effort
    @given(damaged=damaged_recordings(), data=st.data())
    def check(damaged: tuple[RecordedGroup, list[Entry]], data: st.DataObject) -> None:
        group, entries = damaged
        check_facts(replayed(entries, group.names))
        check_cuts(entries, group.names, data)

    check()
