"""Estimates of histories in which one looked wrong once."""

from __future__ import annotations

from typing import Final

import pytest

from groupreplay.replay.kept.transition import AWAY, GAP, REMOVED, STOP
from tests.simulator.conftest import Play
from tests.simulator.expected.estimates import Estimate, estimates_of, wrong_estimates
from tests.simulator.expected.history import History
from tests.simulator.expected.told import Told
from tests.simulator.played import Played
from tests.simulator.truth import read_truth

CLASSIC_REMOVED: Final = f"classic {REMOVED}"


@pytest.mark.interpreted
def test_what_a_process_reads_after_its_removal_counts_as_not_read(play: Play) -> None:
    """A static member leaves for a while. Before it is removed, another process thaws that had been
    removed long ago, and reads two of its partitions for 26 ms, until it hears of that."""
    recording = play(Played(207, 20, 0.4, "static", "4.0.2"))
    found = estimates_of(recording, History(read_truth(recording)), Told())
    away = [each for each in found if each.kind == AWAY]
    assert {42_463, 45_405} <= {each.est_ms for each in away}
    assert max(abs(each.error_ms + each.fetched_ms) for each in away) < 100


@pytest.mark.interpreted
def test_a_generation_is_charged_with_what_it_stopped(play: Play) -> None:
    """Its first member has had the partitions for 43 ms when another comes; nobody had read them for
    minutes before. In another group a member had been in a callback, for new topics, for 33 s when
    it was told.
    """
    recording = play(Played(714, 16, 0.4, "classic", "4.0.2"))
    history = History(read_truth(recording))
    found = estimates_of(recording, history, Told(history))
    assert wrong_estimates(found) == []
    stops = [each for each in found if each.kind == STOP]
    assert max(abs(each.error_ms + each.fetched_ms - each.late_ms) for each in stops) < 100


@pytest.mark.soak
@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("seed", "version"), [(81103, "4.2.1"), (82102, "4.0.2"), (82103, "4.3.1")]
)
def test_a_generation_costs_what_each_member_had(play: Play, seed: int, version: str) -> None:
    """Some members wait half a minute for others that have more. One with six of eleven partitions is
    told by the answer to its SyncGroup, 40 ms before the next generation: it had stopped before the
    one that it never synced.
    """
    recording = play(Played(seed, 24, 0.5, "classic", version))
    history = History(read_truth(recording))
    found = estimates_of(recording, history, Told(history))
    stops = [each for each in found if each.kind == STOP]
    assert len(stops) > 40
    assert max(abs(each.error_ms + each.fetched_ms - each.late_ms) for each in stops) < 20


@pytest.mark.long
@pytest.mark.interpreted
def test_who_waits_for_a_leader_that_died_stopped_when_it_was_told(play: Play) -> None:
    """A leader crashes in the join phase, so its generation has no K2. Its session runs out 45 s later.
    A member with five partitions had read them for 3 s after the K2 before, until it was told to
    join, and not for 79.5 s."""
    recording = play(Played(881120003, 60, 0.15, "classic", "4.4.0"))
    history = History(read_truth(recording))
    found = estimates_of(recording, history, Told(history))
    stops = [each for each in found if each.kind == STOP]
    assert 79_471 in {each.true_ms for each in stops}
    assert wrong_estimates(found) == []


@pytest.mark.long
@pytest.mark.interpreted
def test_how_late_a_member_polls_is_no_error_of_an_estimate(play: Play) -> None:
    """Four members of 34 generations hear of a rebalance seconds before they poll, and read until
    then."""
    recording = play(Played(908, 24, 0.5, "classic", "4.0.2"))
    history = History(read_truth(recording))
    found = estimates_of(recording, history, Told(history))
    stops = [each for each in found if each.kind == STOP]
    assert sorted(each.late_ms for each in stops)[-4] > 2_000
    assert wrong_estimates(found) == []


@pytest.mark.long
@pytest.mark.interpreted
def test_a_callback_shows_by_any_commit_and_who_asks_itself_is_not_told(play: Play) -> None:
    """Brokers gather records for 200 ms. A member commits one of its partitions in its callback, and
    none of the other two. Another begins one since its topics changed, nine seconds before anybody
    joins, and is removed as it comes too late.
    """
    recording = play(Played(901, 24, 0.5, "classic", "4.0.2"))
    history = History(read_truth(recording))
    assert wrong_estimates(estimates_of(recording, history, Told(history))) == []


@pytest.mark.long
@pytest.mark.interpreted
def test_what_others_read_meanwhile_is_no_error_of_what_was_asked_back(play: Play) -> None:
    """A member gives two partitions up. Eight seconds later a process that was removed long ago thaws,
    and reads them until it hears of that; then their next holder comes."""
    recording = play(Played(619551000, 60, 0.15, "consumer", "4.0.2"))
    found = estimates_of(recording, History(read_truth(recording)), Told())
    asked = [each for each in found if each.kind == "ASKED"]
    assert 12_934 in {each.est_ms for each in asked}
    assert max(abs(each.error_ms) for each in asked) < 100


@pytest.mark.interpreted
def test_what_nobody_was_to_read_is_no_cost_of_the_member_that_gets_it(play: Play) -> None:
    """A group is empty for two minutes, and then has a member that does not subscribe to a topic. One
    minute later another gets three partitions of it, stands still, and goes after 76 s. By the last
    commit nobody had read them for 248 s.
    """
    recording = play(Played(714, 16, 0.4, "classic", "4.0.2"))
    found = estimates_of(recording, History(read_truth(recording)), Told())
    assert sum(each == Estimate(CLASSIC_REMOVED, 76_045, 76_045, 0) for each in found) == 5


@pytest.mark.soak
@pytest.mark.interpreted
def test_what_a_member_never_read_costs_from_when_it_had_it(play: Play) -> None:
    """Eight partitions come to members of a cooperative group that stand still, and go 45 s later. By
    the last commits of other partitions these had stopped 84 and 91 s before.
    """
    recording = play(Played(81101, 24, 0.5, "classic", "4.4.0"))
    history = History(read_truth(recording))
    found = estimates_of(recording, history, Told(history))
    assert sum(each == Estimate(CLASSIC_REMOVED, 45_067, 45_067, 0) for each in found) == 8
    assert wrong_estimates(found) == []


@pytest.mark.soak
@pytest.mark.interpreted
def test_when_a_static_member_was_closed_no_record_shows(play: Play) -> None:
    """Two static members of a cooperative group are closed while their joins wait, 2.8 and 19.3 s
    before the answers take partitions from them."""
    recording = play(Played(82103, 24, 0.5, "classic", "4.3.1"))
    found = estimates_of(recording, History(read_truth(recording)), Told())
    gaps = [each for each in found if each.kind == f"classic {GAP}"]
    assert len(gaps) > 50
    assert max(abs(each.error_ms + each.fetched_ms - each.answered_ms) for each in gaps) < 100
