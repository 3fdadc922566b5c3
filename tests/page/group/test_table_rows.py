"""How many rows the tables of a group's page have, and how they name lives and times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupreplay.page.drawing import words as w
from groupreplay.page.group.table_rows import MANY_ROWS, MOST_ROWS, Shared, most_rows
from tests.support.life_rows import made_life

AS_OF = 1_795_239_724_000
LIVES = [(0, 7), (0, 90)]


@pytest.mark.parametrize(("long", "most"), [(4, MOST_ROWS), (5, MANY_ROWS)])
def test_where_many_tables_are_long_each_has_fewer_rows(long: int, most: int) -> None:
    life = made_life()
    names = ("hand_overs", "stuck", "epochs", "absences", "refusals", "waves", "days", "members")
    lists = dict.fromkeys((*names, "task_moves", "failovers", "what_if"), ())
    full = {
        name: (getattr(life, name)[0],) * (MANY_ROWS + 1)
        for name in names[:long]
        if getattr(life, name)
    }
    assert len(full) == long
    assert most_rows(replace(life, **lists | full)) == most


def test_a_row_says_which_life_it_is_of_where_there_are_several() -> None:
    several, one = Shared(LIVES, AS_OF), Shared(LIVES[:1], AS_OF)
    assert (len(several.life_heads()), one.life_heads()) == (1, [])
    assert one.life_cell((0, 7)) is None
    assert f"2{w.NB}of{w.NB}2" in str(several.life_cell((0, 90)))


def test_of_a_life_of_which_nothing_else_is_shown_the_number_is_not_known() -> None:
    assert w.NONE in str(Shared(LIVES, AS_OF).life_cell((0, 50)))


def test_a_time_leads_into_the_timeline_and_has_its_day_where_it_is_not_the_last() -> None:
    shared = Shared(LIVES, AS_OF)
    day = 86_400_000
    for ms, said in (
        (AS_OF, w.at),
        (AS_OF - day + 1, w.at),
        (AS_OF - day, w.when),
        (AS_OF + 1, w.when),
    ):
        text = str(shared.moment(ms))
        assert f'href="#t={ms}"' in text
        assert f">{said(ms)}<" in text, ms
    assert shared.moment(None) == w.NONE
