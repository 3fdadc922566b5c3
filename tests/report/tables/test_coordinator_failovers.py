"""What lines of broker logs add to failovers: cases of scenarios/failovers.yaml, and a recording of
brokers that were killed.

Holds report/joins/lines/failover_lines.py.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from groupreplay.replay.decision_facts import Failover
from groupreplay.replay.facts import Fact
from groupreplay.report.context import ReportContext
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.tables.coordinator_failovers import coordinator_failovers
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.replay.decisions.test_failovers import BASE_AT, KILLED, failovers
from tests.replay.test_scenarios import log_of
from tests.report.conftest import Stage
from tests.report.facts_by_hand import AT, fact
from tests.support.building import NAMES
from tests.support.fact_frames import frame_of
from tests.support.log_lines import evidence_of, lines_in, recorded_evidence
from tests.support.replaying import replayed
from tests.support.table_inputs import inputs_of
from tests.support.yaml_text import safe_load

CASES = safe_load(
    (Path(__file__).parents[2] / "scenarios" / "failovers.yaml").read_text(encoding="utf-8")
)["cases"]

_LINE = "[{time}] INFO [GroupCoordinator id={broker}{where}] {text} (org.apache.kafka.{logger})\n"
_REQUEST = (
    '[{time}] DEBUG Completed request:{{"isForwarded":false,"requestHeader":{{"requestApiKey":{key},'
    '"requestApiVersion":4,"correlationId":80,"clientId":"c","requestApiKeyName":"{api}"}},'
    '"request":{{"groupId":"{group}","generationId":1,"memberId":"a","groupInstanceId":null}},'
    '"response":{{"throttleTimeMs":0,"errorCode":{code}}},"connection":'
    '"127.0.0.1:19094-127.0.0.1:42038-0-14","totalTimeMs":{kept}.0,"requestQueueTimeMs":0.0,'
    '"localTimeMs":0.0,"remoteTimeMs":0.0,"throttleTimeMs":0,"responseQueueTimeMs":0.0,'
    '"sendTimeMs":0.0,"securityProtocol":"PLAINTEXT","principal":"User:ANONYMOUS","listener":'
    '"PLAINTEXT","clientInformation":{{"softwareName":"apache-kafka-java","softwareVersion":'
    '"4.2.1"}}}} (kafka.request.logger)\n'
)


def _inputs(
    staged: DataFrame, context: ReportContext, *read: tuple[int, datetime, date]
) -> TableInputs:
    """read: (partition, newest time read of it, night), of `coverage`."""
    rows = [(f"__consumer_offsets-{partition}", at, night) for partition, at, night in read]
    names = "input STRING, last_at TIMESTAMP, logical_date DATE"
    coverage = staged.sparkSession.createDataFrame(rows, names)
    return inputs_of(staged, context, tables={"coverage": coverage})


def _time(at_ms: int) -> str:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S},{at_ms % 1000:03}"


def _server_lines(case: Mapping[str, Any], partition: int) -> list[tuple[int, int, str]]:
    """(at, broker, line) of the coordinators."""
    log = f"__consumer_offsets-{partition}"
    first = [[500, 1, 0]] if case.get("logs", True) else []
    found = [
        (at, broker, "", f"Finished loading of metadata from {log} with epoch {epoch} in 20ms where"
         " 1ms was spent in the scheduler. Loaded 7 records which total to 99 bytes.",
         "coordinator.common.runtime.CoordinatorRuntime")
        for at, broker, epoch in (*first, *case["loads"])
    ]  # fmt: skip
    where = f" topic=__consumer_offsets partition={partition}"
    found += [
        (at, broker, where, text.format(group=case["name"]),
         "coordinator.group.GroupMetadataManager")
        for at, broker, text in case.get("says", ())
    ]  # fmt: skip
    return [
        (at, broker, _LINE.format(time=_time(at), broker=broker, where=where, text=text, logger=of))
        for at, broker, where, text, of in found
    ]


def _answered(group: str, at: int, code: int, kept_ms: int | None = None) -> str:
    """The line of a heartbeat, or of a join that waited so long for its answer."""
    key, api = (12, "HEARTBEAT") if kept_ms is None else (11, "JOIN_GROUP")
    return _REQUEST.format(
        time=_time(at), group=group, code=code, key=key, api=api, kept=kept_ms or 0
    )


def _write_logs(folder: Path) -> None:
    """The lines of all cases, in the files that their brokers would have written."""
    lines = [line for number, case in enumerate(CASES) for line in _server_lines(case, number)]
    for broker in (1, 2):
        text = "".join(line for _, by, line in sorted(lines) if by == broker)
        (folder / f"broker-{broker}.server.log").write_text(text)
    for broker, told in ((1, "former_answers"), (2, "answers")):
        answers = sorted(
            (answer[0], _answered(case["name"], *answer))
            for case in CASES
            for answer in case.get(told, ())
        )
        with gzip.open(folder / f"broker-{broker}.request.log.gz", "wt") as log:
            log.writelines(line for _, line in answers)


def _first_rows(rows: Iterable[Row]) -> dict[str, Row]:
    ordered = sorted(rows, key=lambda row: (row.group_id, -row.from_offset))
    return {row.group_id: row for row in ordered}


def _shown(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def test_lines_tell_what_a_move_cut_off(
    spark: SparkSession, stage: Stage, context: ReportContext, tmp_path: Path
) -> None:
    _write_logs(tmp_path)
    facts: list[Fact] = []
    for number, case in enumerate(CASES):
        entries = log_of(case["records"]).entries
        facts += replayed(entries, NAMES, (), case["name"], number)
    evidence = frame_of(spark, EVIDENCE, evidence_of(lines_in(tmp_path)))
    told = replace(context, evidence=evidence, evidence_tonight=evidence)
    staged = stage(*[each for each in facts if isinstance(each, Failover)])
    rows = _first_rows(coordinator_failovers(_inputs(staged, told)).collect())
    got = {
        case["name"]: {name: _shown(rows[case["name"]][name]) for name in case["row"]}
        for case in CASES
    }
    assert got == {case["name"]: case["row"] for case in CASES}


def _ms(at: datetime) -> int:
    return round(at.replace(tzinfo=UTC).timestamp() * 1000)


def test_brokers_that_were_killed(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    """What their logs add to the rows of `replay/decisions/test_failovers.py`, the session timeout
    of 12 s too, which nobody configured.
    """
    evidence = frame_of(spark, EVIDENCE, recorded_evidence(KILLED))
    told = replace(context, evidence=evidence, evidence_tonight=evidence)
    rows = coordinator_failovers(_inputs(stage(*failovers(KILLED).values()), told)).collect()
    assert all(row.evidence.source == "server_log" for row in rows)
    assert {
        (row.group_id, row.leader_epoch): (
            *(row.broker, row.moved_from, _ms(row.loaded_at) - BASE_AT, row.load_ms),
            *(row.phase, row.doc_phase, row.gap_ms),
            [member[:6] for member in row.rearmed],
        )
        for row in rows
    } == {
        ("churn-a", 1): (3, 1, 905_421, 26, "REVOKING", 3, 9_244, ["DToAX6"]),
        ("churn-mixed-a", 1): (3, 1, 905_421, 26, "REVOKING", 3, 9_357, []),
        ("churn-a", 2): (1, 3, 1_005_156, 160, "STEADY", 0, 14_040, []),
        ("churn-mixed-a", 2): (1, 3, 1_005_156, 160, "PARTLY_THERE", 4, 14_245, ["glK75_"]),
        ("scale-up-a", 1): (2, 3, 1_005_178, 117, "STEADY", 0, 13_459, []),
        ("mixed-stall-a", 1): (2, 3, 1_005_225, 163, "STEADY", 0, 14_087, []),
        ("classic-coop-a", 1): (1, 2, 954_082, 84, "STEADY", 0, 9_954, []),
    }
    assert {row.group_id: row.unavailable_ms for row in rows if row.leader_epoch == 1} == {
        "churn-a": 307,
        "churn-mixed-a": 238,
        "scale-up-a": 586,
        "mixed-stall-a": 217,
        "classic-coop-a": 312,
    }


def test_without_lines_the_records_stand_alone(stage: Stage, context: ReportContext) -> None:
    steady = fact(Failover)
    hidden = fact(Failover, group_id="hidden", start_observed=False, phase="UNKNOWN")
    back = fact(Failover, group_id="back", first_at=1, last_at=2)
    rows = coordinator_failovers(_inputs(stage(steady, hidden, back), context)).collect()
    assert {row.group_id: (row.gap_ms, row.phase, row.doc_phase) for row in rows} == {
        "g": (10_000, "STEADY", 0),
        "hidden": (None, "UNKNOWN", None),
        "back": (None, "STEADY", 0),
    }
    of_lines = ("loaded_at", "load_ms", "broker", "moved_from", "rearmed", "unavailable_ms")
    assert {row[name] for row in rows for name in (*of_lines, "evidence")} == {None}


def test_a_row_is_final_an_hour_after_its_minute_of_the_partition(
    stage: Stage, context: ReportContext
) -> None:
    """A group that wrote nothing after the minute does not stay open for ever, and the night that
    closed its row is the only one to write it.
    """
    ended = datetime.fromtimestamp(AT / 1000 + 60, UTC)
    hour, tonight = timedelta(hours=1), context.logical_date
    before, moment = tonight - timedelta(days=1), timedelta(milliseconds=1)
    groups = {1: ended + hour, 2: ended + hour + moment}
    facts = [fact(Failover, group_id=f"g{number}", offsets_partition=number) for number in groups]
    read = [(number, at, tonight) for number, at in groups.items()]
    rows = coordinator_failovers(_inputs(stage(*facts), context, *read)).collect()
    assert {row.group_id: row.is_final for row in rows} == {"g1": False, "g2": True}
    earlier = [(number, at, before) for number, at in groups.items()]
    rows = coordinator_failovers(_inputs(stage(*facts), context, *read, *earlier)).collect()
    assert {row.group_id for row in rows} == {"g1"}
