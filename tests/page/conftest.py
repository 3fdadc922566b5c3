"""One browser for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import Open, opening, started_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started_browser() as started:
        yield started


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    with opening(browser) as opened:
        yield opened
