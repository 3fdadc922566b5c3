"""What operators choose and ask, on real logs: groups that are left out and come back, owners,
thresholds of some groups, and every statement of docs/operations.md.
"""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.cli.outcome import result_lines
from groupreplay.config.model import Config, GroupsConfig, GroupThresholds, Owner
from groupreplay.config.sources import Source
from groupreplay.night.run import NightResult, run_night
from groupreplay.report.catalog import SPECS
from tests.end_to_end.logs import RECORDINGS, copy_log, half

OWNED = [spec.name for spec in SPECS.values() if spec.is_owned]

pytestmark = pytest.mark.soak

RECORDING = "other-groups-4.2"
FIRST, SECOND = date(2026, 11, 21), date(2026, 11, 22)
BACK = "classic-static"
DOCUMENT = Path(__file__).parent.parent.parent / "docs/operations.md"


def night(spark: SparkSession, logs: Path, warehouse: Path, day: date, **keys: Any) -> NightResult:
    sources = (
        Source(kind="segments", path=str(logs)),
        Source(kind="topics", path=str(RECORDINGS / RECORDING / "topics.json")),
    )
    return run_night(
        spark, Config(cluster="test", warehouse=str(warehouse), sources=sources, **keys), day
    )


@pytest.fixture(scope="module")
def nights(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, NightResult, NightResult, NightResult]:
    """A warehouse, its night without a group, its night with it, and one run over everything
    elsewhere.
    """
    logs, warehouse = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("warehouse")
    usual: dict[str, Any] = {
        "owners": "/owners.yaml",
        "owner_rules": (
            Owner(pattern="classic-*", team="classics", contact="#classics"),
            Owner(pattern="*s", team="s"),
        ),
        "thresholds_by_group": (
            GroupThresholds(pattern=BACK, limits={"slow_revocation_ms": 1000}),
        ),
    }
    copy_log(RECORDING, logs, half)
    first = night(
        spark,
        logs,
        warehouse,
        FIRST,
        groups=GroupsConfig(exclude=(BACK, "nobody-*")),
        in_force='{"thresholds":{"a":1}}',
        **usual,
    )
    copy_log(RECORDING, logs)
    second = night(spark, logs, warehouse, SECOND, **usual)
    return (
        warehouse,
        first,
        second,
        night(spark, logs, tmp_path_factory.mktemp("once"), SECOND, **usual),
    )


def table(spark: SparkSession, warehouse: Path, name: str) -> DataFrame:
    return spark.read.format("delta").load(str(warehouse / name))


def test_group_that_was_left_out_is_counted_and_nowhere_else(
    spark: SparkSession, nights: tuple[Path, NightResult, NightResult, NightResult]
) -> None:
    warehouse, first, second, _ = nights
    for name in OWNED:
        rows = table(spark, warehouse, name)
        assert rows.where(
            (sf.col("logical_date") == sf.lit(FIRST)) & (sf.col("group_id") == BACK)
        ).isEmpty(), name
    covered = {
        (row.logical_date, row.input): row
        for row in table(spark, warehouse, "coverage").where("landed > 0").collect()
    }
    for row in covered.values():
        assert (
            row["landed"] == row["decoded"] + row["unknown"] + row["undecoded"] + row["left_out"]
        ), row
    left_out = covered[FIRST, "__consumer_offsets-47"]["left_out"]
    assert left_out > 0
    assert first.run is not None
    assert second.run is not None
    assert ((first.run.counts or {})["left_out"], (second.run.counts or {})["left_out"]) == (
        left_out,
        0,
    )
    assert any(
        "records of groups that the configuration leaves out" in line
        for line in result_lines(first)
    )


def test_when_it_comes_back_nothing_of_it_is_missing(
    nights: tuple[Path, NightResult, NightResult, NightResult],
) -> None:
    _, first, second, once = nights
    assert first.run is not None
    assert second.run is not None
    assert once.run is not None
    assert first.run.digest != once.run.digest
    assert second.run.digest == once.run.digest


def test_rows_name_the_team_of_their_group(
    spark: SparkSession, nights: tuple[Path, NightResult, NightResult, NightResult]
) -> None:
    teams = set[tuple[Any, ...]]()
    for name in OWNED:
        rows = (
            table(spark, nights[0], name).select("group_id", "team", "contact").distinct().collect()
        )
        teams |= {tuple(row) for row in rows}
    owners = {"classics": "#classics", "s": None, None: None}
    expected = {
        (
            group,
            "classics" if group.startswith("classic-") else "s" if group.endswith("s") else None,
        )
        for group, _, _ in teams
    }
    assert {(group, team) for group, team, _ in teams} == expected
    assert all(contact == owners[team] for _, team, contact in teams)
    assert {team for _, team, _ in teams} == {"classics", "s", None}


def test_statements_of_the_document_run_and_answer(
    spark: SparkSession, nights: tuple[Path, NightResult, NightResult, NightResult]
) -> None:
    warehouse, _, second, _ = nights
    answers: list[list[Any]] = []
    for statement in re.findall(
        r"^```sql\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        answers.append(
            spark.sql(
                statement.replace("/data/groupreplay", str(warehouse)).replace("prod-eu", "test")
            ).collect()
        )
    ran, read, left_out, timings, counts, *alerts = answers
    assert [(row.logical_date, row.state, row.error) for row in ran] == [
        (SECOND, "DONE", None),
        (FIRST, "DONE", None),
    ]
    assert json.loads(ran[1].thresholds) == {"a": 1}
    assert (ran[0].records_left_out, ran[0].digest_of_epochs) == (
        0,
        (second.run.digest or {})["group_epochs"] if second.run else "",
    )
    read_of = {(row.logical_date, row.input): row for row in read}
    one, two = read_of[FIRST, "__consumer_offsets-47"], read_of[SECOND, "__consumer_offsets-47"]
    assert (one.read_from, two.read_from) == (-1, one.read_to)
    assert 0 < one.read_to < two.read_to
    assert two.bytes > one.bytes > 0
    assert [(row.logical_date, row.of_groups_left_out > 0) for row in left_out] == [
        (SECOND, False),
        (FIRST, True),
    ]
    assert {row.step for row in timings} == {"plan", "land", "replay", "publish"}
    assert {"group_epochs", "landed", "left_out"} <= {row["name"] for row in counts}
    assert len(alerts) == 9
    assert alerts[:4] == [[], [], [], []], "the job is well, and so are the logs"
