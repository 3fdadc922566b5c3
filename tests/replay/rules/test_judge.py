"""What checks find becomes rows of `anomalies`."""

from __future__ import annotations

import pytest

from groupreplay.replay.facts import Anomaly
from groupreplay.replay.life import CONSUMER, Life
from groupreplay.replay.output import Output
from groupreplay.replay.rules.finding import Finding
from groupreplay.replay.rules.judge import Judge
from tests.support.sentences import said


def judged(*findings: Finding) -> list[Anomaly]:
    output = Output()
    Judge(Life("g", 3, 10, CONSUMER), output).note(findings)
    return [each for each in output.take() if isinstance(each, Anomaly)]


def test_a_finding_is_a_row_with_the_name_of_its_rule_and_its_parameters() -> None:
    params = {"epoch": "7", "before": "5"}
    (row,) = judged(Finding("I4", 2_000, 40, "EPOCH_NOT_NEXT", params))
    assert (row.group_id, row.incarnation, row.offsets_partition) == ("g", 10, 3)
    assert (row.rule.partition("_")[0], row.severity) == ("I4", "ERROR")
    assert (row.detected_at, row.evidence_offset, row.is_final) == (2_000, 40, True)
    assert (row.detail_code, row.detail_names, row.detail_values) == (
        "EPOCH_NOT_NEXT",
        ["epoch", "before"],
        ["7", "5"],
    )
    assert "7" in said(row)


def test_a_clock_that_goes_back_is_no_invariant_and_a_row_all_the_same() -> None:
    output = Output()
    Judge(Life("g", 3, 10, CONSUMER), output).note_negative(2_000, 40, "revoke_ms", 12)
    (row,) = output.take()
    assert isinstance(row, Anomaly)
    assert (row.rule, row.detail_values) == ("NEGATIVE_DURATION", ["revoke_ms", "12"])


def test_a_rule_that_nobody_knows_is_an_error_of_the_machine() -> None:
    with pytest.raises(KeyError):
        judged(Finding("I99", 0, 0, "EPOCH_NOT_NEXT", {}))
