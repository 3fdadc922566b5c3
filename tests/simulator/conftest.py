"""Recordings that the tests of the simulator share: each is played once, and kept beside the classes
that played it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulator.played import Played
from tests.simulator.simulate import compiled, simulate
from tests.support.kafka_jars import only_one

Play = Callable[[Played], Path]


@pytest.fixture(scope="session")
def play() -> Play:
    """Plays a history, or gives the recording of it that is there already: the same sources make the
    same bytes (`wire/test_simulated_logs.py`). Nobody writes to it.
    """
    if shutil.which("javac") is None:
        pytest.skip("javac is not on the PATH: Kafka's coordinator is played by a JDK, 17 or later")

    def played(history: Played) -> Path:
        sizes = f"{history.groups}-{history.hours}"
        folder = compiled(history.version) / "played" / f"{history.name}-{sizes}"
        with only_one(folder):
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
