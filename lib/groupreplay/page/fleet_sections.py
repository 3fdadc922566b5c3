"""Sections of the overview about the migration, who is stuck, and hand-overs."""

from __future__ import annotations

from datetime import date
from typing import Final

from groupreplay.page import charts
from groupreplay.page import words as w
from groupreplay.page.fleet import CauseNight, ClassicClient, Episode, Fleet, HalfWay, SlowRequest
from groupreplay.page.markup import Safe, el, join, name
from groupreplay.page.parts import (
    client,
    facts,
    group_link,
    hidden,
    same_as_numbers,
    section,
    table,
    td,
    th,
)

STALLED: Final = "MIGRATION_STALLED"
"""Told in `blockers`: it would drown all others in the list of who is stuck."""


def live_line() -> Safe:
    """What a chart says of the mark that is looked at."""
    return el("p", "", cls="say js", aria_live="polite")


def migration(fleet: Fleet) -> Safe:
    if not fleet.nights:
        return section("migration", "Migration, night by night", "There is no night yet.")
    rows = [
        (
            w.night(date.fromisoformat(night.night)),
            w.n(night.classic),
            w.n(night.mixed),
            w.n(night.consumer),
            f"{w.n(night.members_consumer)} of {w.n(night.members_total)}",
        )
        for night in reversed(fleet.nights)
    ]
    heads = ("Night", "Classic", "Half-way", "Consumer", "Members on consumer")
    return section(
        "migration",
        "Migration, night by night",
        None,
        el("div", charts.burn_down(fleet.nights), _pace(fleet), cls="split"),
        live_line(),
        same_as_numbers("Groups by protocol, night by night", heads, rows),
    )


def _pace(fleet: Fleet) -> Safe:
    """Facts beside the chart. The pace is one too: no forecast is made of it."""
    last, nights = fleet.nights[-1], min(7, len(fleet.nights) - 1)
    left_out = last.left_out
    if nights:
        fewer = (fleet.nights[-1 - nights].classic - last.classic) / nights
        sign = "−" if fewer >= 0 else "+"
        number = f"{abs(fewer):,.0f}" if abs(fewer) >= 10 else f"{abs(fewer):,.1f}"
        pace = (
            f"{sign}{number} classic groups a night",
            f"over the last {w.some(nights, 'night')}",
        )
    else:
        pace = (w.NONE, "from the second night on")
    back = fleet.phases.get("ROLLED_BACK", 0)
    empty = fleet.phases.get("EMPTY", 0)
    unable = left_out - empty
    return facts(
        (
            ("Pace", *pace),
            (
                "Members",
                f"{w.percent_of(last.members_consumer, last.members_total)} speak consumer",
                f"{w.n(last.members_consumer)} of {w.n(last.members_total)}",
            ),
            (
                "Went back",
                f"{w.some(back, 'group')} rolled back",
                "classic again after an upgrade",
            ),
            (
                "Left out",
                w.some(left_out, "group"),
                f"{w.n(empty)} empty, {w.n(unable)} that cannot take part",
            ),
        )
    )


# ---------------------------------------------------------------- who blocks


def blockers(fleet: Fleet) -> Safe:
    half_way_heads = [
        th("Group", "g"),
        th("Team", "p2"),
        th("Members on consumer", "w120"),
        th(hidden("members on consumer, as numbers"), "r", sorts=False),
        th("Half-way for", "r", order="descending"),
        th("Waits for", "g p1", sorts=False),
    ]
    client_heads = [
        th("Client id", "g"),
        th("Team", "p2"),
        th("Software", "p1"),
        th("Groups", "w120", order="descending"),
        th(hidden("groups, as a number"), "r", sorts=False),
        th("Members", "r p1"),
    ]
    most = max((each.groups for each in fleet.clients), default=1)
    return section(
        "blockers",
        "Who blocks",
        "A group is half-way while members of both protocols are in it. It is done when the members"
        " named here speak the consumer protocol or leave.",
        table(
            f"Half-way groups, the longest first ({w.n(fleet.half_way_total)})",
            half_way_heads,
            [_half_way_row(fleet, each) for each in fleet.half_way],
            "No group is half-way: every group speaks one protocol.",
            fleet.half_way_total,
        ),
        table(
            "Clients that still speak classic, by groups",
            client_heads,
            [_client_row(each, most) for each in fleet.clients],
            "No member speaks the classic protocol any more.",
        ),
    )


