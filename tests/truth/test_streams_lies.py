"""Every check of Kafka Streams against the truth finds the facts that are not true."""

from __future__ import annotations

import pytest

from tests.truth.streams_lies import LIES, Lie, stuck_for_a_minute
from tests.truth.streams_tables import StreamsTables
from tests.truth.streams_truth import streams_truth_of
from tests.truth.test_streams_truth import CHECKS, replayed


@pytest.mark.long
@pytest.mark.parametrize("lie", LIES, ids=str)
def test_a_lie_is_found(lie: Lie) -> None:
    tables, truth = replayed(lie.recording), streams_truth_of(lie.recording)
    unnoticed, told = [], 0
    for fact, facts in lie.told(tables.facts):
        told += 1
        if not lie.check(truth, StreamsTables(facts, tables.as_of_ms)):
            unnoticed.append(fact)
    assert told
    least = told if lie.found is None else lie.found
    assert told - len(unnoticed) >= least, "\n".join(map(str, unnoticed[:3]))


def test_every_check_is_lied_to() -> None:
    assert {lie.check for lie in LIES} == {*CHECKS, stuck_for_a_minute}
