"""Checks of single values."""

from __future__ import annotations

import pytest

from groupreplay.config.checks import dotted


@pytest.mark.parametrize(
    ("less", "more"), [("2.4", "2.12"), ("3.9.2", "4.0"), ("4.0", "4.0.1"), ("9.9.9", "10.0")]
)
def test_versions_compare_as_numbers(less: str, more: str) -> None:
    assert dotted(less) < dotted(more)
    assert dotted("4.0") == dotted("4.0.0")
