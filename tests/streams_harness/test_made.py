"""What is kept is what Kafka's own assignor decides: made again, it is the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.streams_harness.assignor import Assignor
from tests.streams_harness.examples import EXAMPLES
from tests.streams_harness.make import PLACEMENTS, SCENARIOS, parts_of, placements, scenario

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def assignor() -> Iterator[Assignor]:
    if shutil.which("javac") is None:
        pytest.skip("javac is not on the PATH: Kafka's assignor is played by a JDK, 17 or later")
    with Assignor() as one:
        yield one


@pytest.mark.soak
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_scenario_made_again_is_the_same(assignor: Assignor, name: str) -> None:
    kept, _ = parts_of((SCENARIOS / f"{name}.yaml").read_text())
    assert scenario(assignor, EXAMPLES[name]) == kept


def test_what_follows_is_not_made() -> None:
    text = "why: x\nentries:\n- {k2: 1}\ndecided: []\n"
    assert parts_of(text) == (text, "")
    assert parts_of(text + "facts:\n  a: []\nanomalies: []\n") == (
        text,
        "facts:\n  a: []\nanomalies: []\n",
    )


@pytest.mark.soak
def test_placements_made_again_are_the_same(assignor: Assignor) -> None:
    assert placements(assignor) == PLACEMENTS.read_text()
