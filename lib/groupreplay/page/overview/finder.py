"""All groups of a night: the first as rows, the rest packed for the script, which finds, filters
and sorts them. 50,000 rows as markup would take ten seconds to open.
"""

from __future__ import annotations

from typing import Any, Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.document import slug
from groupreplay.page.drawing.markup import Safe, el
from groupreplay.page.drawing.parts import group_link, section, td, th
from groupreplay.page.model.fleet import Fleet, GroupLine

AT_ONCE: Final = 50
"""Groups that are rows of the page itself."""

_CODES: Final = {
    "CLASSIC": "k",
    "ROLLED_BACK": "r",
    "MIGRATING": "m",
    "MIGRATED": "c",
    "NATIVE": "c",
    "CONSUMER": "c",
    "EMPTY": "e",
}
"""Phase -> one letter; "x" for every other."""

_FILTERS: Final = (
    ("c", "consumer", "consumer"),
    ("m", "half-way", "mixed"),
    ("k", "classic", "classic"),
    ("e", "empty", "empty"),
    ("x", "cannot take part", "empty"),
    ("s", "stuck now", "stuck"),
)


def finder(fleet: Fleet) -> Safe:
    boxes = [
        el(
            "label",
            el("input", type_="checkbox", name="ph", value=letter),
            " ",
            el("span", words, cls="ph k-" + kind),
        )
        for letter, words, kind in _FILTERS
    ]
    form = el(
        "form",
        el(
            "label",
            "Find",
            el(
                "input",
                type_="search",
                id="q",
                placeholder="part of a group id or a team",
                autocomplete="off",
                spellcheck="false",
            ),
        ),
        el("fieldset", el("legend", "Phase"), *boxes),
        el("output", _counted(fleet), id="count", for_="q"),
        id="find",
        cls="js",
        role="search",
    )
    heads = el(
        "tr",
        th("Group", "g"),
        th("Phase"),
        th("Members on consumer", "r"),
        th("Epochs this night", "r p1"),
        th("Stuck", "r", order="descending"),
        th("Team", "p2"),
    )
    first = fleet.groups[:AT_ONCE]
    found = "all of them" if len(fleet.groups) == fleet.groups_total else w.n(len(fleet.groups))
    note = (
        f"The {w.n(len(first))} that need most attention of"
        f" {w.some(fleet.groups_total, 'group')}. With scripts allowed, this page finds {found}."
    )
    return section(
        "groups",
        "All groups",
        None,
        form,
        el("p", note, cls="nojs note") if len(fleet.groups) > AT_ONCE else None,
        el(
            "div",
            el(
                "table",
                el("caption", "Groups, those in trouble first"),
                el("thead", heads),
                el("tbody", *[_row(fleet, each) for each in first]),
                cls="t",
                id="all",
            ),
            cls="tw",
        ),
        el("p", el("button", "Show 200 more", type_="button", id="more"), cls="js"),
    )


def _counted(fleet: Fleet) -> str:
    if fleet.groups_total > len(fleet.groups):
        total = w.some(fleet.groups_total, "group")
        return f"{w.n(len(fleet.groups))} of {total}: those in trouble first"
    return w.some(len(fleet.groups), "group")


def _row(fleet: Fleet, each: GroupLine) -> Safe:
    kind = w.KIND.get(each.phase, "empty")
    members = f"{each.members_consumer} of {each.members_total}" if each.members_total else w.NONE
    return el(
        "tr",
        td(group_link(fleet, each.group_id), "g"),
        td(el("span", w.word(w.PHASE, each.phase), cls=f"ph k-{kind}")),
        td(members, "r"),
        td(w.n(each.epochs), "r p1"),
        td(w.n(each.stuck) if each.stuck else w.NONE, "r t-stuck" if each.stuck else "r"),
        td(each.team or w.NONE, "p2"),
    )


def finder_data(fleet: Fleet) -> dict[str, Any]:
    """Columns of all groups in the order of `in_order`. Ids are values, never keys."""
    teams = sorted({each.team for each in fleet.groups if each.team is not None})
    place = {team: index for index, team in enumerate(teams)}
    return {
        "prefix": fleet.prefix,
        "total": fleet.groups_total,
        "teams": teams,
        "id": [each.group_id for each in fleet.groups],
        "ph": "".join(_CODES.get(each.phase, "x") for each in fleet.groups),
        "m": [each.members_total for each in fleet.groups],
        "c": [each.members_consumer for each in fleet.groups],
        "e": [each.epochs for each in fleet.groups],
        "s": [each.stuck for each in fleet.groups],
        "t": [-1 if each.team is None else place[each.team] for each in fleet.groups],
        "page": {
            str(index): slug(fleet.cluster, each.group_id)
            for index, each in enumerate(fleet.groups)
            if each.group_id in fleet.has_pages
        },
    }
