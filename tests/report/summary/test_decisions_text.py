"""What a person reads of what can be decided. A night that has all of it is in `test_text.py`."""

from __future__ import annotations

from dataclasses import replace

from groupreplay.report.summary.decisions_model import (
    CostlyWave,
    Decisions,
    TierGroups,
    WorstGroup,
)
from groupreplay.report.summary.decisions_text import decision_lines
from groupreplay.report.summary.model import NightSummary
from groupreplay.report.summary.text import summary_lines
from tests.report.summary.small_night import NIGHT
from tests.report.summary.small_night_summary import SUMMARY


def test_groups_of_the_first_two_tiers_can_be_flipped_tonight() -> None:
    tiers = tuple(TierGroups(tier, groups) for tier, groups in ((1, 3), (2, 1), (3, 5), (0, 2)))
    assert decision_lines(Decisions(tiers=tiers)) == [
        "DECISIONS: 4 groups can be flipped to the consumer protocol tonight, 5 after their"
        " canaries, 2 while offline"
    ]


def test_nothing_is_said_of_decisions_where_there_are_none() -> None:
    assert not any(
        "DECISIONS" in line for line in summary_lines(replace(SUMMARY, decisions=Decisions()))
    )


def test_costs_that_are_not_known_whole_are_bounds() -> None:
    decisions = Decisions(
        tiers=(TierGroups(None, 4),),
        wave=CostlyWave("g", None, "CRASH", 0, 1, 0, None, 2_000, False),
        worst=WorstGroup("g", "payments", 97.126, None),
    )
    lines = summary_lines(NightSummary("c", NIGHT, None, decisions=decisions))
    first = lines.index("DECISIONS: 0 groups can be flipped to the consumer protocol tonight")
    assert lines[first + 1 : first + 3] == [
        "  costliest wave: g, CRASH at 1970-01-01 00:00:00, 1 out and 0 in; stopped for at least"
        " 2.0 s in all",
        "  worst group: g (payments), its partitions were read at most 97.13 % of the time",
    ]
