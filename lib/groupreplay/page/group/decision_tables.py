"""Tables of a group that decisions are made by: whether it can be flipped, who was gone, moves of
its coordinator, waves and what they would have cost otherwise, and what days cost.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, join, name
from groupreplay.page.drawing.parts import (
    AT_LEAST_AT_MOST,
    STOPPED_FOR,
    at_most,
    section,
    stopped_for,
    table,
    td,
    th,
)
from groupreplay.page.group.table_rows import LIFE_HEAD, Shared, most_rows, shared_by
from groupreplay.page.model.life import Absence, Failover, GroupDay, GroupLife, PricedWave, Refusal
from groupreplay.page.timeline.lanes import Lanes


def readiness_section(life: GroupLife) -> Safe:
    verdict = life.verdict
    assert verdict is not None
    tier = w.TIER.get(verdict.flip_tier) if verdict.flip_tier is not None else None
    lead = (
        f"{w.word(w.VERDICT, verdict.verdict).capitalize()}. Cohort {w.cohort(verdict.cohort)}"
        + (f"; {tier}" if tier else "")
        + (
            f". Watched for {w.lasted(verdict.observed_ms)}"
            if verdict.observed_ms is not None
            else ""
        )
        + (
            f". Its assignor on the consumer protocol would be {verdict.suggested_assignor}"
            if verdict.suggested_assignor is not None
            else ""
        )
        + "."
    )
    rows = [
        el(
            "tr",
            td(rule),
            td(w.word(w.SEVERITY, severity)),
            td(detail or w.NONE, "say2"),
        )
        for rule, severity, detail in verdict.rules
    ]
    return section(
        "readiness",
        "Readiness",
        lead,
        table(
            "Rules that fired",
            [th("Rule"), th("Severity"), th("What that means")],
            rows,
            "No rule fired.",
        ),
    )


def others_section(life: GroupLife) -> Safe | None:
    """Refusals, waves, what they would have cost, and what days cost: each where there is any."""
    tables = [
        _refusals_table(life) if life.refusals else None,
        _with_note(_waves_table(life), STOPPED_FOR) if life.waves else None,
        _what_if(life) if life.what_if else None,
        _with_note(_days_table(life), AT_LEAST_AT_MOST) if life.days else None,
    ]
    if not any(tables):
        return None
    return section("costs", "Waves and costs", None, *tables)


def _refusals_table(life: GroupLife) -> Safe:
    return table(
        f"Requests that were refused ({w.n(len(life.refusals))})",
        [th("First at"), th("Client", "g"), th("Why"), th("Request", "p1"), th("Times", "r")],
        [_refusal_row(each, shared_by(life)) for each in life.refusals[: most_rows(life)]],
        "",
        len(life.refusals),
    )


def _refusal_row(each: Refusal, shared: Shared) -> Safe:
    return el(
        "tr",
        shared.time_cell(each.first_at_ms),
        td(name(each.client_id or each.subject), "g"),
        td(each.refusal, title=each.message),
        td(each.api, "p1"),
        td(w.n(each.attempts), "r", each.attempts),
    )


def _with_note(found: Safe, note: str) -> Safe:
    return join([found, el("p", note, cls="note")])


def _waves_table(life: GroupLife) -> Safe:
    shared = shared_by(life)
    return table(
        f"Waves of joins and departures ({w.n(len(life.waves))})",
        [
            th("Began"),
            th("Wave"),
            th("Out, in", "r"),
            th("Moved", "r"),
            th("Partitions stopped for", "r"),
        ],
        [
            el(
                "tr",
                shared.time_cell(each.started_at_ms),
                td(w.word(w.WAVE, each.wave), title=each.wave),
                td(f"{w.n(each.departed)}, {w.n(each.joined)}", "r"),
                td(w.NONE if each.moved is None else w.n(each.moved), "r", each.moved or 0),
                td(
                    stopped_for(each.stopped_ms, is_estimate=each.is_estimate),
                    "r",
                    each.stopped_ms or 0,
                ),
            )
            for each in life.waves[: most_rows(life)]
        ],
        "",
        len(life.waves),
    )


def _days_table(life: GroupLife) -> Safe:
    shared = shared_by(life)
    several = shared.has_lives
    return table(
        f"What days cost ({w.n(len(life.days))})",
        [
            th("Day"),
            *([th(LIFE_HEAD)] if several else []),
            th("Not read, at least", "r"),
            th("At most", "r"),
            th("Read, at most", "r p1"),
            th("Read, at least", "r p1"),
            th("Longest hand-over", "r p1"),
            th("Moved", "r p2"),
            th("Not seen for", "r p2"),
        ],
        [
            el(
                "tr",
                td(each.day),
                _life_cell(each, shared) if several else None,
                td(w.lasted(each.low_ms) if each.partitions_ms else w.NONE, "r", each.low_ms),
                td(
                    at_most(each.high_ms, each.high_unknown) if each.partitions_ms else w.NONE,
                    "r",
                    each.high_ms,
                ),
                td(
                    w.availability(each.availability_most_pct),
                    "r p1",
                    each.availability_most_pct or 0.0,
                ),
                td(
                    w.availability(each.availability_least_pct),
                    "r p1",
                    each.availability_least_pct or 0.0,
                ),
                td(w.lasted(each.handover_max_ms), "r p1", each.handover_max_ms or 0),
                td(w.n(each.moved), "r p2", each.moved),
                td(w.lasted(each.unobserved_ms), "r p2", each.unobserved_ms),
            )
            for each in life.days[-most_rows(life) :]
        ],
        "",
        len(life.days),
    )


def _life_cell(each: GroupDay, shared: Shared) -> Safe:
    """Which life it was, and from when to when of that day."""
    place = shared.lives.index(each.life)
    when = el("span", f": {w.at(each.from_at_ms)} to {w.at(each.to_at_ms)}", cls="p1")
    return td(join([shared.which_life(place), when]), "", place)


# ---------------------------------------------------------------- what if


def _what_if(life: GroupLife) -> Safe:
    """With a note where a wave did cost less here than among the waves."""
    stopped = {each.started_at_ms: each.stopped_ms for each in life.waves if each.is_estimate}
    is_less = any(
        each.actual_ms is not None and each.actual_ms < (stopped.get(each.started_at_ms) or 0)
        for each in life.what_if
    )
    found = _what_if_table(life)
    return _with_note(found, _WITHOUT_SLOWNESS) if is_less else found


_WITHOUT_SLOWNESS: Final = (
    "What it did cost is without the time for which members that polled too late had stopped before"
    " they went: every protocol has that."
)


def _what_if_table(life: GroupLife) -> Safe:
    """The costliest waves first, each with all its scenarios."""
    costs: dict[int, int] = defaultdict(int)
    for each in life.what_if:
        paid_ms = each.actual_ms if each.actual_ms is not None else each.mid_ms
        if each.is_actual or each.actual_ms is not None:
            costs[each.started_at_ms] = max(costs[each.started_at_ms], paid_ms or 0)
    ordered = sorted(
        life.what_if,
        key=lambda each: (
            -costs[each.started_at_ms],
            each.started_at_ms,
            not each.is_actual,
            each.mid_ms is None,
            each.mid_ms or 0,
        ),
    )
    return table(
        f"What waves would have cost under another protocol ({w.n(len(ordered))})",
        [
            th("Wave of"),
            th("Had the group been", "g"),
            th("Rebalances", "r p2"),
            th("Partitions stopped", "r p2"),
            th("For about", "r"),
            th("At least, at most", "r p1", sorts=False),
            th("It did cost", "r p1"),
            th("Difference", "r"),
            th("By times of", "p2"),
        ],
        [_what_if_row(each, shared_by(life)) for each in ordered[: most_rows(life)]],
        "",
        len(ordered),
    )


def _what_if_row(each: PricedWave, shared: Shared) -> Safe:
    scenario: object = w.word(w.SCENARIO, each.scenario)
    if each.is_actual:
        scenario = el("b", scenario, ", as it was")
    bounds = w.NONE if each.mid_ms is None else f"{w.lasted(each.low_ms)}, {w.lasted(each.high_ms)}"
    return el(
        "tr",
        shared.time_cell(each.started_at_ms),
        td(scenario, "g", title=each.scenario),
        td(_count(each.rebalances), "r p2", each.rebalances or 0),
        td(_count(each.stopped_partitions), "r p2", each.stopped_partitions or 0),
        td(w.lasted(each.mid_ms), "r", each.mid_ms or 0),
        td(bounds, "r p1"),
        td(w.lasted(each.actual_ms), "r p1", each.actual_ms or 0),
        td(_difference(each), "r say2", each.delta_pct or 0.0),
        td(w.word(w.BASIS, each.basis), "p2", title=each.basis),
    )


def _difference(each: PricedWave) -> object:
    if each.delta_pct is not None:
        sign = "+" if each.delta_pct > 0 else "−" if each.delta_pct < 0 else ""
        return f"{sign}{abs(each.delta_pct):,.0f}{w.NB}%"
    why = each.refused
    return w.NONE if why is None else el("span", w.word(w.REFUSED, why), cls="dim", title=why)


def _count(value: int | None) -> str:
    return w.NONE if value is None else w.n(value)


# ---------------------------------------------------------------- absences, failovers


def absences_section(life: GroupLife, lanes: Lanes) -> Safe | None:
    """Who was gone, and moves of the coordinator: each where there is any."""
    tables = [
        _absences_table(life, lanes) if life.absences else None,
        _failovers_table(life) if life.failovers else None,
    ]
    if not any(tables):
        return None
    return section("absences", "Who was gone", None, *tables)


def _absences_table(life: GroupLife, lanes: Lanes) -> Safe:
    shared = shared_by(life)
    return table(
        f"Processes that were gone ({w.n(len(life.absences))})",
        [
            th("Gone since"),
            *shared.life_heads(),
            th("Client", "g"),
            th("Member", "p1"),
            th("How it ended"),
            th("Gone for", "r"),
            th("Its session", "r p2"),
            th("Absorbed by 45 s, 60 s", "p2", sorts=False),
            th("Partitions", "r p1"),
            th("Moved", "r p1"),
            th("Nobody read for", "r"),
        ],
        [_absence_row(each, lanes, shared) for each in life.absences[: most_rows(life)]],
        "",
        len(life.absences),
    )


def _absence_row(each: Absence, lanes: Lanes, shared: Shared) -> Safe:
    since = each.left_at_ms or each.removed_at_ms or each.returned_at_ms
    who = each.instance_id or each.client_id or lanes.client(each.member_id)
    cliff = ", but by no session of consumer" if each.is_cliff else ""
    return el(
        "tr",
        shared.time_cell(since),
        shared.life_cell(each.life),
        td(name(who), "g"),
        td(each.membership.lower(), "p1"),
        td(w.word(w.ABSENCE, each.outcome) + cliff, title=each.outcome),
        td(gone_for(each), "r", each.gap_ms or each.gap_low_ms or each.gap_high_ms or 0),
        td(w.lasted(each.own_timeout_ms), "r p2", each.own_timeout_ms),
        td(f"{_whether(each.absorbed_45s)}, {_whether(each.absorbed_60s)}", "p2"),
        td(w.n(each.partitions), "r p1", each.partitions),
        td(_count(each.moved), "r p1", each.moved or 0),
        td(w.lasted(each.blind_ms), "r", each.blind_ms or 0),
    )


def gone_for(each: Absence) -> str:
    """Until it was back, as far as that is known."""
    if each.gap_ms is not None:
        return w.lasted(each.gap_ms)
    if each.gap_low_ms is not None and each.gap_high_ms is not None:
        return f"{w.lasted(each.gap_low_ms)} to {w.lasted(each.gap_high_ms)}"
    if each.gap_low_ms is not None:
        return f"≥ {w.lasted(each.gap_low_ms)}"
    return w.NONE if each.gap_high_ms is None else f"≤ {w.lasted(each.gap_high_ms)}"


def _whether(value: bool | None) -> str:
    return {True: "yes", False: "no", None: w.NONE}[value]


def _failovers_table(life: GroupLife) -> Safe:
    return table(
        f"Moves of the coordinator ({w.n(len(life.failovers))})",
        [
            th("Last record before"),
            th("Silent for", "r"),
            th("The group was"),
            th("To broker", "r p1"),
            th("Loaded in", "r p2"),
            th("No answer for", "r p2"),
            th("Epochs within a minute", "r p1"),
            th("Removed", "r p1"),
            th("Moved", "r"),
        ],
        [_failover_row(each, shared_by(life)) for each in life.failovers[: most_rows(life)]],
        "",
        len(life.failovers),
    )


def _failover_row(each: Failover, shared: Shared) -> Safe:
    moved_from = "" if each.moved_from is None else f"{each.moved_from} to "
    broker = w.NONE if each.broker is None else f"{moved_from}{each.broker}"
    return el(
        "tr",
        shared.time_cell(each.last_at_ms),
        td(w.lasted(each.gap_ms), "r", each.gap_ms or 0),
        td(w.word(w.DURING, each.phase), title=each.phase),
        td(broker, "r p1"),
        td(w.lasted(each.load_ms), "r p2", each.load_ms or 0),
        td(w.lasted(each.unavailable_ms), "r p2", each.unavailable_ms or 0),
        td(_count(each.epochs_after), "r p1", each.epochs_after or 0),
        td(_count(each.removed_after), "r p1", each.removed_after or 0),
        td(_count(each.moved_after), "r", each.moved_after or 0),
    )
