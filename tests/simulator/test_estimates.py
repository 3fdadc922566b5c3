"""Estimates of histories in which one looked wrong once."""

from __future__ import annotations

import pytest

from groupreplay.replay.kept.transition import AWAY
from tests.simulator.conftest import Play
from tests.simulator.expected.estimates import Told, estimates_of
from tests.simulator.expected.history import History
from tests.simulator.played import Played
from tests.simulator.truth import read_truth


@pytest.mark.interpreted
def test_what_a_process_reads_after_its_removal_counts_as_not_read(play: Play) -> None:
    """A static member leaves for a while. Before it is removed, another process thaws that had been
    removed long ago, and reads two of its partitions for 26 ms, until it hears of that."""
    recording = play(Played(207, 20, 0.4, "static", "4.0.2"))
    found = estimates_of(recording, History(read_truth(recording)), Told())
    away = [each for each in found if each.kind == AWAY]
    assert {42_463, 45_405} <= {each.est_ms for each in away}
    assert max(abs(each.error_ms + each.fetched_ms) for each in away) < 100
