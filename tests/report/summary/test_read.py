"""Rows of the queries to the model, without Spark."""

from __future__ import annotations

import random

from groupreplay.report.summary.model import BrokenRule, NightSummary
from groupreplay.report.summary.read import Found, night_summary
from tests.report.summary.small_night import AS_OF_MS, NIGHT
from tests.report.summary.small_night_found import FOUND
from tests.report.summary.small_night_summary import SUMMARY


def read(found: Found) -> NightSummary:
    return night_summary(found, cluster="prod", logical_date=NIGHT, as_of_ms=AS_OF_MS)


def test_rows_become_the_model() -> None:
    assert read(FOUND) == SUMMARY


def test_the_order_of_rows_does_not_matter() -> None:
    for seed in range(20):
        shuffled = {
            name: random.Random(seed).sample(rows, len(rows)) for name, rows in FOUND.items()
        }
        assert read(shuffled) == SUMMARY


def test_a_query_that_was_not_run_leaves_its_part_empty() -> None:
    assert read({}) == NightSummary("prod", NIGHT, AS_OF_MS)
    only = read({"coverage": FOUND["coverage"]})
    assert only.seen.coverage == SUMMARY.seen.coverage
    assert only.migration == NightSummary("prod", NIGHT, AS_OF_MS).migration


def test_acked_hand_overs_without_a_time_have_no_percentiles() -> None:
    hand_overs = read(
        {"hand_overs": [{"outcome": "ACKED", "partitions": 2, "revoke_ms": None}]}
    ).hand_overs
    assert (hand_overs.acked_half_ms, hand_overs.acked_99_pct_ms) == (None, None)
    assert hand_overs.outcomes[0].partitions == 2


def test_groups_are_ranked_by_how_long_they_are_mixed() -> None:
    row = FOUND["half_way"][0]
    rows = [
        row | {"group_id": name, "mixed_since_at_ms": since}
        for name, since in (("unseen", None), ("new", 9), ("b", 5), ("a", 5))
    ]
    half_way = read({"half_way": rows}).migration.half_way
    assert [each.group_id for each in half_way] == ["a", "b", "new", "unseen"]


def test_a_severity_that_is_not_known_comes_first() -> None:
    rows = [*FOUND["anomalies"], {"severity": "FATAL", "rule": "I2", "rows": 1}]
    broken = read({"anomalies": rows}).seen.broken_rules
    assert broken[0] == BrokenRule("FATAL", "I2", 1)
    assert broken[1:] == SUMMARY.seen.broken_rules
