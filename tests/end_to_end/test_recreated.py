"""The offsets topic was deleted and created anew between two nights: told, kept apart, never
merged.
"""

from __future__ import annotations

from datetime import date

import pytest
from pyspark.sql import SparkSession

from groupreplay.cli.outcome import result_lines
from groupreplay.night.run import NightResult, rebuild_nights
from tests.end_to_end.logs import RECORDINGS
from tests.end_to_end.nights import Place
from tests.wire.encode import batch, commit

pytestmark = pytest.mark.soak

DAY, NEXT = date(2026, 11, 21), date(2026, 11, 22)
LATER_MS = 1_795_600_000_000
LOG = "__consumer_offsets-29/00000000000000000000.log"


@pytest.fixture(scope="module")
def recreated(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Place, NightResult]:
    """Partition 29 of a recording, half-way through the life of its groups; then a short log with
    another group and one of the same name.
    """
    root = tmp_path_factory.mktemp("recreated")
    old = (RECORDINGS / "consumer-4.3/segments/broker-1" / LOG).read_bytes()
    path = root / "logs" / LOG
    path.parent.mkdir(parents=True)
    path.write_bytes(old[: len(old) // 2])
    place = Place(spark, root / "warehouse", (("segments", root / "logs"),))
    place.run(DAY)
    assert place.table("member_assignments").where("end_reason = 'OPEN'").count() > 0
    assert ("static-bounce",) in place.rows("migration_progress", "group_id")
    path.write_bytes(
        batch(
            0,
            [commit(name, ts_ms=LATER_MS) for name in ("brand-new", "static-bounce")],
            ts=LATER_MS,
        )
    )
    return place, place.run(NEXT)


def tonight_logs(place: Place, table: str, where: str = "true") -> set[int | None]:
    rows = place.table(table).where(f"logical_date = DATE'{NEXT}' AND {where}")
    return {row["log_incarnation"] for row in rows.select("log_incarnation").collect()}


def test_a_recreated_topic_begins_a_log_of_its_own(recreated: tuple[Place, NightResult]) -> None:
    place, night = recreated
    (told,) = place.table("anomalies").where("rule = 'TOPIC_RECREATED'").collect()
    assert (
        told["severity"],
        told["evidence_partition"],
        told["evidence_offset"],
        told["logical_date"],
    ) == ("ERROR", 29, 0, NEXT)
    assert any("TOPIC_RECREATED" in line for line in result_lines(night))
    tonight = (
        place.table("migration_progress")
        .where(f"logical_date = DATE'{NEXT}'")
        .select("group_id", "protocol")
        .collect()
    )
    assert sorted(map(tuple, tonight)) == [("brand-new", "simple"), ("static-bounce", "simple")]
    ended = (
        place.table("member_assignments").where("end_reason IN ('OPEN', 'UNOBSERVED')").collect()
    )
    assert {row["end_reason"] for row in ended} == {"UNOBSERVED"}
    assert all(row["is_final"] for row in ended)
    unobserved = place.table("member_assignments").where("end_reason = 'UNOBSERVED'")
    assert {row["log_incarnation"] for row in unobserved.collect()} == {None}, "of the old log"
    assert tonight_logs(place, "migration_progress") == {1}
    assert tonight_logs(place, "anomalies", "rule = 'TOPIC_RECREATED'") == {1}
    logs = (
        place.table("raw_records")
        .where("kind = 'unit'")
        .select("logical_date", "log_incarnation")
        .collect()
    )
    assert sorted(map(tuple, logs)) == [(DAY, None), (NEXT, 1)]
    covered = (
        place.table("coverage")
        .where("source = 'segments'")
        .select("logical_date", "log_incarnation", "first_offset", "next_offset")
        .collect()
    )
    assert [tuple(row)[1:] for row in sorted(covered)][1] == (1, 0, 2)


def test_the_new_log_goes_on_and_both_can_be_rebuilt(recreated: tuple[Place, NightResult]) -> None:
    place, night = recreated
    path = place.root.parent / "logs" / LOG
    path.write_bytes(
        path.read_bytes()
        + batch(2, [commit("brand-new", offset=5, ts_ms=LATER_MS + 1)], ts=LATER_MS + 1)
    )
    assert place.run(NEXT).logical_dates == (NEXT,)
    assert place.table("anomalies").where("rule = 'TOPIC_RECREATED'").count() == 1, (
        "it is known by now"
    )
    rebuilt = place.run(job=rebuild_nights)
    assert rebuilt.logical_dates == (DAY, NEXT)
    assert night.run is not None
    assert rebuilt.run is not None
    before, after = night.run.digest or {}, rebuilt.run.digest or {}
    assert {name for name in before if before[name] != after[name]} <= {"migration_progress"}
