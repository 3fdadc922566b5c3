"""The overview: numbers, empty states, hostile ids, and the same bytes for the same rows.

Holds page/model/fleet.py, page/overview/decision_sections.py, page/overview/migration_sections.py.
Holds page/overview/rebalance_sections.py, page/overview/streams_section.py.
Holds page/overview/stuck_section.py.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import time
from dataclasses import replace

import pytest

from groupreplay.page.drawing.document import CSS, JS, POLICY, slug
from groupreplay.page.drawing.markup import seen
from groupreplay.page.model.read import read_fleet
from groupreplay.page.overview.overview import SECTIONS, overview
from tests.page.parsed import Parsed
from tests.support.page_rows import AS_OF_MS, HOSTILE, NIGHT, fleet_rows, made_fleet


def data_of(page: str) -> dict[str, list[object]]:
    packed = re.search(r'id="data">([A-Za-z0-9+/=]*)<', page)
    assert packed is not None
    found: dict[str, list[object]] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return found


def test_the_same_rows_give_the_same_bytes_in_any_order() -> None:
    rows = fleet_rows(300)
    page = overview(made_fleet(300))
    turned = {kind: list(reversed(found)) for kind, found in rows.items()}
    again = read_fleet(
        turned,
        cluster="prod-eu",
        logical_date=NIGHT,
        as_of_ms=AS_OF_MS,
        since_at_ms=AS_OF_MS - 86_400_000,
        version="0.0.0",
    )
    assert overview(again) == page


def test_hostile_ids_are_text_everywhere() -> None:
    page = overview(made_fleet(300, pages=20))
    parsed = Parsed(page)
    assert parsed.count("script") == 2
    assert parsed.count("img") == 0
    assert not [found for _, found in parsed.tags if any(name.startswith("on") for name in found)]
    assert "style" not in {name for _, found in parsed.tags for name in found}
    for hostile in HOSTILE[:20]:
        assert (seen(hostile) or "(empty)") in parsed.text
    ids = data_of(page)["id"]
    assert {*HOSTILE} <= {*ids}


def test_links_lead_to_pages_of_this_night_alone() -> None:
    fleet = made_fleet(300, pages=20)
    pages = {f"g/{slug('prod-eu', name)}.html" for name in fleet.has_pages}
    links = set(Parsed(overview(fleet)).attributes("href"))
    assert {link for link in links if link[0] != "#" and link.endswith(".html")} == pages
    newest = set(Parsed(overview(replace(fleet, prefix="2026-11-21/"))).attributes("href"))
    assert {link for link in newest if link[0] != "#" and link.endswith(".html")} == {
        f"2026-11-21/{one}" for one in pages
    }
    anchors = {link[1:] for link in links if re.fullmatch(r"#[a-z-]+", link)}
    assert anchors == {id_ for id_, _ in SECTIONS}
    assert anchors <= set(Parsed(overview(fleet)).attributes("id"))


def test_only_this_script_and_this_stylesheet_may_act() -> None:
    page = overview(made_fleet(3))
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert "unsafe" not in POLICY
    assert Parsed(page).attributes("content").count(POLICY) == 1
    for what, kind, asset in (("style-src", "style", CSS), ("script-src", "script", JS)):
        (found,) = re.findall(f"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        assert found == asset
        digest = base64.b64encode(hashlib.sha256(found.encode()).digest()).decode()
        assert f"{what} 'sha256-{digest}';" in POLICY


def test_what_the_script_calls_the_page_is_no_look_of_a_part() -> None:
    """A look by that name alone would be the whole page's, and parts take after it."""
    names = set(re.findall(r'root\.classList\.add\("([a-z-]+)"\)', JS))
    assert names == {"on-js", "ready"}
    for name in names:
        assert not re.search(rf"(?:^|[,}}])\s*\.{name}\s*[,{{]", CSS, re.MULTILINE), name


def test_a_night_in_which_nothing_happened_says_what_is_good_about_it() -> None:
    bare = read_fleet(
        {}, cluster="c", logical_date=NIGHT, as_of_ms=AS_OF_MS, since_at_ms=None, version="0"
    )
    parsed = Parsed(overview(bare))
    for sentence in (
        "No group can take part in the migration yet.",
        "Nobody is stuck.",
        "No member speaks the classic protocol any more.",
        "No partition was asked back in this night.",
        "No group rebalanced.",
        "No offset is missing.",
        "No rule of the protocol was broken.",
    ):
        assert sentence in parsed.text
    assert "Kafka Streams" not in parsed.text
    assert not {"#streams", "streams"} & {*parsed.attributes("href"), *parsed.attributes("id")}


