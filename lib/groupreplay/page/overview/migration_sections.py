"""Sections of the overview about the migration, and who blocks it."""

from __future__ import annotations

from datetime import date

from groupreplay.page.drawing import charts
from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, join, name
from groupreplay.page.drawing.parts import (
    client,
    facts,
    group_link,
    hidden,
    live_line,
    same_as_numbers,
    section,
    table,
    td,
    th,
)
from groupreplay.page.model.fleet import (
    ClassicClient,
    Fleet,
    HalfWay,
)


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
        el("div", _burn_down(fleet), _pace(fleet), cls="split"),
        live_line(),
        same_as_numbers("Groups by protocol, night by night", heads, rows),
    )


def _burn_down(fleet: Fleet) -> Safe:
    if any(night.classic or night.mixed or night.consumer for night in fleet.nights):
        return charts.burn_down(fleet.nights)
    return el("p", "No group of these nights can take part in it.", cls="empty")


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
                f"{w.percent_of(last.members_consumer, last.members_total)} speak consumer"
                if last.members_total
                else w.NONE,
                f"{w.n(last.members_consumer)} of {w.n(last.members_total)}",
            ),
            (
                "Went back",
                f"{w.some(fleet.went_back, 'group')} this night",
                f"{w.some(back, 'group')} {'is' if back == 1 else 'are'} rolled back now",
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
        th("Waits for", "g", sorts=False),
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
            _nobody_classic(fleet),
        ),
    )


def _nobody_classic(fleet: Fleet) -> str:
    """Members of groups that cannot take part, as those of Kafka Streams, may well speak it."""
    left_out = fleet.nights[-1].left_out if fleet.nights else 0
    if left_out > fleet.phases.get("EMPTY", 0):
        return "No member of a group that can take part speaks the classic protocol any more."
    return "No member speaks the classic protocol any more."


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
        td(w.of(each.members_consumer, each.members_total), "r", share),
        td(w.lasted(mixed_ms), "r t-stuck" if each.is_stalled else "r", mixed_ms or 0),
        td(join(named, ", ") if named else w.NONE, "g"),
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
