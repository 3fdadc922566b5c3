"""Waves that no recording shows, from their records to rows of the table: cases of
scenarios/waves.yaml.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupreplay.config.model import BrokersConfig, WavesConfig
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.departure_waves import departure_waves
from tests.replay.test_scenarios import log_of
from tests.report.conftest import Stage
from tests.support.building import NAMES
from tests.support.replaying import boundaries, replayed
from tests.support.table_inputs import inputs_of, read_to
from tests.support.yaml_text import safe_load

Case = Mapping[str, Any]

CASES: list[Case] = safe_load(
    (Path(__file__).parents[2] / "scenarios" / "waves.yaml").read_text(encoding="utf-8")
)["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_case_says_all_that_it_must(case: Case) -> None:
    assert case.keys() == {"name", "source", "records", "waves"}
    assert all("class" in wave for wave in case["waves"])


def test_members_that_come_on_other_hosts_are_a_host_swap(
    stage: Stage, context: ReportContext
) -> None:
    """Each log as one night, and cut everywhere: it is the same wave."""
    facts: list[Any] = []
    for number, case in enumerate(CASES):
        entries = log_of(case["records"]).entries
        facts += replayed(entries, NAMES, (), case["name"], number)
        facts += replayed(entries, NAMES, boundaries(entries), f"{case['name']} cut", number)
    own = replace(
        context,
        waves=WavesConfig(gap_ms=11_000),
        brokers=BrokersConfig(classic_heartbeat_ms=1_000),
    )
    staged = stage(*facts)
    frame = departure_waves(inputs_of(staged, own, tables=read_to(staged, own, 100_000)))
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(frame.collect(), key=lambda row: row.from_offset):
        found[row.group_id].append(row.asDict())
    for case in CASES:
        for name in (case["name"], f"{case['name']} cut"):
            rows, wanted = found[name], case["waves"]
            assert [row["class"] for row in rows] == [wave["class"] for wave in wanted], name
            told = [
                {field: row[field] for field in wave}
                for row, wave in zip(rows, wanted, strict=True)
            ]
            assert told == wanted, name


def test_there_are_cases_of_it_and_of_what_only_looks_like_it() -> None:
    classes = {wave["class"] for case in CASES for wave in case["waves"]}
    assert classes >= {"HOST_SWAP", "ROLLOUT", "RESTART", "SCALE_UP", "CRASH", "BOUNCE"}
