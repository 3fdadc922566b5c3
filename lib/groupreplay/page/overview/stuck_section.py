"""The section of the overview about who is stuck."""

from __future__ import annotations

from typing import Final, NamedTuple

from groupreplay.page.drawing import charts
from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, join, name
from groupreplay.page.drawing.parts import (
    client,
    group_link,
    section,
    stuck_reason,
    table,
    td,
    th,
)
from groupreplay.page.model.fleet import (
    HELD_BY,
    Episode,
    Fleet,
)

STALLED: Final = "MIGRATION_STALLED"
"""Shown in `blockers` instead: its many rows would hide all others in the list of who is stuck."""


class OpenEpisodes(NamedTuple):
    """listed: open episodes that are listed, the longest first.
    total: how many episodes are open, listed or not.
    stalled: groups that are half-way for too long, which are in neither.
    """

    listed: list[Episode]
    total: int
    stalled: int


def open_episodes(fleet: Fleet) -> OpenEpisodes:
    return OpenEpisodes(
        [each for each in fleet.stuck if each.reason != STALLED],
        sum(each.open for each in fleet.reasons if each.reason != STALLED),
        sum(each.open for each in fleet.reasons if each.reason == STALLED),
    )


def stuck_now(fleet: Fleet) -> Safe:
    now, total, stalled = open_episodes(fleet)
    ended = ", ".join(
        f"{w.word(w.REASON, each.reason)} {w.n(each.ended)}" for each in fleet.reasons if each.ended
    )
    listed_above = (
        join(
            [
                el("a", f"{w.some(stalled, 'group')} half-way for too long", href="#blockers"),
                f" {'is' if stalled == 1 else 'are'} listed above.",
            ]
        )
        if stalled
        else ""
    )
    lead = join(
        [
            f"Open at {w.at(fleet.as_of_ms)} UTC. Ended since the night before:",
            f" {ended or 'none'}. ",
            listed_above,
        ]
    )
    heads = [
        th("What"),
        th("Group", "g"),
        th("Member", "g"),
        th("Held by", "g p2"),
        th("Stuck for", "w200 p1", extra=charts.log_head(), order="descending"),
        th("For", "r", sorts=False),
        th("Since", "r p2"),
        th("Fenced at", "r p2"),
        th("Team", "p2"),
    ]
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
        name(fleet.members.get((each.group_id, member), member))
        for member in each.blocked_by[:HELD_BY]
    ]
    deadline = each.deadline_at_ms
    who = (
        el("span", "the whole group", cls="nil")
        if each.member_id is None
        else client(each.client_id or each.member_id, each.client_host)
    )
    return el(
        "tr",
        stuck_reason(each.reason, each.repetitions, each.detail),
        td(group_link(fleet, each.group_id), "g"),
        td(who, "g"),
        td(join(held_by, ", ") if held_by else w.NONE, "g p2"),
        td(charts.log_dot(each.stuck_ms), "w200 p1", each.stuck_ms),
        td(w.lasted(each.stuck_ms), "r", each.stuck_ms),
        td(w.when(each.since_at_ms), "r p2", each.since_at_ms),
        td(
            w.at(deadline) if deadline and deadline > fleet.as_of_ms else w.NONE,
            "r p2",
            deadline or 0,
        ),
        td(each.team or w.NONE, "p2"),
    )
