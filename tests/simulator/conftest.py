"""Recordings that the tests of the simulator share: each is played once a session."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulator.played import Played
from tests.simulator.simulate import simulate

Play = Callable[[Played], Path]


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    """Plays a history, or gives the recording of it that is there already."""
    if shutil.which("javac") is None:
        pytest.skip("javac is not on the PATH: Kafka's coordinator is played by a JDK, 17 or later")
    home = tmp_path_factory.mktemp("simulated")

    def played(history: Played) -> Path:
        folder = home / history.name
        if not folder.exists():
            simulate(
                folder,
                history.seed,
                history.groups,
                history.hours,
                history.profile,
                history.version,
            )
        return folder

    return played
