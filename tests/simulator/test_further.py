"""What `further` says of a history in which something is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from groupreplay.replay.facts import Stall
from tests.simulator import check_compaction, check_episodes, further
from tests.simulator.conftest import Play
from tests.simulator.played import Played
from tests.simulator.replayed import replay_recording
from tests.simulator.truth import read_truth

HISTORY = Played(10, 12, 0.2, "all", "4.2.1")
"""`test_episodes` plays it too."""

OF_STREAMS = Played(2, 8, 0.3, "streams", "4.3.1")
"""`test_streams` plays it too."""


def test_stretches_that_are_gone_are_counted_and_the_first_are_shown(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = play(HISTORY)
    replayed = replay_recording(recording)
    stalls = replayed.facts[Stall]
    gone = [each for each in replayed.of(Stall) if each.reason == "NOT_RECONCILING"][:5]
    replayed.facts[Stall] = [each for each in stalls if each not in gone]
    monkeypatch.setattr(further, "replay_recording", lambda _: replayed)
    monkeypatch.setattr(further, "CLEANINGS", 0)
    monkeypatch.setattr(further, "CUTS", 0)
    monkeypatch.setattr(further, "MISSING", 0)
    found = further.look_further(recording, read_truth(recording), HISTORY.seed)
    assert found.differ == len(gone) == 5
    (told,) = found.wrong
    assert told.count("-- NOT_RECONCILING.(missing)") == further.SHOWN


@pytest.mark.parametrize(
    "check", [check_compaction, check_episodes], ids=lambda each: each.__name__
)
def test_groups_of_streams_are_not_held_to_what_other_groups_were(
    check: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"simulated": {"profile": "streams-static"}}
    (tmp_path / "recording.json").write_text(json.dumps(said))
    with pytest.raises(SystemExit):
        check.main([f"{tmp_path}"])
    assert "check_streams" in capsys.readouterr().err


@pytest.mark.long
def test_what_lines_prove_of_groups_of_streams_is_compared_too(play: Play) -> None:
    recording, seed = play(OF_STREAMS), OF_STREAMS.seed
    found = further.look_further(recording, read_truth(recording), seed, has_truth=False)
    without, nights = found.compared
    assert "statements without" in without
    assert "nights" in nights
    assert not found.wrong