def test_groups_that_cannot_take_part_may_speak_classic() -> None:
    fleet = made_fleet(60)
    nobody = "{} speaks the classic protocol any more."
    for left_out, empty, who in (
        (5, 4, "No member of a group that can take part"),
        (5, 5, "No member"),
    ):
        last = replace(fleet.nights[-1], left_out=left_out)
        phases = {**fleet.phases, "EMPTY": empty}
        done = replace(fleet, clients=(), nights=(last,), phases=phases)
        assert nobody.format(who) in Parsed(overview(done)).text


@pytest.mark.parametrize("low_ms", [0, 1])
def test_days_without_a_cost_are_numbers_and_no_chart(low_ms: int) -> None:
    """Its axis would say 0 ms twice, and 1 ms for nothing."""
    day = {"day": str(NIGHT), "partitions_ms": 9, "low_ms": low_ms, "high_ms": low_ms}
    rows = {"cost_days": [{**day, "high_unknown": 0, "moved": 2, "returned": 0}]}
    fleet = read_fleet(
        rows, cluster="c", logical_date=NIGHT, as_of_ms=AS_OF_MS, since_at_ms=None, version="0"
    )
    section = overview(fleet).split('<section id="costs">')[1].split("</section>")[0]
    assert "The same as numbers" in section
    assert ("<svg" in section) == bool(low_ms)


def test_costs_say_at_least_and_at_most_and_waves_about() -> None:
    """An estimate of a wave may be many times what is certain of the same partitions."""
    day = {"partitions_ms": 900_000, "low_ms": 338, "high_ms": 77_900, "moved": 2, "returned": 0}
    rows = {
        "cost_days": [{**day, "day": str(NIGHT), "high_unknown": 0}],
        "cost_groups": [
            {**day, "group_id": "known", "high_unknown": 0},
            {**day, "group_id": "open", "high_unknown": 1},
        ],
        "wave_counts": [{"wave": "CRASH", "waves": 2}],
    }
    crash = {"group_id": "known", "wave": "CRASH", "started_at_ms": 1, "ended_at_ms": 2}
    crash |= {"departed": 1, "joined": 0, "stopped_ms": 77_700}
    rows["waves"] = [{**crash, "is_estimate": True}, {**crash, "is_estimate": False}]
    fleet = read_fleet(
        rows, cluster="c", logical_date=NIGHT, as_of_ms=AS_OF_MS, since_at_ms=None, version="0"
    )
    text = " ".join(Parsed(overview(fleet)).text.replace("\u00a0", " ").split())
    assert "21 Nov338 ms77.9 s" in text
    assert "known338 ms77.9 s" in text
    assert "open338 msnot known" in text
    assert "≈ 77.7 s" in text
    assert "≥ 77.7 s" in text
    assert "when a reader stopped, which the estimates of waves (≈) take into account" in text


def test_applications_of_kafka_streams_are_told_as_in_the_summary() -> None:
    text = " ".join(Parsed(overview(made_fleet(60))).text.split())
    for words in (
        "Applications6030 classic, 30 streams; 120 processes, 240 threads",
        "90 tasksof 1,920 tasks, in 30 applications",
        "40 membersthe longest for",
        "1,207 tasks1,200 warm, 4 cold, 1 A_NEW_KIND, 4 bounced back, 2 open",
        "Applications that rebalance and get nowhere (5)",
        "probes in vain",
        "at once",
        "Members that learn a task, the longest first (40)",
        "25 of 40 are on this page.",
    ):
        assert words in text, words


def test_applications_that_are_gone_leave_their_hand_overs() -> None:
    rows = {"task_moves": [{"kind": "COLD", "outcome": "TRANSFERRED", "tasks": 1}]}
    gone = read_fleet(
        rows, cluster="c", logical_date=NIGHT, as_of_ms=AS_OF_MS, since_at_ms=None, version="0"
    )
    text = " ".join(Parsed(overview(gone)).text.split())
    for sentence in (
        "none has members now",
        "1 task1 cold",
        "No task is known to be elsewhere than it should be.",
        "Nobody is learning a task.",
        "No task that moved was seen to wait for a commit.",
    ):
        assert sentence in text, sentence
    assert "get nowhere" not in text


def test_numbers_of_the_headline_are_those_of_the_night() -> None:
    fleet = made_fleet(500)
    last = fleet.nights[-1]
    headline = " ".join(Parsed(overview(fleet)).text.split("Migration")[0].split())
    total = last.classic + last.mixed + last.consumer
    assert f"{last.consumer:,} of {total:,} groups are on the consumer protocol" in headline
    assert f"{last.classic:,} are still classic" in headline
    assert f"{last.mixed:,} are half-way" in headline


