"""Sections of the overview that decisions are made by: which groups can be flipped, what deploys
cost, and how long partitions were not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from groupreplay.page.drawing import charts
from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el
from groupreplay.page.drawing.parts import (
    AT_LEAST_AT_MOST,
    STOPPED_FOR,
    at_most,
    group_link,
    live_line,
    same_as_numbers,
    section,
    stopped_for,
    table,
    td,
    th,
)
from groupreplay.page.model.fleet import CostDay, CostGroup, Fleet, Flip, Wave

FLIP_ORDER: Final = (1, 2, 0, 3)
"""Tiers in the order in which one flips."""


def readiness(fleet: Fleet) -> Safe:
    counted = {
        tier: sum(each.groups for each in fleet.verdicts if each.flip_tier == tier)
        for tier in FLIP_ORDER
    }
    blocked = sum(each.groups for each in fleet.verdicts if each.verdict == "BLOCKED")
    sentences = [
        f"{w.some(many, 'group')}: {(w.TIER if many == 1 else w.TIER_OF_SEVERAL)[tier]}."
        for tier in FLIP_ORDER
        if (many := counted[tier])
    ]
    sentences += [f"{w.some(blocked, 'group')} blocked." if blocked else ""]
    lead = " ".join(["Which classic groups can be flipped tonight.", *sentences]).strip()
    return section(
        "readiness",
        "Readiness",
        lead,
        table(
            "Groups to flip next, in this order",
            [
                th("Group", "g"),
                th("Why now", "p1"),
                th("Verdict"),
                th("Partitions", "r p1"),
                th("Assignor", "p2"),
                th("Look at", "p1", sorts=False),
                th("Team", "p2"),
            ],
            [_flip_row(fleet, each) for each in fleet.flips],
            "No group is ready to be flipped online tonight.",
            counted[1] + counted[2],
        ),
        table(
            "What stands in the way, by groups",
            [
                th("Rule"),
                th("Severity"),
                th("Groups", "r", order="descending"),
                th("For example", "g"),
            ],
            [
                el(
                    "tr",
                    td(each.rule),
                    td(w.word(w.SEVERITY, each.severity)),
                    td(w.n(each.groups), "r", each.groups),
                    td(each.detail or w.NONE, "say2 g"),
                )
                for each in fleet.rules
            ],
            "No rule stands in the way of a group.",
        ),
    )


def _flip_row(fleet: Fleet, each: Flip) -> Safe:
    return el(
        "tr",
        td(group_link(fleet, each.group_id), "g"),
        td(
            w.TIER.get(each.flip_tier, str(each.flip_tier)),
            "p1",
            each.flip_tier,
            w.cohort(each.cohort),
        ),
        td(w.word(w.VERDICT, each.verdict)),
        td(
            w.NONE if each.partitions is None else w.n(each.partitions),
            "r p1",
            each.partitions or 0,
        ),
        td(each.suggested_assignor or w.NONE, "p2"),
        td(", ".join(each.look_at) or w.NONE, "p1"),
        td(each.team or w.NONE, "p2"),
    )


def waves(fleet: Fleet) -> Safe:
    counted = ", ".join(
        f"{w.word(w.WAVE, each.wave)} {w.n(each.waves)}" for each in fleet.wave_counts
    )
    lead = "Joins and departures that belong together: deploys, scalings, crashes." + (
        f" In this night: {counted}. {STOPPED_FOR}" if counted else ""
    )
    most = max((each.stopped_ms or 0 for each in fleet.waves), default=1)
    return section(
        "waves",
        "Waves",
        lead,
        table(
            "Waves of this night, those first for which partitions stopped longest",
            [
                th("Wave"),
                th("Group", "g"),
                th("Began", "p1"),
                th("Lasted", "r p1"),
                th("Out, in", "r p1", sorts=False),
                th("Rebalances", "r p2"),
                th("Moved", "r p2"),
                th("Partitions stopped", "w120 p1", order="descending"),
                th("For", "r", sorts=False),
                th("Team", "p2"),
            ],
            [_wave_row(fleet, each, most) for each in fleet.waves],
            "No member came or went in this night.",
            sum(each.waves for each in fleet.wave_counts),
        ),
    )


def _wave_row(fleet: Fleet, each: Wave, most: int) -> Safe:
    lasted_ms = each.ended_at_ms - each.started_at_ms
    return el(
        "tr",
        td(el("span", w.word(w.WAVE, each.wave), title=each.wave)),
        td(group_link(fleet, each.group_id), "g"),
        td(w.when(each.started_at_ms), "p1", each.started_at_ms),
        td(w.lasted(lasted_ms), "r p1", lasted_ms),
        td(f"{w.n(each.departed)}, {w.n(each.joined)}", "r p1"),
        td(w.NONE if each.epochs is None else w.n(each.epochs), "r p2", each.epochs or 0),
        td(w.NONE if each.moved is None else w.n(each.moved), "r p2", each.moved or 0),
        td(charts.bar(each.stopped_ms or 0, most, "f-ink"), "w120 p1", each.stopped_ms or 0),
        td(stopped_for(each.stopped_ms, is_estimate=each.is_estimate), "r", each.stopped_ms or 0),
        td(each.team or w.NONE, "p2"),
    )


def _cost_chart(days: Sequence[CostDay]) -> tuple[Safe, ...]:
    """None where every day has 0 ms: it would be an axis without a scale."""
    return (charts.cost_columns(days), live_line()) if any(each.low_ms for each in days) else ()


def costs(fleet: Fleet) -> Safe:
    days = fleet.cost_days
    rows = [
        (
            w.night(date.fromisoformat(day.day)),
            w.lasted(day.low_ms),
            at_most(day.high_ms, day.high_unknown),
            w.availability(_available(day.low_ms, day.partitions_ms)),
            w.n(day.moved),
            w.n(day.returned),
        )
        for day in reversed(days)
    ]
    heads = ("Day", "Not read, at least", "At most", "Read, at most", "Moved", "Moved back")
    drawn = (
        el(
            "div",
            el("h3", "How long partitions were not read at least, a day, all added up"),
            *_cost_chart(days),
            same_as_numbers("What partitions were not read, a day", heads, rows),
            cls="narrow",
        )
        if days
        else None
    )
    most = max((each.low_ms for each in fleet.cost_groups), default=1)
    return section(
        "costs",
        "Costs",
        f"A partition between two owners is read by nobody. {AT_LEAST_AT_MOST}",
        drawn,
        table(
            "Groups that paid most on the days of this night",
            [
                th("Group", "g"),
                th("Not read, at least", "w120", order="descending"),
                th("For", "r", sorts=False),
                th("At most", "r"),
                th("Read, at most", "r p1"),
                th("Longest hand-over", "r p1"),
                th("Moved", "r p2"),
                th("Moved back", "r p2"),
                th("Team", "p2"),
            ],
            [_cost_row(fleet, each, most) for each in fleet.cost_groups],
            "No partition was without a reader.",
        ),
    )


def _cost_row(fleet: Fleet, each: CostGroup, most: int) -> Safe:
    available = _available(each.low_ms, each.partitions_ms)
    return el(
        "tr",
        td(group_link(fleet, each.group_id), "g"),
        td(charts.bar(each.low_ms, most, "f-ink"), "w120", each.low_ms),
        td(w.lasted(each.low_ms), "r", each.low_ms),
        td(at_most(each.high_ms, each.high_unknown), "r", each.high_ms),
        td(w.availability(available), "r p1", available or 0),
        td(w.lasted(each.handover_max_ms), "r p1", each.handover_max_ms or 0),
        td(w.n(each.moved), "r p2", each.moved),
        td(w.n(each.returned), "r p2", each.returned),
        td(each.team or w.NONE, "p2"),
    )


def _available(lost_ms: int, partitions_ms: int) -> float | None:
    return max(0.0, 100 * (1 - lost_ms / partitions_ms)) if partitions_ms else None
