"""Tables of the page of a group: what is not known, what is no trouble, and who is not there yet."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from groupreplay.page.group.group_page import group_page
from tests.page.parsed import Parsed
from tests.support.life_rows import made_life
from tests.support.page_rows import AS_OF_MS
from tests.support.streams_life_rows import streams_life


def test_a_day_whose_partitions_nobody_knows_says_nothing_of_them() -> None:
    """Of the streams protocol no partition is in the tables: 0 ms would be a claim."""
    life = made_life()
    day = replace(life.days[0], partitions_ms=0, low_ms=0, high_ms=0, life=life.epochs[0].life)
    epochs = tuple(each for each in life.epochs if each.life == day.life)
    bare = replace(day, availability_most_pct=None, availability_least_pct=None)
    text = Parsed(group_page(replace(life, days=(bare,), epochs=epochs))).text
    assert "2026-11-21––––" in text


def test_a_task_that_nobody_has_yet_went_to_nobody() -> None:
    life = streams_life()
    waits = replace(
        life.task_moves[0], kind=None, outcome="OPEN", granted_at_ms=None, to_process_id=None
    )
    page = group_page(replace(life, task_moves=(waits,)))
    text = " ".join(Parsed(page).text.split())
    assert "Tasks that left a process, those without an owner longest first (1)" in text
    assert "app––" in text
    assert "appunknown" not in text
    assert page.count('class="ph k-consumer">streams<') == len(life.members), "as its lane is"


def test_red_are_epochs_that_were_superseded_alone() -> None:
    life = made_life()
    for outcome, is_bad in (("SUPERSEDED", True), ("GROUP_REMOVED", False), ("UNOBSERVED", False)):
        one = replace(life.epochs[0], outcome=outcome, converged_at_ms=None, converge_ms=None)
        table = _epochs_table(group_page(replace(life, epochs=(one,))))
        assert ('class="t-stuck"' in table) == is_bad


def _epochs_table(page: str) -> str:
    return page.split('<section id="epochs">')[1].split("</section>")[0]


def test_epochs_of_several_lives_say_which_life_each_is_of() -> None:
    """A group that was deleted counts its epochs from the beginning again: without the life, two
    rows of one number differ by their time alone.
    """
    life = made_life()
    first, again = life.epochs[0], replace(life.epochs[-1], epoch=life.epochs[0].epoch)
    assert first.life != again.life
    table = _epochs_table(group_page(replace(life, epochs=(first, again))))
    assert "Life of the groupEpochCause" in Parsed(table).text
    cells = re.findall(r'<td data-v="(\d)">(\d\xa0of\xa0\d)</td>', table)
    assert cells == [("1", "2\xa0of\xa02"), ("0", "1\xa0of\xa02")], "the newest first"


def test_epochs_of_one_life_do_not_name_it() -> None:
    life = made_life()
    epochs = tuple(each for each in life.epochs if each.life == life.epochs[0].life)
    table = _epochs_table(group_page(replace(life, epochs=epochs)))
    assert "of the group" not in table
    assert "1\xa0of\xa01" not in table


def test_lives_of_epochs_and_of_days_have_the_same_numbers() -> None:
    """Also where all epochs that are shown are of one life, and a day is of another."""
    life = made_life()
    day = replace(life.days[0], life=(0, 3))
    epochs = tuple(each for each in life.epochs if each.life == (0, 7))
    page = group_page(replace(life, days=(day,), epochs=epochs))
    assert ">2\xa0of\xa02</td>" in _epochs_table(page)
    assert ">1\xa0of\xa02<" in page.split("What days cost")[1]


OF_A_LIFE = {
    "hand-overs": "hand_overs",
    "stuck": "stuck",
    "members": "members",
    "absences": "absences",
    "tasks": "task_moves",
}
"""Section -> the list whose rows its first table has."""


@pytest.mark.parametrize(("section", "rows"), OF_A_LIFE.items())
def test_rows_of_several_lives_say_which_life_each_is_of(section: str, rows: str) -> None:
    """Clients come back under their names after a group was deleted. Of a life of which there is
    nothing else on the page the number is not known.
    """
    life = streams_life() if section == "tasks" else made_life()
    one = getattr(life, rows)[0]
    first, second = sorted({each.life for each in made_life().epochs})
    of_lives = [replace(one, life=name) for name in (second, first)]
    of_lives += [] if section == "members" else [replace(one, life=(0, 5_000))]
    listed: dict[str, Any] = {"epochs": made_life().epochs, rows: tuple(of_lives)}
    several = replace(life, **listed)
    table = group_page(several).split(f'<section id="{section}">')[1].split("</table>")[0]
    assert "Life of the group" in Parsed(table).text
    said = re.findall(r'<td class="p1"(?: data-v="\d")?>(\d\xa0of\xa0\d|–)</td>', table)
    assert [each for each in said if each != "–"] == ["2\xa0of\xa02", "1\xa0of\xa02"]
    of_first = tuple(each for each in life.epochs if each.life == first)
    listed = {"epochs": of_first, rows: (replace(one, life=first),)}
    page = group_page(replace(life, **listed))
    assert "Life of the group" not in Parsed(page).text


def test_who_never_became_a_member_is_called_by_its_client() -> None:
    """Such as one that was refused again and again."""
    life = made_life()
    one = replace(life.stuck[0], member_id="never-a-member", client_id="intruder")
    assert "intruder" in Parsed(group_page(replace(life, stuck=(one,)))).text
    member = replace(one, member_id=life.members[0].member_id)
    text = Parsed(group_page(replace(life, stuck=(member,)))).text
    assert "intruder" not in text, "a member is called as its lane is"


def test_a_request_names_its_partitions() -> None:
    """Those of one request, in natural order; of many the first."""
    life = made_life()
    one = life.hand_overs[0]
    for many, named in ((3, "payments-2, payments-3, payments-10"), (8, "payments-7 and 2 more")):
        places = (10, 2, 3, 4, 5, 6, 7, 11)[:many]
        asked = tuple(replace(one, partition=place) for place in places)
        page = group_page(replace(life, hand_overs=asked))
        assert f'{named}">{many}</td>' in page


def test_a_task_that_moved_says_how_long_it_had_no_commit() -> None:
    life = streams_life()
    moved = replace(life.task_moves[0], idle_ms=77_000, cause="OWNER_GONE")
    page = group_page(replace(life, task_moves=(moved,)))
    assert "No commit for" in Parsed(page).text
    assert "77.0\u00a0s" in Parsed(page).text
    assert 'title="COLD, OWNER_GONE"' in page


def test_a_group_that_is_half_way_for_too_long_is_said_to_be() -> None:
    life = made_life()
    assert life.state is not None
    for is_stalled in (True, False):
        page = group_page(replace(life, state=replace(life.state, is_stalled=is_stalled)))
        assert ("It has been so for too long." in Parsed(page).text) == is_stalled


def test_readiness_of_a_group_names_the_assignor_that_it_would_have() -> None:
    life = made_life()
    assert life.verdict is not None
    verdict = replace(life.verdict, suggested_assignor="uniform")
    page = Parsed(group_page(replace(life, verdict=verdict))).text
    assert "on the consumer protocol would be uniform." in page
    assert "Its assignor" not in Parsed(group_page(life)).text


def test_a_time_of_day_alone_is_one_of_the_last_24_hours() -> None:
    """An episode that is open for days began on another day, and a page may show many nights."""
    life = made_life()
    one = life.stuck[0]
    since = (AS_OF_MS - 3_600_000, AS_OF_MS - 86_400_000, AS_OF_MS - 5 * 86_400_000)
    rows = tuple(replace(one, since_at_ms=ms) for ms in since)
    table = group_page(replace(life, stuck=rows)).split('<section id="stuck">')[1]
    links = re.findall(r'href="#t=(\d+)">([^<]+)<', table.split("</table>")[0])
    assert links == [
        (str(since[0]), "04:42:04"),
        (str(since[1]), "20 Nov 05:42:04"),
        (str(since[2]), "16 Nov 05:42:04"),
    ]


def test_each_time_of_a_table_leads_into_the_timeline() -> None:
    """Of lives of members too."""
    page = group_page(made_life())
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        outside = re.sub(r"<a [^>]*>.*?</a>", "", table, flags=re.DOTALL)
        times = re.findall(r"\d\d:\d\d:\d\d", Parsed(outside).text)
        assert times == [] or "What days cost" in outside, times
    members = page.split('<section id="members">')[1]
    first = made_life().members[0]
    assert f'href="#t={first.joined_at_ms}"' in members
    assert f'href="#t={first.ended_at_ms}"' in members
