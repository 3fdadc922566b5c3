"""The overview of a night: the questions of people who run a cluster, each with a chart or a list,
and a list of all groups.
"""

from __future__ import annotations

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.document import document, footer, top
from groupreplay.page.drawing.markup import Safe, el, join
from groupreplay.page.model.fleet import Fleet, NightTotals
from groupreplay.page.overview import decision_sections as decisions
from groupreplay.page.overview.finder import finder, finder_data
from groupreplay.page.overview.migration_sections import blockers, migration
from groupreplay.page.overview.rebalance_sections import causes, hand_overs
from groupreplay.page.overview.streams_section import has_streams, streams
from groupreplay.page.overview.stuck_section import open_episodes, stuck_now
from groupreplay.page.overview.trust_section import trust

SECTIONS = (
    ("migration", "Migration"),
    ("blockers", "Who blocks"),
    ("stuck", "Stuck now"),
    ("hand-overs", "Hand-overs"),
    ("causes", "Causes"),
    ("streams", "Kafka Streams"),
    ("readiness", "Readiness"),
    ("waves", "Waves"),
    ("costs", "Costs"),
    ("groups", "All groups"),
    ("trust", "Trust"),
)
"""Anchor and name. One that is linked to is never renamed. Only a cluster with applications of
Kafka Streams has a section on them.
"""


def overview(fleet: Fleet) -> str:
    """The page as HTML."""
    links = [
        el("a", title, href="#" + id_)
        for id_, title in SECTIONS
        if id_ != "streams" or has_streams(fleet)
    ]
    nav = el("nav", *links, aria_label="Sections")
    body = join(
        [
            el("a", "To the sections", href="#migration", cls="skip"),
            top(fleet.cluster, fleet.logical_date, fleet.as_of_ms),
            el(
                "main",
                _headline(fleet),
                _second_sentence(fleet),
                nav,
                migration(fleet),
                blockers(fleet),
                stuck_now(fleet),
                hand_overs(fleet),
                causes(fleet),
                streams(fleet) if has_streams(fleet) else None,
                decisions.readiness(fleet),
                decisions.waves(fleet),
                decisions.costs(fleet),
                finder(fleet),
                trust(fleet),
            ),
            footer(fleet.version, fleet.cluster, str(fleet.logical_date)),
        ]
    )
    title = f"{fleet.cluster}, {fleet.logical_date}: groups and their protocols"
    return document(title, body, finder_data(fleet), cls="ov")


def _headline(fleet: Fleet) -> Safe:
    """Its coloured numbers are the legend of all that follows."""
    last = fleet.nights[-1] if fleet.nights else None
    if last is None or not _taking_part(last):
        return el("h1", "No group can take part in the migration yet.")
    return el(
        "h1",
        el("b", w.n(last.consumer), cls="t-consumer"),
        f" of {w.some(_taking_part(last), 'group')} {'is' if last.consumer == 1 else 'are'} on the"
        " consumer protocol. ",
        el("b", w.n(last.classic), cls="t-classic"),
        f" {'is' if last.classic == 1 else 'are'} still classic, ",
        el("b", w.n(last.mixed), cls="t-mixed"),
        f" {'is' if last.mixed == 1 else 'are'} half-way.",
    )


def _taking_part(night: NightTotals) -> int:
    return night.classic + night.mixed + night.consumer


def _second_sentence(fleet: Fleet) -> Safe:
    """Is anything on fire, and can it be trusted; each half leads to what it says."""
    episodes = open_episodes(fleet)
    parts: list[object] = [
        el("a", el("b", w.n(episodes.total), cls="t-stuck"), " stuck now", href="#stuck")
        if episodes.total
        else el("a", "Nobody is stuck", href="#stuck")
    ]
    if episodes.listed:
        parts.append(f", the longest for {w.lasted(episodes.listed[0].stuck_ms)}")
    if episodes.stalled:
        parts.append(f"; {w.n(episodes.stalled)} half-way for too long")
    parts.append(". ")
    latest = fleet.latency[-1] if fleet.latency else None
    if (
        latest is not None
        and latest.night == str(fleet.logical_date)
        and latest.half_ms is not None
    ):
        parts += [
            el("a", "Hand-overs", href="#hand-overs"),
            f": half let go within {w.lasted(latest.half_ms)}, 99 % within"
            f" {w.lasted(latest.most_ms)}, {w.n(latest.fenced)} fenced. ",
        ]
    else:
        parts += [el("a", "Hand-overs", href="#hand-overs"), ": none was measured. "]
    return el("p", *parts, *_trust(fleet), cls="sub")


def _trust(fleet: Fleet) -> list[object]:
    """Whether all was seen, and understood."""
    lacks = [
        f"{w.some(many, what)} {how}"
        for many, what, how in (
            (fleet.seen.holes, "offset", "missing"),
            (fleet.seen.undecoded, "row", "not decoded"),
        )
        if many
    ]
    return [
        el("a", "This night", href="#trust"),
        " was seen ",
        el("b", f"with {' and '.join(lacks)}.") if lacks else "without a hole.",
    ]
