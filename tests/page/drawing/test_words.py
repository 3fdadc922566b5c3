"""Numbers, times and enums as a person reads them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groupreplay.page.drawing import words as w
from groupreplay.report.stuck.episodes import (
    CHAIN_THRESHOLDS,
    COUNT_THRESHOLDS,
    STALL_THRESHOLDS,
)

SCHEMAS = Path(__file__).parents[3] / "schemas"


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (None, "–"),
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (99_949, "99.9 s"),
        (99_951, "1 min 40 s"),
        (3_600_000, "1 h"),
        (5_400_000, "1 h 30 min"),
        (90_000_000, "1 d 1 h"),
        (10**17, "1,157,407,407 d 9 h"),
    ],
)
def test_durations(ms: int | None, shown: str) -> None:
    assert w.lasted(ms) == shown.replace(" ", w.NB)


def test_a_time_that_no_calendar_has_is_shown_too() -> None:
    assert w.at(10**18) == "1,000,000,000,000,000,000 ms"
    assert w.when(10**18).endswith("ms after 1970")
    assert w.when(0) == "1 Jan 00:00:00"
    assert (w.at(None), w.when(None)) == ("–", "–")


def test_what_is_nearly_always_there_is_not_rounded_up() -> None:
    assert w.availability(99.9999) == "99.999" + w.NB + "%"
    assert w.availability(100.0) == "100" + w.NB + "%"
    assert w.availability(None) == "–"


def test_an_enum_that_is_new_is_shown_as_it_is() -> None:
    assert w.word(w.REASON, "A_NEW_ONE") == "A_NEW_ONE"
    assert w.word(w.REASON, None) == "–"


def test_plurals() -> None:
    assert (w.some(1, "group"), w.some(2_000, "group")) == ("1 group", "2,000 groups")


NAMED = {
    ("group_epochs", "cause"): w.CAUSE,
    ("streams_rebalances", "cause"): w.CAUSE,
    ("rebalances", "cause"): w.CAUSE,
    ("group_epochs", "outcome"): w.OUTCOME,
    ("revocation_latencies", "outcome"): w.OUTCOME,
    ("task_handovers", "outcome"): w.OUTCOME,
    ("task_handovers", "kind"): w.MOVE,
    ("members", "end_reason"): w.END,
    ("streams_processes", "end_reason"): w.END,
    ("departure_waves", "class"): w.WAVE,
    ("what_if", "scenario"): w.SCENARIO,
    ("what_if", "basis"): w.BASIS,
    ("what_if", "refused"): w.REFUSED,
    ("static_accounting", "outcome"): w.ABSENCE,
    ("readiness", "verdict"): w.VERDICT,
    ("readiness", "severity"): w.SEVERITY,
    ("coordinator_failovers", "phase"): w.DURING,
    ("migration_progress", "phase"): w.PHASE,
}
"""(table, column) of an enum -> its words."""


@pytest.mark.parametrize(("column", "words"), NAMED.items(), ids=map(".".join, NAMED))
def test_each_value_that_a_table_names_has_words(
    column: tuple[str, str], words: dict[str, str]
) -> None:
    table, name = column
    text = (SCHEMAS / f"{table}.sql").read_text(encoding="utf-8")
    found = re.search(rf"^ +{name}\b[^']*COMMENT ((?:'[^']*'\s*)+)", text, re.MULTILINE)
    assert found is not None
    values = set(re.findall(r"\b[A-Z][A-Z_]+\b", found[1])) - {"NULL"}
    assert len(values) > 1
    assert values - words.keys() == set()


def test_each_reason_to_be_stuck_has_words() -> None:
    reasons = {*STALL_THRESHOLDS, *COUNT_THRESHOLDS, *CHAIN_THRESHOLDS}
    assert reasons == w.REASON.keys()


def test_each_cause_and_each_tier_has_two_wordings() -> None:
    assert w.CAUSE.keys() == w.SHORT_CAUSE.keys()
    assert w.TIER.keys() == w.TIER_OF_SEVERAL.keys()
