"""Sections of the overview about hand-overs, and why groups rebalance."""

from __future__ import annotations

from datetime import date

from groupreplay.page.drawing import charts
from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.charts import steps_key
from groupreplay.page.drawing.markup import Safe, el, name
from groupreplay.page.drawing.parts import (
    client,
    group_link,
    let_go_after,
    live_line,
    same_as_numbers,
    section,
    table,
    td,
    th,
)
from groupreplay.page.model.fleet import (
    CauseNight,
    Fleet,
    SlowRequest,
)


def hand_overs(fleet: Fleet) -> Safe:
    chart = charts.latency_lines(fleet.latency)
    rows = [
        (
            w.night(date.fromisoformat(night.night)),
            w.lasted(night.half_ms),
            w.lasted(night.most_ms),
            w.n(night.fenced),
            w.n(night.asked),
        )
        for night in reversed(fleet.latency)
    ]
    heads = ("Night", "Half within", "99 % within", "Fenced", "Asked back")
    drawn = chart and el(
        "div",
        el("h3", "Time to let go, night by night"),
        chart,
        live_line(),
        same_as_numbers("Time to let go, night by night", heads, rows),
        cls="narrow",
    )
    most = max((charts.steps_total(each) for each in fleet.slow), default=1)
    return section(
        "hand-overs",
        "Slowest hand-overs",
        "A partition that moves is first asked back from the member that has it. What takes long is"
        " nearly always the client's own callback.",
        drawn,
        steps_key() if fleet.slow else None,
        table(
            "The slowest of this night, by time to let go; their bars share one scale",
            [
                th("Client", "g"),
                th("Group", "g"),
                th("Topic", "g p2"),
                th("Partitions", "r p2"),
                th("Steps", "w300 p1"),
                th("Let go after", "r", order="descending"),
                th("No owner", "r p2"),
                th("Outcome", "p2"),
                th("Team", "p2"),
            ],
            [_slow_row(fleet, each, most) for each in fleet.slow],
            "No partition was asked back in this night.",
        ),
    )


def _slow_row(fleet: Fleet, each: SlowRequest, most: int) -> Safe:
    outcome = el(
        "span",
        w.word(w.OUTCOME, each.outcome),
        cls="t-stuck" if each.outcome in ("FENCED", "OPEN") else None,
    )
    return el(
        "tr",
        td(client(each.client_id, each.client_host), "g"),
        td(group_link(fleet, each.group_id), "g"),
        td(name(each.topic), "g p2"),
        td(w.n(each.partitions), "r p2", each.partitions),
        td(charts.steps_bar(each, most), "w300 p1", charts.steps_total(each)),
        td(let_go_after(each), "r", each.revoke_ms),
        td(w.lasted(each.unowned_ms), "r p2", each.unowned_ms or 0),
        td(outcome, "p2"),
        td(each.team or w.NONE, "p2"),
    )


def causes(fleet: Fleet) -> Safe:
    nights = [night.night for night in fleet.nights]
    by_cause: dict[str, dict[str, CauseNight]] = {}
    for each in fleet.causes:
        by_cause.setdefault(each.cause, {})[each.night] = each
    ordered = sorted(
        by_cause, key=lambda cause: (-sum(one.epochs for one in by_cause[cause].values()), cause)
    )
    ends = dict.fromkeys(w.night(date.fromisoformat(each)) for each in (*nights[:1], *nights[-1:]))
    span = " to ".join(ends) or "Nights"
    heads = [
        th("Cause"),
        th(span, "w300", sorts=False),
        th("This night", "r", order="descending"),
        th("Highest", "r p1"),
        th("Settled in, half", "r p1"),
        th("Never settled", "r p2"),
    ]
    return section(
        "causes",
        "Why groups rebalance",
        "One epoch or generation is one rebalance. Each row has its own scale; its highest night is"
        " in the column beside it.",
        table(
            "Rebalances by cause",
            heads,
            [_cause_row(cause, nights, by_cause[cause]) for cause in ordered],
            "No group rebalanced.",
        ),
        live_line() if ordered else None,
    )


def _cause_row(cause: str, nights: list[str], found: dict[str, CauseNight]) -> Safe:
    values = [found[night].epochs if night in found else 0 for night in nights]
    say = [
        f"{w.night(date.fromisoformat(night))}: {w.some(value, 'epoch')}"
        for night, value in zip(nights, values, strict=True)
    ]
    last = found.get(nights[-1])
    settled = last.converge_half_ms if last else None
    never = last.superseded if last else 0
    return el(
        "tr",
        td(el("span", w.word(w.CAUSE, cause), title=cause)),
        td(charts.small_columns(values, say), "w300"),
        td(w.n(values[-1]), "r", values[-1]),
        td(w.n(max(values)), "r p1", max(values)),
        td(w.lasted(settled), "r p1", settled or 0),
        td(w.percent_of(never, values[-1]), "r p2", never / values[-1] if values[-1] else 0),
    )
