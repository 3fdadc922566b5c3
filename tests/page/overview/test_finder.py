"""All groups of a night: the first as rows, the rest packed for the script."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from groupreplay.page.drawing.document import slug
from groupreplay.page.model.fleet import Fleet, GroupLine
from groupreplay.page.overview.finder import AT_ONCE, finder, finder_data
from tests.support.page_rows import made_fleet


def fleet(*lines: GroupLine, total: int | None = None) -> Fleet:
    number = len(lines) if total is None else total
    return replace(made_fleet(3), groups=lines, groups_total=number, has_pages=frozenset())


def line(group_id: str, phase: str = "CLASSIC", team: str | None = None) -> GroupLine:
    return GroupLine(
        group_id=group_id,
        team=team,
        phase=phase,
        members_total=3,
        members_consumer=1,
        epochs=7,
        stuck=0,
        went_back=False,
        errors=0,
        superseded=0,
    )


def test_columns_of_all_groups_are_as_long_as_they_are_many() -> None:
    made = fleet(line("b", team="y"), line("a", "NATIVE", "x"), line("c", "NEW_PHASE", "y"))
    data = finder_data(made)
    assert data["id"] == ["b", "a", "c"]
    assert data["ph"] == "kcx", "a phase that is not known cannot take part"
    assert (data["teams"], data["t"]) == (["x", "y"], [1, 0, 1])
    assert (data["m"], data["c"], data["e"], data["s"]) == ([3] * 3, [1] * 3, [7] * 3, [0] * 3)
    assert data["total"] == 3


def test_a_group_without_a_team_has_none() -> None:
    assert finder_data(fleet(line("a")))["t"] == [-1]


def test_pages_are_found_by_the_place_of_their_group() -> None:
    made = replace(fleet(line("a"), line("b")), has_pages=frozenset({"b", "gone"}))
    assert finder_data(made)["page"] == {"1": slug(made.cluster, "b")}


@pytest.mark.parametrize("number", [AT_ONCE, AT_ONCE + 1])
def test_only_the_first_are_rows(number: int) -> None:
    text = str(finder(fleet(*[line(f"g{place}") for place in range(number)])))
    assert len(re.findall(r"<tr>", text)) == AT_ONCE + 1
    assert ("nojs" in text) == (number > AT_ONCE), "what scripts would find"


def test_a_night_of_more_groups_than_are_there_says_so() -> None:
    text = str(finder(fleet(line("a"), total=60_000)))
    assert "1 of 60,000 groups: those in trouble first" in text
