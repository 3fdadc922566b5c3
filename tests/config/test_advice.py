"""What an error in a configuration says was expected, and which key was meant."""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.config.advice import below, expected, nearest, nearest_key, places
from groupreplay.config.model import Config


def test_a_key_is_told_with_its_place() -> None:
    assert (below("", "cluster"), below("thresholds", "gap_ms")) == ("cluster", "thresholds.gap_ms")


@pytest.mark.parametrize(
    ("hint", "metadata", "words"),
    [
        (str, {}, "a text"),
        (bool, {}, "true or false"),
        (int, {"min": 0, "max": 9}, "a whole number from 0 to 9"),
        (int | None, {"min": 0, "max": 9}, "a whole number from 0 to 9, or null"),
        (str, {"expected": "an IANA name"}, "an IANA name"),
        (tuple[int, ...], {}, "a list of sources"),
        (Config, {}, "a mapping"),
    ],
)
def test_what_was_expected_is_said_in_words(
    hint: Any, metadata: dict[str, Any], words: str
) -> None:
    assert expected(hint, metadata) == words


def test_a_name_that_is_near_is_the_one_that_was_meant() -> None:
    assert nearest("clster", ["cluster", "warehouse"]) == "; did you mean 'cluster'?"
    assert nearest("CLUSTER", ["cluster", "warehouse"]) == "; did you mean 'cluster'?"
    assert nearest("xyz", ["cluster", "warehouse"]) == "; expected one of cluster, warehouse"


def test_a_key_that_belongs_elsewhere_is_told_where() -> None:
    """Every key has one place, whatever section it was written in."""
    where = dict(places(Config, ""))
    assert where["static_limbo_ms"] == "thresholds.static_limbo_ms"
    assert nearest_key("static_limbo_ms", ["cluster"]) == (
        "; did you mean 'thresholds.static_limbo_ms'?"
    )
    assert nearest_key("clster", ["cluster"]) == "; did you mean 'cluster'?"


def test_what_is_computed_is_no_key() -> None:
    assert "config_hash" not in dict(places(Config, ""))
