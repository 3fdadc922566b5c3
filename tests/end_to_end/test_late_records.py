"""Records that come late where a log has several holes: a rebuild gives what a job gives that had
them from the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from groupreplay.config.model import Config
from groupreplay.config.sources import Source
from groupreplay.night.run import NightResult, rebuild_nights, run_night
from tests.end_to_end.digests import few_digests
from tests.end_to_end.logs import RECORDINGS, batches

LOG = RECORDINGS / "other-groups-4.2" / "segments" / "broker-1" / "__consumer_offsets-47"
"""Of a classic group with static members, who go and come back."""

NIGHTS = (date(2026, 11, 21), date(2026, 11, 22))

Files = Mapping[str, bytes]


def pieces(count: int) -> list[bytes]:
    """The log in pieces of whole batches."""
    (content,) = [each.read_bytes() for each in LOG.glob("*.log")]
    found = list(batches(content))
    places = [found[len(found) * place // count].position for place in range(count)]
    return [content[at:end] for at, end in zip(places, [*places[1:], len(content)], strict=True)]


def played(
    spark: SparkSession, folder: Path, nights: Sequence[Files]
) -> tuple[Config, NightResult]:
    """Nights that find these files beside those of before. Gives the newest one."""
    logs = folder / "logs"
    config = Config(
        cluster="test",
        warehouse=str(folder / "warehouse"),
        sources=(Source(kind="segments", path=str(logs)),),
    )
    results = []
    for night, files in zip(NIGHTS, nights, strict=True):
        for broker, content in files.items():
            first = int.from_bytes(content[:8], "big")
            path = logs / broker / LOG.name / f"{first:020d}.log"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        results.append(run_night(spark, config, night))
    return config, results[-1]


@pytest.mark.usefixtures("few")
@pytest.mark.soak
def test_what_fills_one_hole_of_three_is_behind_the_one_below_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A replica that the cleaner was not at has what lies in the middle."""
    part = pieces(8)
    cleaned = part[0] + part[2] + part[4] + part[6]
    late = [{"broker-1": cleaned}, {"broker-1": part[7], "broker-2": part[3]}]
    early = [{"broker-1": cleaned, "broker-2": part[3]}, {"broker-1": part[7]}]
    config, before = played(spark, tmp_path / "late", late)
    rebuilt = few_digests(rebuild_nights(spark, config))
    _, result = played(spark, tmp_path / "early", early)
    known = few_digests(result)
    assert few_digests(before) != known
    assert {**rebuilt, "anomalies": ""} == {**known, "anomalies": ""}, "LATE_RECORDS apart"
