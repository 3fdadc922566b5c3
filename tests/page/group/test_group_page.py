"""The page of a group: what happened is in it, whatever was not seen says so, and ids are text.

Holds page/group/decision_tables.py, page/timeline/arrows.py, page/timeline/bands.py.
Holds page/timeline/epoch_marks.py, page/timeline/held_partitions.py, page/timeline/lane_marks.py.
Holds page/timeline/task_rows.py.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from groupreplay.page.drawing.document import slug
from groupreplay.page.drawing.markup import seen
from groupreplay.page.group.decision_tables import gone_for
from groupreplay.page.group.group_page import group_page
from groupreplay.page.model import life as model
from groupreplay.page.model.life import GroupLife
from tests.page.parsed import Parsed, timeline_of
from tests.support.life_rows import LIFE, capped_life, made_life
from tests.support.page_rows import AS_OF_MS, HOSTILE, NIGHT
from tests.support.streams_life_rows import streams_life


def titles(page: str) -> str:
    return "\n".join(re.findall(r"<title>(.*?)</title>", page))


def test_all_that_happened_is_a_mark() -> None:
    said = titles(group_page(made_life()))
    for words in (
        "waits with 3 partitions",
        "static and away, 3 partitions kept for it",
        "in state A_NEW_STATE",
        "its start was not seen",
        "not seen: records are missing between",
        "the group was deleted and begins another life",
        "join phase 3.0\u00a0s, sync phase 1.0\u00a0s",
        "was refused 12 times: UPGRADE_REFUSED",
        "rollout (ROLLOUT) from",
        "the whole group: half-way too long (MIGRATION_STALLED)",
        "held by payments.settlement-0",
        "left or fenced at",
        "had no owner for 9.0\u00a0s",
        "nothing happened for",
        "readiness: ready, with warnings (WARN), watched not known for how long",
        "the coordinator moved to broker 2 (leader epoch 3 to 4) between",
        "while the group was letting go (REVOKING); within a minute 2 epochs began",
        "payments.settlement, static, was gone since",
        "for 20.0\u00a0s: absorbed (ABSORBED), its session is 45.0\u00a0s",
        "expired (EXPIRED), its session is 45.0\u00a0s; it held 3 partitions, 3 moved",
        "away now (AWAY)",
    ):
        assert words in said, words


def test_decisions_have_tables_where_there_are_rows() -> None:
    text = " ".join(Parsed(group_page(made_life())).text.replace("\u00a0", " ").split())
    for words in (
        "What waves would have cost under another protocol (3)",
        "consumer, as it was",
        "part of the wave was not seen",
        "−2 %",
        "Processes that were gone (4)",
        "Moves of the coordinator (1)",
        "1 to 2",
        "gone, absorbed",
        "gone, not absorbed",
        "gone, its end not seen",
    ):
        assert words in text, words
    assert "polled too late" not in text
    bare = replace(made_life(), what_if=(), absences=(), failovers=())
    text = Parsed(group_page(bare)).text
    for words in ("under another protocol", "Who was gone", "Moves of the", "gone, absorbed"):
        assert words not in text, words


def test_what_a_wave_did_cost_says_why_it_is_less_than_the_wave() -> None:
    """Of members that polled too late the one leaves out how long they had stopped before."""
    life = made_life()
    wave, priced = life.waves[0], life.what_if[0]
    assert wave.started_at_ms == priced.started_at_ms
    wave = replace(wave, stopped_ms=(priced.actual_ms or 0) + 1, is_estimate=True)
    text = Parsed(group_page(replace(life, waves=(wave,)))).text
    assert "members that polled too late had stopped before they went" in text


@pytest.mark.parametrize(
    ("gap_ms", "low_ms", "high_ms", "said"),
    [
        (5_000, 4_000, 9_000, "5.0 s"),
        (None, 4_000, 9_000, "4.0 s to 9.0 s"),
        (None, 4_000, None, "≥ 4.0 s"),
        (None, None, 9_000, "≤ 9.0 s"),
        (None, None, None, "–"),
    ],
)
def test_how_long_it_was_gone_is_said_as_far_as_it_is_known(
    gap_ms: int | None, low_ms: int | None, high_ms: int | None, said: str
) -> None:
    absence = replace(
        made_life().absences[0], gap_ms=gap_ms, gap_low_ms=low_ms, gap_high_ms=high_ms
    )
    assert gone_for(absence).replace("\u00a0", " ") == said


def test_an_absence_whose_end_was_not_seen_is_a_point() -> None:
    life = made_life()
    hidden = replace(life.absences[3], left_at_ms=AS_OF_MS - 60_000)
    page = group_page(replace(life, absences=(hidden,)))
    (drawn,) = re.findall(r'<rect[^>]*width="([0-9.]+)%"[^>]*class="absent open"', page)
    assert float(drawn) < 0.2
    assert "not seen (UNOBSERVED)" in titles(page)


def test_hand_overs_are_arrows_from_lane_to_lane() -> None:
    life = made_life()
    other = replace(life.hand_overs[0], granted_to="new-5")
    page = group_page(replace(life, hand_overs=(other,)))
    assert page.count('class="mk ho"') == 1
    assert "hand bad" in page


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_ids_are_text(hostile: str) -> None:
    parsed = Parsed(group_page(made_life(hostile, members=3, epochs=6)))
    assert parsed.count("script") == 2
    assert not [found for _, found in parsed.tags if any(name.startswith("on") for name in found)]
    assert (seen(hostile) or "(empty)") in parsed.text
    assert re.fullmatch(r"[0-9a-f]{20}", slug("prod-eu", hostile))


def test_the_same_rows_give_the_same_bytes() -> None:
    assert group_page(made_life()) == group_page(made_life())


def test_a_group_of_many_members_is_cut_and_says_so() -> None:
    life = made_life(members=120, epochs=300)
    page = group_page(life)
    assert len(page.encode()) < 1_000_000
    assert len(Parsed(page).tags) < 10_000
    text = Parsed(page).text
    assert "80 more lanes" in text
    assert "60 of 300 are on this page" in text.replace("\u00a0", " ") or "60 of 298" in text
    assert "7 of what members were doing. The tables of the night have them." in text


def test_a_group_that_moved_all_night_is_within_budget_and_says_what_is_cut() -> None:
    page = group_page(capped_life())
    assert len(page.encode()) < 600_000
    assert len(Parsed(page).tags) < 10_000
    text = " ".join(Parsed(page).text.replace("\u00a0", " ").split())
    for words in (
        "20 more lanes",
        "The most telling ones are drawn: ",
        "240 of 2,400 holders of partitions",
        "100 of 500 epochs",
        "40 of 200 waves",
        "40,000 of what members were doing",
        "≥ 500 began, ≥ ",
        "of ≥ 1,000 partitions, slowest ≥ ",
        "28 of 200 are on this page",
    ):
        assert words in text, words


def test_what_was_not_seen_looks_frayed() -> None:
    life = made_life()
    span, held = life.spans[1], life.held[0]
    page = group_page(replace(life, spans=(span,), held=()))
    assert "fray" not in page.split("</style>")[1].replace("h-fray", "").replace("hatch-fray", "")
    hidden = replace(span, start_observed=False, end_observed=False)
    page = group_page(replace(life, spans=(hidden,), held=()))
    assert page.count('class="fray"') == 2 + 1, "both ends, and the key"
    assert "its start was not seen; its end was not seen" in titles(page)
    lost = (
        replace(held, start_observed=False, end_reason="UNOBSERVED"),
        replace(held, member_id="new-1", assigned_at_ms=held.assigned_at_ms + 60_000),
    )
    page = group_page(replace(life, spans=(), held=lost))
    assert page.count('class="fray"') == 2 + 1
    assert "at the latest, its end was not seen" in titles(page)
    streams = streams_life()
    task = replace(streams.tasks[0], start_observed=False, released_at_ms=None, end_reason="LOST")
    process = replace(streams.processes[0], start_observed=False, end_reason="UNOBSERVED")
    page = group_page(replace(streams, tasks=(task,), processes=(process, streams.processes[1])))
    assert page.count('class="fray"') == 4 + 1
    assert "with 2 threads from 21 Nov" in titles(page)


@pytest.mark.parametrize(
    ("name", "said"),
    [((0, 900), "the group was deleted and begins"), ((1, 3), "is read from another log")],
)
def test_another_log_is_not_another_life(name: tuple[int, int], said: str) -> None:
    life = made_life()
    later = replace(life.epochs[5], life=name)
    page = group_page(replace(life, epochs=(*life.epochs[:5], later)))
    assert said in titles(page)
    assert (", 2 lives" in Parsed(page).text) == (name[0] == 0)
    assert (", 2 logs" in Parsed(page).text) == (name[0] == 1)


def test_what_a_life_left_open_ends_where_the_next_one_begins() -> None:
    """An epoch of a group that was deleted, and a join phase that nobody finished."""
    life = made_life()
    start = life.epochs[0].started_at_ms
    removed = replace(life.epochs[0], converged_at_ms=None, superseded_at_ms=None)
    removed = replace(removed, converge_ms=None, outcome="GROUP_REMOVED")
    again = replace(removed, life=(0, 8), started_at_ms=start + 120_000, outcome="OPEN")
    joins = replace(life.rebalances[0], started_at_ms=start, joined_at_ms=None, synced_at_ms=None)
    bare = replace(life, members=(), spans=(), hand_overs=(), held=(), stuck=(), waves=())
    said = titles(group_page(replace(bare, epochs=(removed, again), rebalances=(joins,))))
    assert "group removed (GROUP_REMOVED) after 2\u00a0min" in said
    assert "join phase 2\u00a0min" in said


def test_a_request_that_nobody_timed_is_not_the_slowest() -> None:
    life = made_life()
    unseen = tuple(replace(each, revoke_ms=None) for each in life.hand_overs)
    partitions = f"of {len(unseen)} partitions, slowest"
    assert f"{partitions} –" in Parsed(group_page(replace(life, hand_overs=unseen))).text
    one = replace(life, hand_overs=(*unseen[1:], replace(unseen[0], revoke_ms=7)))
    assert f"{partitions} 7\u00a0ms" in Parsed(group_page(one)).text


@pytest.mark.parametrize(
    ("cohort", "said"),
    [
        ("- / ?", "no team / software not known"),
        ("a / b / java", "a / b / java"),
        ("- / java 4", "no team / java 4"),
    ],
)
def test_a_cohort_and_severities_are_words(cohort: str, said: str) -> None:
    rules = (("R4", "NA", "x"), ("R3", "BLOCK_ONLINE", None), ("R99", "NEW", None))
    verdict = model.Verdict(verdict="WARN", cohort=cohort, rules=rules)
    text = Parsed(group_page(replace(made_life(), verdict=verdict))).text
    assert f"Cohort {said}." in text
    assert "R4not applicablexR3block online–R99NEW–" in text


def test_a_group_that_is_gone_has_a_page() -> None:
    bare = GroupLife(
        cluster="c",
        logical_date=NIGHT,
        group_id="g",
        from_at_ms=None,
        as_of_ms=AS_OF_MS,
        version="0",
    )
    text = Parsed(group_page(bare)).text
    assert "the group was deleted before the end of this night" in text
    assert "The group has no members." in text


def test_days_that_cost_are_a_band_and_a_table() -> None:
    life = made_life()
    life = replace(life, epochs=tuple(each for each in life.epochs if each.life == LIFE))
    page = group_page(life)
    say = "2026-11-21: partitions were not read for 90.0\u00a0s to 2\u00a0min\u00a031\u00a0s together, read"
    assert f"{say} 99.500\u00a0% of the time at most, 24 rebalances" in titles(page)
    drawn = timeline_of(page)
    assert drawn.count('class="day"') == 1, "a day that cost nothing is no bar"
    assert '<li class="band">not read</li>' in drawn
    text = " ".join(Parsed(page).text.replace("\u00a0", " ").split())
    assert "What days cost (2)" in text
    assert "2026-11-2190.0 s2 min 31 s99.500 %98.250 %6.9 s1761.0 s" in text
    free = group_page(replace(life, days=()))
    assert "What days cost" not in free
    assert "not read" not in timeline_of(free)


def test_a_day_of_several_lives_says_which_life_a_row_is_of() -> None:
    life = made_life()
    first, second = LIFE, (0, 900)
    assert second in {each.life for each in life.epochs}
    day = life.days[0]
    noon = day.from_at_ms + 3_600_000
    days = (
        replace(day, to_at_ms=noon),
        replace(day, life=second, from_at_ms=noon, low_ms=1, high_unknown=2),
    )
    page = group_page(replace(life, days=days))
    said = titles(page)
    assert f"{day.day} (life 1 of 2): partitions were not read for 90.0\u00a0s to" in said
    assert f"{day.day} (life 2 of 2): partitions were not read for at least 1\u00a0ms" in said
    text = " ".join(Parsed(page).text.replace("\u00a0", " ").split())
    assert "DayLife of the groupNot read, at least" in text
    assert re.search(r"2026-11-211 of 2: [0-9:]{8} to [0-9:]{8}90\.0 s", text)
    assert re.search(r"2026-11-212 of 2: [0-9:]{8} to [0-9:]{8}1 msnot known", text)
    alone = tuple(each for each in life.epochs if each.life == first)
    page = group_page(replace(life, days=days[:1], epochs=alone))
    assert "Life of the group" not in page
    assert "(life 1 of" not in page


def test_an_online_upgrade_and_the_epoch_that_it_repeats_are_both_there() -> None:
    life = made_life()
    start = life.epochs[0].started_at_ms
    before = replace(life.epochs[0], epoch=7, protocol="classic", cause="JOIN")
    after = replace(before, protocol="consumer", cause="UPGRADE", started_at_ms=start + 300_000)
    upgrade = model.Conversion(
        life=LIFE, converted_at_ms=start + 300_000, direction="UPGRADE", mode="ONLINE"
    )
    page = group_page(replace(life, epochs=(before, after), conversions=(upgrade,)))
    drawn = timeline_of(page)
    assert re.findall(r'class="num">(\d+)</tspan> (\w+)<', drawn) == [
        ("7", "join"),
        ("7", "upgrade"),
    ]
    assert drawn.count('class="f-mixed"') == 1
    said = titles(page)
    assert "upgrade of the group, online, at 21 Nov" in said
    assert "generation 7 at 21 Nov" in said
    assert "\nepoch 7 at 21 Nov" in said


def test_a_state_that_is_not_known_looks_like_none_that_is() -> None:
    drawn = timeline_of(group_page(made_life()))
    assert drawn.count('class="sp unknown p-consumer"') == 1
    assert re.search(r"<title>[^<]*in state A_NEW_STATE[^<]*</title><rect[^>]*sp unknown", drawn)


def test_processes_of_kafka_streams_have_lanes_and_tasks_rows() -> None:
    page = group_page(streams_life())
    said = titles(page)
    assert "task 0_1 from app to app, cold: it had nothing of the task" in said
    assert "task 0_2 from app to app, warm: it had learned the task before, handed over" in said
    assert "bounced back" in said
    assert "app runs task 0_1" in said
    assert "app learns task 0_1" in said
    assert "app keeps a replica of task 0_2" in said
    drawn = timeline_of(page)
    assert drawn.count('class="lane"') == 2
    assert re.findall(r'class="(hand[a-z ]*)" marker-end="url\(#([a-z-]+)\)"', drawn) == [
        ("hand cold", "arrow-cold"),
        ("hand", "arrow"),
        ("hand bad", "arrow-bad"),
    ]
    for role in ("active", "warmup", "standby"):
        assert drawn.count(f'class="hold p-consumer {role}"') == 1


def test_an_application_whose_tasks_stayed_has_no_hand_overs_of_partitions() -> None:
    life = streams_life()
    still = replace(life, task_moves=(), hand_overs=())
    text = Parsed(group_page(still)).text
    assert "No task left its process." in text
    assert "No partition was asked back." not in text
    bare = replace(still, tasks=(), processes=(), state=model.State(phase="NOT_APPLICABLE"))
    text = Parsed(group_page(bare)).text
    assert "No partition was asked back." in text
    assert "Cannot take part in the migration" in text
    assert "no owners file names one" in text


def test_the_key_has_those_moves_of_tasks_that_are_drawn() -> None:
    life = streams_life()
    cold, warm, back = life.task_moves
    threads = replace(cold, kind="IN_PROCESS", to_process_id=cold.from_process_id)
    waits = replace(cold, kind=None, outcome="OPEN", granted_at_ms=None, to_process_id=None)
    words = {"handed over warm", "handed over cold", "bounced back"}
    for move, word in (
        (cold, "handed over cold"),
        (replace(cold, kind="DORMANT"), "handed over cold"),
        (warm, "handed over warm"),
        (back, "bounced back"),
        (threads, None),
        (waits, None),
    ):
        page = group_page(replace(life, task_moves=(move,)))
        key = page[page.index("tlkey") : page.index('class="tlbox"')]
        assert {each for each in words if each in key} == ({word} if word else set())
        assert timeline_of(page).count('class="mk ho"') == (word is not None)
