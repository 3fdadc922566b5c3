"""Sections, tables and cells: what both kinds of pages are put together of."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

import pytest

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.document import slug
from groupreplay.page.drawing.markup import Safe, el
from groupreplay.page.drawing.parts import (
    FEW,
    at_most,
    client,
    escaped_id,
    group_link,
    let_go_after,
    move_kind,
    section,
    stopped_for,
    stuck_reason,
    table,
    td,
    th,
)
from groupreplay.page.model.fleet import SlowRequest
from tests.support.page_rows import HOSTILE, made_fleet


def rows(number: int) -> list[Safe]:
    return [el("tr", td(str(place))) for place in range(number)]


def test_a_section_can_be_linked_to() -> None:
    text = str(section("stuck", "Stuck now", None, el("p", "x")))
    assert 'id="stuck"' in text
    assert 'href="#stuck"' in text
    assert "lead" not in text
    assert "of all" in str(section("stuck", "Stuck now", "of all"))


def test_a_table_without_rows_says_so_instead() -> None:
    assert (
        str(table("c", [th("A")], [], "Nobody is stuck."))
        == '<p class="empty">Nobody is stuck.</p>'
    )


@pytest.mark.parametrize(("number", "button"), [(FEW + 2, None), (FEW + 3, "Show 3 more")])
def test_a_button_shows_the_rest_of_a_long_table(number: int, button: str | None) -> None:
    text = str(table("c", [th("A")], rows(number), "none"))
    assert ("Show" in text) == (button is not None)
    assert button is None or button in text
    assert text.count("<tr>") == number + 1, "all are there without scripts"


def test_a_table_that_is_cut_says_of_how_many() -> None:
    assert "3 of 1,000 are on this page." in str(table("c", [th("A")], rows(3), "none", 1_000))
    assert "on this page" not in str(table("c", [th("A")], rows(3), "none", 3))


def test_a_cell_has_what_it_is_sorted_by() -> None:
    assert str(td("1 s", "r", 1_000)) == '<td class="r" data-v="1000">1 s</td>'
    assert str(td("x")) == "<td>x</td>"


def test_a_column_that_does_not_sort_has_no_button() -> None:
    assert "<button" in str(th("A"))
    assert "<button" not in str(th("A", sorts=False))
    assert 'aria-sort="descending"' in str(th("A", order="descending"))


@pytest.mark.parametrize("group_id", HOSTILE)
def test_an_id_in_a_link_comes_back(group_id: str) -> None:
    text = escaped_id(group_id)
    assert text.isascii()
    assert not set(text) & set("<>\"'&# /")
    assert unquote(text, errors="surrogatepass") == group_id


def test_a_group_without_a_page_leads_to_its_line() -> None:
    fleet = replace(made_fleet(3), has_pages=frozenset({"a"}), prefix="x/")
    assert f"x/g/{slug(fleet.cluster, 'a')}.html" in str(group_link(fleet, "a"))
    assert "#group=b%2Fc" in str(group_link(fleet, "b/c"))


def test_a_client_has_its_host_where_that_is_known() -> None:
    assert "/10.0.0.1" in str(client("app", "/10.0.0.1"))
    assert str(client("app", None)).count("<span") == str(client("app", "/h")).count("<span") - 1


@pytest.mark.parametrize(
    ("revoke_ms", "is_censored", "said"),
    [(2_000, False, "2.0 s"), (2_000, True, "≥ 2.0 s"), (None, True, w.lasted(None))],
)
def test_a_request_that_is_open_took_at_least_so_long(
    revoke_ms: int | None, is_censored: bool, said: str
) -> None:
    request = SlowRequest(
        group_id="g",
        topic="foo",
        outcome="OPEN",
        partitions=1,
        revoke_ms=revoke_ms,
        is_censored=is_censored,
    )
    assert let_go_after(request).replace(w.NB, " ") == said.replace(w.NB, " ")


def test_a_reason_says_how_often_and_what_else_is_known() -> None:
    once = str(stuck_reason("FENCE_LOOP", None, None))
    assert 'title="FENCE_LOOP"' in once
    often = str(stuck_reason("FENCE_LOOP", 4, "came back each time"))
    assert 'title="FENCE_LOOP, 4 repetitions: came back each time"' in often
    assert f"4{w.NB}×" in often


def test_a_cold_move_stands_out() -> None:
    assert "t-mixed" in str(move_kind("COLD"))
    assert "t-mixed" not in str(move_kind("WARMED"))
    assert 'title="WARMED, REBALANCED"' in str(move_kind("WARMED", "REBALANCED"))


def test_costs_say_how_sure_they_are() -> None:
    assert stopped_for(None, is_estimate=True) == w.NONE
    assert stopped_for(2_000, is_estimate=True).startswith("≈ ")
    assert stopped_for(2_000, is_estimate=False).startswith("≥ ")
    assert at_most(2_000, 1) == "not known"
    assert at_most(2_000, 0) == w.lasted(2_000)