def _half_way_row(fleet: Fleet, each: HalfWay) -> Safe:
    share = each.members_consumer / each.members_total if each.members_total else 0
    mixed_ms = None if each.mixed_since_at_ms is None else fleet.as_of_ms - each.mixed_since_at_ms
    named = [client(*one) for one in each.waits_for[:2]]
    if each.blockers > len(named):
        named.append(join([f"{each.blockers - len(named)} more"]))
    return el(
        "tr",
        td(group_link(fleet, each.group_id), "g"),
        td(_team(each.team, each.contact), "p2"),
        td(charts.share_bar(each.members_consumer, each.members_total), "w120", share),
        td(f"{each.members_consumer} of {each.members_total}", "r", share),
        td(w.lasted(mixed_ms), "r t-stuck" if each.is_stalled else "r", mixed_ms or 0),
        td(join(named, ", ") if named else w.NONE, "g p1"),
    )


def _team(team: str | None, contact: str | None) -> object:
    if team is None:
        return w.NONE
    return join([team, " ", el("span", contact, cls="dim")]) if contact else team


def _client_row(each: ClassicClient, most: int) -> Safe:
    return el(
        "tr",
        td(name(each.client_id), "g"),
        td(each.team or w.NONE, "p2"),
        td(each.software or w.NONE, "p1"),
        td(charts.bar(each.groups, most, "f-classic"), "w120", each.groups),
        td(w.n(each.groups), "r", each.groups),
        td(w.n(each.members), "r p1", each.members),
    )


# ---------------------------------------------------------------- stuck


def open_episodes(fleet: Fleet) -> tuple[list[Episode], int]:
    """(episodes that are listed, the longest first, how many groups are half-way for too long)."""
    listed = [each for each in fleet.stuck if each.reason != STALLED]
    stalled = sum(each.open for each in fleet.reasons if each.reason == STALLED)
    return listed, stalled


def stuck_now(fleet: Fleet) -> Safe:
    now, stalled = open_episodes(fleet)
    ended = ", ".join(
        f"{w.word(w.REASON, each.reason)} {w.n(each.ended)}" for each in fleet.reasons if each.ended
    )
    told = (
        join(
            [
                el("a", f"{w.some(stalled, 'group')} half-way for too long", href="#blockers"),
                f" {'is' if stalled == 1 else 'are'} told above.",
            ]
        )
        if stalled
        else ""
    )
    lead = join(
        [
            f"Open at {w.at(fleet.as_of_ms)} UTC. Ended since the night before:",
            f" {ended or 'none'}. ",
            told,
        ]
    )
    heads = [
        th("What"),
        th("Group", "g"),
        th("Member", "g p1"),
        th("Held by", "g p2"),
        th("Stuck for", "w200 p1", extra=charts.log_head(), order="descending"),
        th(hidden("stuck for, as text"), "r", sorts=False),
        th("Fenced at", "r p2"),
        th("Team", "p2"),
    ]
    total = sum(each.open for each in fleet.reasons if each.reason != STALLED)
    return section(
        "stuck",
        "Stuck now",
        lead,
        table(
            f"Open episodes, the longest first ({w.n(total)})",
            heads,
            [_stuck_row(fleet, each) for each in now],
            "Nobody is stuck.",
            total,
        ),
    )


