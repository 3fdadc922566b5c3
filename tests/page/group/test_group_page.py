"""The page of a group: what happened is in it, whatever was not seen says so, and ids are text."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from groupreplay.page.drawing.document import slug
from groupreplay.page.drawing.markup import seen
from groupreplay.page.group.decision_tables import gone_for
from groupreplay.page.group.group_page import group_page
from groupreplay.page.model import life as model
from groupreplay.page.model import life_of_tasks
from groupreplay.page.model.life import GroupLife
from tests.page.parsed import Parsed
from tests.support.page_rows import AS_OF_MS, HOSTILE, LIFE, NIGHT, made_life


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
        "the coordinator moved to broker 2 between",
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
    bare = replace(made_life(), what_if=(), absences=(), failovers=())
    text = Parsed(group_page(bare)).text
    for words in ("under another protocol", "Who was gone", "Moves of the", "gone, absorbed"):
        assert words not in text, words


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
    assert "Only the newest rows are here of: spans." in text


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


def test_processes_of_kafka_streams_have_lanes_and_tasks_rows() -> None:
    page = group_page(_streams_life())
    said = titles(page)
    assert "task 0_1 from app to app, cold: it had nothing of the task" in said
    assert "bounced back" in said
    assert "app runs task 0_1" in said
    assert "app learns task 0_1" in said
    assert page.count('class="lane"') == 2
    assert {"hand cold", "hand bad"} <= set(re.findall(r'class="(hand [a-z]+)"', page))


def _streams_life() -> GroupLife:
    life = made_life(members=2, epochs=4)
    begin = AS_OF_MS - 10 * 60_000
    processes = tuple(
        life_of_tasks.Process(
            life=LIFE,
            process_id=f"{place}" * 8,
            threads=2,
            restarts=0,
            hosts=("/10.0.0.1",),
            joined_at_ms=begin,
            end_reason="OPEN",
        )
        for place in (1, 2)
    )
    members = tuple(
        model.Member(
            life=LIFE,
            member_id=f"p{place}-{thread}",
            client_id=f"app-StreamThread-{thread}-consumer",
            member_protocol="streams",
            process_id=f"{place}" * 8,
            joined_at_ms=begin,
            end_reason="OPEN",
        )
        for place in (1, 2)
        for thread in (1, 2)
    )
    move = life_of_tasks.TaskMove(
        life=LIFE,
        task_id="0_1",
        from_member_id="p1-1",
        from_process_id="1" * 8,
        to_member_id="p2-1",
        to_process_id="2" * 8,
        kind="COLD",
        cause="REBALANCED",
        outcome="TRANSFERRED",
        released_at_ms=begin + 60_000,
        granted_at_ms=begin + 61_000,
    )
    span = life_of_tasks.TaskSpan(
        life=LIFE,
        member_id="p2-1",
        process_id="2" * 8,
        subtopology="0",
        partition=1,
        task_id="0_1",
        role="ACTIVE",
        assigned_at_ms=begin + 61_000,
        end_reason="OPEN",
    )
    return replace(
        life,
        members=members,
        spans=(),
        held=(),
        hand_overs=(),
        stuck=(),
        processes=processes,
        tasks=(span, replace(span, role="WARMUP", process_id="1" * 8, member_id="p1-1")),
        task_moves=(
            move,
            replace(move, kind="WARMED", outcome="RETURNED", granted_at_ms=begin + 90_000),
        ),
    )