@pytest.mark.parametrize(
    ("holes", "undecoded", "said"),
    [
        (0, 0, "without a hole."),
        (12, 0, "with 12 offsets missing."),
        (0, 1, "with 1 row not decoded."),
        (1_240, 7, "with 1,240 offsets missing and 7 rows not decoded."),
    ],
)
def test_the_second_sentence_says_whether_the_night_can_be_trusted(
    holes: int, undecoded: int, said: str
) -> None:
    fleet = made_fleet(60)
    found = replace(fleet, seen=replace(fleet.seen, holes=holes, undecoded=undecoded))
    text = " ".join(Parsed(overview(found)).text.split())
    assert f"This night was seen {said}" in text


def test_numbers_are_of_all_though_lists_are_cut() -> None:
    fleet = made_fleet(60)
    reasons = (
        replace(fleet.reasons[0], open=4_321),
        replace(fleet.reasons[0], reason="MIGRATION_STALLED", open=12),
    )
    text = " ".join(Parsed(overview(replace(fleet, reasons=reasons))).text.split())
    assert "4,321 stuck now, the longest for " in text
    assert "; 12 half-way for too long" in text
    assert "Open episodes, the longest first (4,321)" in text
    assert " of 4,321 are on this page." in text
    assert "Went back2 groups this night" in text


def test_a_finder_that_is_cut_says_of_how_many() -> None:
    fleet = made_fleet(60)
    page = overview(replace(fleet, groups_total=61_204))
    text = " ".join(Parsed(page).text.split())
    assert "60 of 61,204 groups: those in trouble first" in text
    assert "attention of 61,204 groups. With scripts allowed, this page finds 60." in text
    assert "attention of 60 groups. With scripts allowed, this page finds all of them." in " ".join(
        Parsed(overview(fleet)).text.split()
    )


def test_who_holds_is_named_by_client() -> None:
    fleet = made_fleet(60)
    episode = replace(fleet.stuck[0], blocked_by=("id-1", "id-2"))
    members = {(episode.group_id, "id-1"): "payments-7", (episode.group_id, "id-2"): None}
    text = Parsed(overview(replace(fleet, stuck=(episode,), members=members))).text
    assert "payments-7" in text
    assert "id-1" not in text


def test_a_stuck_row_says_since_when_how_often_and_what_else_is_known() -> None:
    fleet = made_fleet(60)
    episode = replace(
        fleet.stuck[0],
        reason="FENCE_LOOP",
        since_at_ms=AS_OF_MS - 86_400_000,
        repetitions=14,
        detail='of "this" kind',
    )
    page = overview(replace(fleet, stuck=(episode,)))
    text = " ".join(Parsed(page).text.replace("\u00a0", " ").split())
    assert "fenced again and again 14 ×" in text
    assert "20 Nov 05:42:04" in text
    assert 'title="FENCE_LOOP, 14 repetitions: of &quot;this&quot; kind"' in page
    bare = replace(episode, repetitions=None, detail=None)
    assert 'title="FENCE_LOOP"' in overview(replace(fleet, stuck=(bare,)))


def test_a_request_that_is_open_took_longer_than_is_known() -> None:
    fleet = made_fleet(60)
    slow = replace(fleet.slow[0], revoke_ms=61_000, outcome="OPEN", is_censored=True)
    text = Parsed(overview(replace(fleet, slow=(slow,)))).text
    assert "≥ 61.0\u00a0s" in text


@pytest.mark.parametrize(
    ("groups", "most_bytes"),
    [(500, 400_000), (5_000, 450_000), pytest.param(50_000, 1_000_000, marks=pytest.mark.long)],
)
def test_sizes_and_time_are_within_budget(groups: int, most_bytes: int) -> None:
    fleet = made_fleet(groups)
    started = time.process_time()
    page = overview(fleet)
    assert time.process_time() - started < 2
    assert len(page.encode()) < most_bytes
    assert len(Parsed(page).tags) < 10_000


def test_ids_stay_values_and_never_become_keys() -> None:
    data = data_of(overview(made_fleet(300, pages=20)))
    assert set(data) == {"prefix", "total", "teams", "id", "ph", "m", "c", "e", "s", "t", "page"}
    assert all(str(key).isdecimal() for key in data["page"])


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (1, "1 group: waits for the canary of its cohort."),
        (2, "2 groups: wait for the canaries of their cohorts."),
    ],
)
def test_readiness_speaks_of_one_group_and_of_several(groups: int, said: str) -> None:
    rows = {"verdicts": [{"verdict": "WARN", "flip_tier": 3, "groups": groups}]}
    fleet = read_fleet(
        rows, cluster="c", logical_date=NIGHT, as_of_ms=AS_OF_MS, since_at_ms=None, version="0"
    )
    assert said in Parsed(overview(fleet)).text


def test_one_night_of_causes_has_one_date() -> None:
    one = made_fleet(60, nights=1)
    text = Parsed(overview(one)).text
    assert "21 Nov to" not in text
    assert "20 Nov to 21 Nov" in Parsed(overview(made_fleet(60, nights=2))).text