def _stuck_row(fleet: Fleet, each: Episode) -> Safe:
    held_by = [
        name(fleet.members.get((each.group_id, member), member)) for member in each.blocked_by[:3]
    ]
    deadline = each.deadline_at_ms
    who = (
        el("span", "the whole group", cls="nil")
        if each.member_id is None
        else client(each.client_id or each.member_id, each.client_host)
    )
    return el(
        "tr",
        td(el("span", w.word(w.REASON, each.reason), title=each.reason), "", each.reason),
        td(group_link(fleet, each.group_id), "g"),
        td(who, "g p1"),
        td(join(held_by, ", ") if held_by else w.NONE, "g p2"),
        td(charts.log_dot(each.stuck_ms), "w200 p1", each.stuck_ms),
        td(w.lasted(each.stuck_ms), "r", each.stuck_ms),
        td(
            w.at(deadline) if deadline and deadline > fleet.as_of_ms else w.NONE,
            "r p2",
            deadline or 0,
        ),
        td(each.team or w.NONE, "p2"),
    )


# ---------------------------------------------------------------- hand-overs and causes

_STEP_WORDS: Final = (
    ("st-notify", "until it was told"),
    ("st-revoke", "until it let go, charged to the client"),
    ("st-unowned", "without an owner"),
    ("st-resume", "until the next owner committed"),
)


def steps_key() -> Safe:
    """What the four shades of `charts.steps_bar` mean."""
    keys = []
    for cls, words in _STEP_WORDS:
        high = cls == "st-revoke"
        box = el("rect", width="100%", y=1 if high else 3, height=12 if high else 8, cls=cls)
        keys.append(el("span", el("svg", box, width=22, height=14, aria_hidden="true"), words))
    return el("p", *keys, cls="key")


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
        td(w.lasted(each.revoke_ms), "r", each.revoke_ms),
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
    span = (
        f"{w.night(date.fromisoformat(nights[0]))} to {w.night(date.fromisoformat(nights[-1]))}"
        if nights
        else "Nights"
    )
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


# ---------------------------------------------------------------- trust


def trust(fleet: Fleet) -> Safe:
    seen = fleet.seen
    read = (
        f"{w.some(seen.inputs, 'log')} of the offsets topic and {w.some(seen.texts, 'log')} of"
        f" brokers were read. {w.some(seen.undecoded, 'row')} could not be decoded."
    )
    holes = (
        f"{w.some(seen.holes, 'offset')} are missing: compaction or loss took them. Nothing is"
        " measured across them; such rows say UNOBSERVED."
        if seen.holes
        else "No offset is missing."
    )
    brokers = (
        "Logs of brokers were read too: they show who left and who was thrown out, refusals, and"
        " silent members."
        if seen.texts
        else "No logs of brokers were read: silent members, refusals, and rebalances that never"
        " complete cannot be seen."
    )
    unseen = (
        [f"No source could show {w.some(len(seen.unseen), 'reason')}: {', '.join(seen.unseen)}."]
        if seen.unseen
        else []
    )
    late = (
        [f"{w.some(seen.late, 'record')} came late; rebuild_nights counts them."]
        if seen.late
        else []
    )
    out = (
        [f"{w.some(seen.left_out, 'row')} are of groups that the configuration leaves out."]
        if seen.left_out
        else []
    )
    rules = [
        f"{each.severity}: rule {each.rule} was broken {w.some(each.times, 'time')} in"
        f" {w.some(each.groups, 'group')}."
        for each in fleet.broken_rules
    ]
    reasons = [
        f"Not decoded: {each.reason}, {w.some(each.rows, 'row')}." for each in fleet.undecoded
    ]
    lines = [read, holes, brokers, *unseen, *late, *out, *rules, *reasons]
    if not fleet.broken_rules:
        lines.append("No rule of the protocol was broken.")
    return section(
        "trust",
        "How far to trust this night",
        None,
        el("ul", *[el("li", line) for line in lines], cls="plainlist"),
    )
