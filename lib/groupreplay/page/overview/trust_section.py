"""The section of the overview about what the night could not show."""

from __future__ import annotations

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el
from groupreplay.page.drawing.parts import (
    section,
)
from groupreplay.page.model.fleet import (
    Fleet,
)


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
