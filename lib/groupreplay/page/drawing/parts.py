"""Sections, tables and cells: what both kinds of pages are put together of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.document import slug
from groupreplay.page.drawing.markup import Safe, el, join, name, text
from groupreplay.page.model.fleet import Fleet, SlowRequest

FEW: Final = 10
"""Rows of a table that are shown at once; a button shows the rest. All without scripts."""


def section(id_: str, title: str, lead: object, *body: object) -> Safe:
    """lead: a sentence under the title, None for none."""
    return el(
        "section",
        el("h2", el("a", title, href="#" + id_)),
        el("p", lead, cls="lead") if lead else None,
        *body,
        id=id_,
    )


def th(
    label: object,
    cls: str = "",
    *,
    sorts: bool = True,
    extra: object = None,
    order: str | None = None,
) -> Safe:
    """A head of a column.

    sorts: it is a button that sorts the rows.
    order: how the rows are ordered by it, None where they are not.
    """
    inner = el("button", label, type_="button") if sorts else text(label)
    return el("th", inner, extra, scope="col", cls=cls or None, aria_sort=order)


def hidden(label: str) -> Safe:
    """Text for readers who do not see the page."""
    return el("span", label, cls="vh")


def td(value: object, cls: str = "", key: object = None, title: str | None = None) -> Safe:
    """A cell.

    key: what it is sorted by, None: its text.
    title: what else there is to say.
    """
    return el("td", value, cls=cls or None, data_v=key, title=title)


def table(
    caption: str, heads: Sequence[Safe], rows: Sequence[Safe], empty: str, total: int | None = None
) -> Safe:
    """empty: what is said instead of a table without rows.
    total: how many rows there are, listed or not; None: those listed are all.
    """
    if not rows:
        return el("p", empty, cls="empty")
    more = len(rows) > FEW + 2
    cut = total is not None and total > len(rows)
    return join(
        [
            el(
                "div",
                el(
                    "table",
                    el("caption", caption),
                    el("thead", el("tr", *heads)),
                    el("tbody", *rows),
                    cls="t few" if more else "t",
                ),
                cls="tw",
            ),
            el(
                "p",
                el("button", f"Show {w.n(len(rows) - FEW)} more", type_="button"),
                cls="js more",
            )
            if more
            else None,
            el("p", f"{w.n(len(rows))} of {w.n(total or 0)} are on this page.", cls="note")
            if cut
            else None,
        ]
    )


def same_as_numbers(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Safe:
    """What a chart shows, as a table that opens."""
    side = ["", *["r"] * (len(heads) - 1)]
    return el(
        "details",
        el("summary", "The same as numbers"),
        el(
            "div",
            el(
                "table",
                el("caption", caption, cls="vh"),
                el(
                    "thead",
                    el("tr", *[th(*each, sorts=False) for each in zip(heads, side, strict=True)]),
                ),
                el(
                    "tbody",
                    *[
                        el("tr", *[td(*each) for each in zip(row, side, strict=True)])
                        for row in rows
                    ],
                ),
                cls="t slimt",
            ),
            cls="tw",
        ),
    )


def facts(rows: Sequence[tuple[str, object, object]], cls: str = "facts") -> Safe:
    """(what, how much, and a word on it)."""
    return el(
        "dl",
        *[
            el("div", el("dt", what), el("dd", value, el("small", more)))
            for what, value, more in rows
        ],
        cls=cls,
    )


def let_go_after(each: SlowRequest) -> str:
    """At least, where the request is still open."""
    let_go = w.lasted(each.revoke_ms)
    return f"≥ {let_go}" if each.is_censored and each.revoke_ms is not None else let_go


def client(client_id: str | None, client_host: str | None) -> Safe:
    host = el("span", client_host, cls="dim") if client_host else None
    return join([name(client_id), " " if host else None, host])


def group_link(fleet: Fleet, group_id: str) -> Safe:
    """To the page of the group, or to its line in the finder."""
    if group_id in fleet.has_pages:
        page = f"{fleet.prefix}g/{slug(fleet.cluster, group_id)}.html"
        return el("a", name(group_id), href=page)
    return el("a", name(group_id), href="#group=" + escaped_id(group_id), cls="plain")


def escaped_id(group_id: str) -> str:
    return quote(group_id.encode("utf-8", "surrogatepass"), safe="")


def stuck_reason(reason: str, repetitions: int | None, detail: str | None) -> Safe:
    """A cell: what is stuck, in words, and how often. Its title has its name, and what else there
    is to say.
    """
    words = w.word(w.REASON, reason)
    often = "" if repetitions is None else f", {w.some(repetitions, 'repetition')}"
    return td(
        words if repetitions is None else f"{words} {w.n(repetitions)}{w.NB}×",
        "",
        reason,
        f"{reason}{often}" + (f": {detail}" if detail else ""),
    )


def live_line() -> Safe:
    """What a chart says of the mark that is looked at."""
    return el("p", "", cls="say js", aria_live="polite")


def move_kind(kind: str | None, cause: str | None = None) -> Safe:
    """How a task came to a process.

    cause: why it moved, None: that is said elsewhere.
    """
    title = ", ".join(each for each in (kind, cause) if each) or None
    return el("span", w.word(w.MOVE, kind), cls="t-mixed" if kind == "COLD" else None, title=title)


STOPPED_FOR: Final = (
    "How long partitions stopped is added up over all of them: ≈ about, where logs or commits show"
    " when readers stopped, ≥ at least, where records alone show it."
)
AT_LEAST_AT_MOST: Final = (
    "At least is what records make certain, at most what they leave open. They do not show when a"
    " reader stopped, which the estimates of waves (≈) take into account."
)


def stopped_for(ms: int | None, *, is_estimate: bool) -> str:
    """How long the partitions of a wave stopped."""
    return w.NONE if ms is None else f"{'≈' if is_estimate else '≥'} {w.lasted(ms)}"


def at_most(high_ms: int, high_unknown: int) -> str:
    """How long partitions were not read at most, where that is known."""
    return "not known" if high_unknown else w.lasted(high_ms)
