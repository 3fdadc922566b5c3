"""What a run has made of its plan so far."""

from __future__ import annotations

import pytest

from groupreplay.night.landing.landed import LinesLanding, RecordsLanding
from groupreplay.night.plans.results import Results


def test_kinds_are_those_of_facts_and_of_all_raw_rows() -> None:
    results = Results(
        landing=RecordsLanding(kinds=("record", "unit")),
        lines=LinesLanding(kinds=("line", "file")),
        staged_kinds=("epoch",),
    )
    assert results.kinds == {"record", "unit", "line", "file", "epoch"}
    assert Results(landing=RecordsLanding()).kinds == frozenset()


def test_before_it_has_landed_a_run_has_no_landing() -> None:
    with pytest.raises(AssertionError, match="has landed"):
        _ = Results().landed
    landing = RecordsLanding(rows=3)
    assert Results(landing=landing).landed is landing
