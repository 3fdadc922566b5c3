"""A partition of the offsets topic between brokers. Source: CoordinatorRuntime (4.x),
GroupMetadataManager.scala (up to 3.9).
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.evidence.evidence_facts import ShardEvent
from groupreplay.evidence.memory import Evidence, Line, Proofs
from groupreplay.evidence.shards import replay_shard
from groupreplay.records.log_events import LogEvent


class Log:
    def __init__(self) -> None:
        self.evidence = Evidence("")

    def says(self, event: str, broker: int = 1, **more: Any) -> list[ShardEvent]:
        output = Proofs()
        fields = {"offsets_partition": 7, "epoch": 4, "duration_ms": 30, "count": 12, **more}
        line = Line(
            LogEvent(event=event, at_ms=5_000, **fields), broker, "server_log", "a", 9, 5_000
        )
        replay_shard(self.evidence, line, output)
        return [each for each in output.facts if isinstance(each, ShardEvent)]


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("SHARD_LOADED", "LOADED"),
        ("SHARD_LOAD_FAILED", "LOAD_FAILED"),
        ("SHARD_UNLOADED", "UNLOADED"),
    ],
)
def test_what_a_broker_does_with_a_partition_is_a_row(event: str, name: str) -> None:
    (row,) = Log().says(event)
    assert (row.event, row.offsets_partition, row.broker) == (name, 7, 1)
    assert (row.occurred_at, row.duration_ms, row.records, row.leader_epoch) == (5_000, 30, 12, 4)


def test_another_broker_that_loads_it_takes_it_over() -> None:
    log = Log()
    assert [each.moved_from for each in log.says("SHARD_LOADED", 1)] == [None]
    assert [each.moved_from for each in log.says("SHARD_UNLOADED", 1)] == [None]
    assert [each.moved_from for each in log.says("SHARD_LOADED", 2)] == [1]
    assert [each.moved_from for each in log.says("SHARD_LOADED", 2)] == [None], "it has it already"


def test_a_load_that_fails_takes_nothing_over() -> None:
    log = Log()
    log.says("SHARD_LOADED", 1)
    assert [each.moved_from for each in log.says("SHARD_LOAD_FAILED", 2)] == [None]
    assert log.evidence.owner == 1


def test_a_broker_that_stops_has_not_failed_to_load() -> None:
    assert Log().says("SHARD_LOAD_FAILED", detail="Coordinator loader is closed") == []


def test_other_lines_are_none() -> None:
    assert Log().says("MEMBER_LEFT") == []
    assert Log().says("SHARD_LOADED", offsets_partition=None) == []
