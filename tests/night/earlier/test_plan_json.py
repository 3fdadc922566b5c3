"""The JSON of runs: what this code writes, and what released versions wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupreplay.config.model import GroupsConfig
from groupreplay.night.earlier.plan_json import from_json, joined_json
from groupreplay.night.landing.landed import LinesLanding, RecordsLanding
from groupreplay.night.plans.plan import Plan
from groupreplay.night.plans.results import Results
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.sources.watermark import NO_TIME_MS, Mark, PartitionWatermark, TextWatermark
from groupreplay.wire.segments.units import Unit, UnitFile

WRITTEN = Path(__file__).parents[1] / "plan_texts"
"""`runs.plan` as released versions wrote it. A file here stays as it is."""

LANDING = RecordsLanding(
    watermarks={
        3: PartitionWatermark(
            10,
            newest_ms=6,
            last_hole=7,
            files="ab",
            missing=((0, 3), (5, 7)),
            seen={"key": 9},
            filled=((3, 5),),
            filled_ms={3: 4},
            mark=Mark("s", 1, 2, 3, 4),
            log_incarnation=2,
            read_until_ms=8,
        ),
        4: PartitionWatermark(0),
    },
    as_of_ms=5,
    open_commits=1,
    rows=2,
    markers=3,
    holes=((3, 7), (3, 9)),
    kinds=("record",),
    topic_id="id",
    cluster_id="cluster",
)
LINES = LinesLanding(
    watermarks={"a": TextWatermark(1, size=2, newest_ms=3, last_seen="2026-11-20")},
    sources=("server_log",),
    rows=3,
    kinds=("file", "line"),
    raw_version=4,
)
PLAN = Plan(
    (Unit(3, 0, -1, (UnitFile("segments", "/l", 5, "r"),), "segments", "i", ((0, 3),)),),
    4,
    (("/x\n", "why"),),
    live=LiveTopic("__consumer_offsets", "id", 7, {0: (0, 9), 12: (3, 4)}, 5, "cluster", (12,)),
)
RESULTS = Results(
    landing=LANDING, lines=LINES, groups=GroupsConfig(exclude=("a*",)), staged_kinds=("epoch",)
)


def test_plan_and_results_are_read_back_from_one_text() -> None:
    text = joined_json(PLAN, RESULTS)
    assert from_json(Plan, text) == PLAN
    assert from_json(Results, text) == RESULTS
    empty = joined_json(Plan(()), Results())
    assert (from_json(Plan, empty), from_json(Results, empty)) == (Plan(()), Results())


def test_what_a_text_lacks_takes_its_default_and_what_nobody_knows_is_skipped() -> None:
    old = json.loads(joined_json(PLAN, RESULTS))
    del old["lines"], old["landing"]["topic_id"], old["landing"]["partitions"]["3"]["seen"]
    assert old["landing"]["partitions"]["4"]["mark"] == [], "as released versions wrote it"
    old["landing"]["partitions"]["3"]["mark"] = []
    read = from_json(Results, json.dumps({**old, "of_a_later_version": 1}))
    assert read.lines is None
    assert read.landed.topic_id == ""
    assert read.landed.watermarks[3].seen == {}
    assert read.landed.watermarks[3].mark is None


@pytest.mark.parametrize("path", sorted(WRITTEN.rglob("*.json")), ids=lambda path: path.stem)
def test_texts_of_released_versions_are_read_and_written_in_the_same_shape(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    again = json.loads(joined_json(from_json(Plan, text), from_json(Results, text)))
    for name in ("landing", "live"):
        if again[name] is not None:
            assert again[name].pop("cluster_id") == "", "a field that came later"
    if again["live"] is not None:
        assert again["live"].pop("whole") == [], "a field that came later"
    if again["landing"] is not None:
        for each in again["landing"]["partitions"].values():
            assert each.pop("read_until_ms") == NO_TIME_MS, "a field that came later"
            assert each.pop("filled_ms") == {}, "a field that came later"
    assert again == json.loads(text)


def written(name: str) -> tuple[Plan, Results]:
    text = (WRITTEN / "0.3.0" / f"{name}.json").read_text(encoding="utf-8")
    return from_json(Plan, text), from_json(Results, text)


def test_a_night_of_version_0_3_0_is_known_as_it_was() -> None:
    plan, results = written("second")
    assert [unit.holes for unit in plan.units][:2] == [((0, 170),), ((0, 4),)]
    assert [unit.start_position for unit in plan.text_units] == [579271, 229036]
    watermark = results.landed.watermarks[1]
    assert watermark == PartitionWatermark(
        332,
        newest_ms=1795240061536,
        files="4fba7bb68ae4ce14",
        filled=((0, 170),),
        mark=Mark("ed44db24af87", 170, 2997963718, 0, 1795240006159),
    )
    assert results.lines is not None
    assert results.lines.watermarks["a175c984bc8cfaa7"] == TextWatermark(
        726822, size=726822, newest_ms=1795240062860, last_seen="2026-11-22"
    )
    assert results.groups == GroupsConfig(exclude=("nobody-*",))
    assert (results.staged_version, results.staged_rows, results.evidence_version) == (2, 31, 2)
    first = written("first")[1].landed.watermarks[1]
    assert (first.missing, first.next_position) == (((0, 170),), 332)
    live = written("live")[0].live
    assert live is not None
    assert live.offsets == {0: (0, 10), 1: (4, 30)}


def test_parts_of_a_text_are_read_as_history_does() -> None:
    content: dict[str, Any] = json.loads(joined_json(PLAN, RESULTS))
    assert from_json(RecordsLanding, json.dumps(content["landing"])) == LANDING
    assert from_json(LinesLanding, json.dumps(content["lines"])) == LINES
    assert from_json(GroupsConfig, "{}") == GroupsConfig()
    assert from_json(LinesLanding, joined_json(LINES)) == LINES
