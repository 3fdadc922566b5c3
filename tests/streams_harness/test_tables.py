"""docs/learner-tasks.md shows each worked example as it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.streams_harness.examples import EXAMPLES
from tests.streams_harness.tables import table

PAGE = (Path(__file__).parents[2] / "docs" / "learner-tasks.md").read_text()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_page_shows_the_example(name: str) -> None:
    assert table(name) in PAGE
