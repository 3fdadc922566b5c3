"""The live topic of a real broker: two nights with life between, a broker that dies while it is
read, and what its own segments say beside it.

Holds night/dry_run.py, sources/live_rows.py.
"""

from __future__ import annotations

import dataclasses
import json
import re
import signal
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.sources import Source
from groupreplay.errors import ConfigError, SourceUnreadable
from groupreplay.night.landing import record_stream as land
from groupreplay.records.entries import Entry
from groupreplay.replay.decision_facts import Absence, Churn, GroupDay
from groupreplay.replay.facts import Fact, HandOver, HeldPartition
from groupreplay.sources import live_planning
from groupreplay.sources.found_files import find_files
from groupreplay.sources.live_rows import live_rows
from groupreplay.sources.planning import plan_units
from groupreplay.sources.segments import segments
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from groupreplay.wire.segments.read_unit import read_unit
from groupreplay.workers.codecs import Codecs
from groupreplay.workers.files import open_file
from tests.end_to_end.live_cluster import HASTY, PASSWORD, SMALL_FETCHES, TRIES, Cluster
from tests.support.broker import OFFSETS_PARTITIONS, Broker
from tests.support.group_life import Group, commit_in_transaction, described, make_topics, topic_ids
from tests.support.replaying import FactKey, difference, fact_keys, replayed

pytestmark = pytest.mark.broker

FIRST, SECOND = date(2026, 1, 1), date(2026, 1, 2)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    started = Broker(tmp_path_factory.mktemp("broker")).start()
    yield started
    started.stop(signal.SIGKILL)
    started.proxy.close()


@pytest.fixture(scope="module")
def cluster(
    spark: SparkSession, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """Two nights: groups of both protocols come to be, then members leave, join, and one group
    comes back with the other protocol.
    """
    made = Cluster(spark, broker, tmp_path_factory.mktemp("nights"))
    make_topics(broker.address, orders=4, bills=3)
    groups = made.groups
    groups["old"] = Group(broker.address, "old", "orders", "classic")
    groups["new"] = Group(broker.address, "new", "bills", "consumer")
    groups["moving"] = Group(broker.address, "moving", "orders", "classic")
    for name, group in groups.items():
        group.join(f"{name}-1")
        group.commit(1)
        group.join(f"{name}-2")
        group.commit(2)
    commit_in_transaction(broker.address, groups["new"], 3, commits=True)
    commit_in_transaction(broker.address, groups["new"], 4, commits=False)
    _run(made, FIRST)
    groups["old"].leave("old-1")
    groups["new"].join("new-3")
    groups["new"].commit(5)
    groups["moving"].close()
    groups["moving"].protocol = "consumer"
    groups["moving"].join("moving-3", "moving-4")
    groups["moving"].commit(6)
    _run(made, SECOND)
    yield made
    for group in groups.values():
        group.close()


def _run(cluster: Cluster, night: date) -> None:
    cluster.told.append(described(cluster.broker.address, list(cluster.groups)))
    cluster.results.append(cluster.run_as_scheduled(night))


def test_each_night_keeps_the_id_of_its_cluster(cluster: Cluster) -> None:
    kept = {json.loads(plan)["landing"]["cluster_id"] for (plan,) in cluster.rows("runs", "plan")}
    (cluster_id,) = kept
    assert re.fullmatch(r"[\w-]{22}", cluster_id), "as Kafka writes its ids"


def test_members_states_and_topic_ids_are_what_a_client_is_told(cluster: Cluster) -> None:
    for night, told in zip((FIRST, SECOND), cluster.told, strict=True):
        rows = cluster.table("migration_progress").where(f"logical_date = DATE'{night}'").collect()
        assert {row["group_id"]: row["members_total"] for row in rows} == {
            group_id: members for group_id, (_, members) in told.items()
        }
        assert {state for state, _ in told.values()} == {"STABLE"}
        assert all(row["history_complete"] for row in rows)
    protocols = dict(cluster.rows("migration_progress", "group_id", "protocol"))
    assert protocols == {"old": "classic", "new": "consumer", "moving": "consumer"}
    assert cluster.rows("group_conversions", "group_id", "direction", "mode") == [
        ("moving", "UPGRADE", "OFFLINE")
    ]
    owned = {
        group_id: {name: each for name, each in group.owned().items() if each}
        for group_id, group in cluster.groups.items()
    }
    held: dict[str, dict[str, list[int]]] = {}
    clients = dict(cluster.rows("member_states", "member_id", "client_id"))
    for group_id, member_id, partition, released_at in cluster.rows(
        "member_assignments", "group_id", "member_id", "partition", "released_at"
    ):
        if released_at is None:
            held.setdefault(group_id, {}).setdefault(clients[member_id], []).append(partition)
    assert held == owned
    names = {topic: topic_id for topic_id, topic in cluster.rows("topics", "topic_id", "topic")}
    assert {topic: names[topic] for topic in ("orders", "bills")} == topic_ids(
        cluster.broker.address, "orders", "bills"
    )


def test_offsets_are_landed_once_and_the_plan_says_from_where_to_where(cluster: Cluster) -> None:
    landed = cluster.rows("raw_records", "offsets_partition", "offset", "logical_date", "kind")
    records = [row[:2] for row in landed if row[3] == "record"]
    assert len(records) == len(set(records)) > 50
    first, second = (json.loads(result.run.plan or "") for result in cluster.results if result.run)
    ends = {int(key): end for key, (_, end) in first["live"]["offsets"].items()}
    assert len(ends) == OFFSETS_PARTITIONS
    for unit in second["units"]:
        assert unit["start_offset"] == ends[unit["offsets_partition"]]
    assert (
        first["live"]["topic_id"]
        == topic_ids(cluster.broker.address, "__consumer_offsets")["__consumer_offsets"]
    )
    coverage = cluster.table("coverage").where("source = 'kafka'").collect()
    assert sum(row["holes"] for row in coverage) == 0
    assert sum(row["control"] for row in coverage) > 2, "markers, and the commits that were aborted"
    assert all(
        row["landed"] == row["decoded"] + row["unknown"] + row["undecoded"] for row in coverage
    )


def test_partitions_were_read_until_their_ends_were_taken(cluster: Cluster) -> None:
    """Most are quiet, and no transaction is open any more."""
    for result in cluster.results:
        assert result.run is not None
        plan, as_of_ms = json.loads(result.run.plan or ""), result.run.as_of_at
        assert plan["live"]["whole"] == list(range(OFFSETS_PARTITIONS))
        partitions = plan["landing"]["partitions"].values()
        assert {each["read_until_ms"] for each in partitions} == {as_of_ms}
        night = cluster.table("readiness").where(f"logical_date = DATE'{result.run.logical_date}'")
        times = night.selectExpr("group_id", "unix_millis(as_of_at)").collect()
        assert {"old"} <= {group_id for group_id, _ in times}
        assert {each for _, each in times} == {as_of_ms}


def test_segments_of_the_same_broker_tell_the_same_facts(cluster: Cluster) -> None:
    names = dict(cluster.rows("topics", "topic_id", "topic"))
    columns = (
        "offsets_partition",
        "group_id",
        "offset",
        "ts_ms",
        "leader_epoch",
        "batch_base_offset",
        "last_hole",
        "key",
        "value",
    )
    of_topic = [
        tuple(row)
        for row in cluster.table("raw_records").where("kind = 'record'").select(*columns).collect()
    ]
    logs = find_files(Source(kind="segments", path=str(cluster.broker.logs)))
    of_segments: list[tuple[Any, ...]] = []
    for unit in plan_units([file for each in segments(logs.files) for file in each], {}):
        for read in read_unit(unit, open_file, Codecs()):
            kinds = read["kind"]
            of_segments += [
                row
                for kind, row in zip(
                    kinds, zip(*(read[name] for name in columns), strict=True), strict=True
                )
                if kind == "record"
            ]
    assert len(of_segments) > 50
    assert {row[4] for row in of_topic} == {row[5] for row in of_topic} == {-1}
    assert difference(_facts(of_segments, names), _facts(of_topic, names)) == ""


def _facts(rows: list[tuple[Any, ...]], names: dict[str, str]) -> Counter[FactKey]:
    """Facts of all groups, but for the times of commits that stand in a transaction."""
    entries: dict[tuple[int, str], list[Entry]] = {}
    for (
        partition,
        group_id,
        offset,
        ts_ms,
        leader_epoch,
        base_offset,
        last_hole,
        key,
        value,
    ) in sorted(rows, key=lambda row: (row[0], row[2])):
        record = decode(bytes(key), None if value is None else bytes(value))
        assert not isinstance(record, (Undecodable, UnknownType))
        entries.setdefault((partition, group_id), []).append(
            Entry(offset, ts_ms, leader_epoch, base_offset, last_hole, record)
        )
    found: Counter[FactKey] = Counter()
    for (partition, group_id), own in entries.items():
        found += fact_keys(
            map(
                _without_commit_times,
                replayed(own, names, group_id=group_id, offsets_partition=partition),
            )
        )
    return found


def _without_commit_times(fact: Fact) -> Fact:
    """A consumer shows a commit in a transaction where it was written, a segment where it became
    visible.
    """
    match fact:
        case HandOver():
            return dataclasses.replace(fact, first_commit_at=None, resume_ms=None)
        case HeldPartition():
            return dataclasses.replace(fact, idle_ms=None)
        case Churn():
            return dataclasses.replace(
                fact, silences_ms=[], highs_ms=[], high_unknowns=[], idles_ms=[]
            )
        case GroupDay():
            return dataclasses.replace(fact, longer_ms=0, high_unknown=0)
        case Absence():
            return dataclasses.replace(fact, last_commit_at=None)
    return fact


def test_no_secret_is_in_any_row_of_runs(cluster: Cluster) -> None:
    assert all(PASSWORD not in repr(row) for row in cluster.table("runs").collect())


def test_a_dry_run_says_what_is_new_and_writes_nothing(cluster: Cluster) -> None:
    cluster.groups["new"].commit(8)
    lines = "\n".join(cluster.run_as_scheduled(SECOND, "dry", dry_run=True).dry_run_lines)
    assert "offsets of the live topic __consumer_offsets" in lines
    assert not list((cluster.root / "dry").glob("*/_delta_log/*.json"))


def test_an_option_that_kafka_refuses_is_named(cluster: Cluster) -> None:
    with pytest.raises(
        ConfigError,
        match=r"options: The specified value of default\.api\.timeout\.ms must be no smaller",
    ):
        cluster.run(SECOND, "refused", {**HASTY, "request.timeout.ms": "6000"})


@pytest.mark.soak
def test_a_broker_that_dies_while_it_is_read_leaves_nothing_and_the_next_run_lands_all(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Runs last: it takes the broker down."""
    broker = cluster.broker
    wanted = cluster.rows("raw_records", "offsets_partition", "offset", "kind")

    def dying(*arguments: Any) -> DataFrame:
        broker.proxy.break_after(6_000, lambda: broker.stop(signal.SIGKILL))
        return live_rows(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(land, "live_rows", dying)
        for _ in range(TRIES):
            with pytest.raises(SourceUnreadable) as caught:
                cluster.run(FIRST, "died", HASTY | SMALL_FETCHES)
            assert "\n" not in str(caught.value)
            if broker.proxy.is_broken:
                break
    assert broker.proxy.is_broken
    assert cluster.rows("raw_records", "offset", warehouse="died") == []
    assert set(cluster.rows("runs", "state", warehouse="died")) == {("FAILED",)}
    with pytest.raises(
        SourceUnreadable, match=f"the source kafka {broker.proxied} cannot be read: "
    ):
        cluster.run(FIRST, "died", HASTY)

    broker.proxy.mend()
    broker.start()
    with monkeypatch.context() as patched:
        patched.setattr(live_planning, "UNIT_OFFSETS", 40)
        landed_run = cluster.run_as_scheduled(FIRST, "died", SMALL_FETCHES).run
    assert landed_run is not None
    units = [unit["offsets_partition"] for unit in json.loads(landed_run.plan or "")["units"]]
    assert len(units) > len(set(units)), "a big partition is read by several tasks"
    landed = cluster.rows("raw_records", "offsets_partition", "offset", "kind", warehouse="died")
    records = [row for row in landed if row[2] == "record"]
    assert len(records) == len(set(records))
    assert {row for row in wanted if row[2] == "record"} - set(records) <= _reducible(
        cluster, wanted
    ), "an edge of a night is kept besides"

    broker.stop(signal.SIGKILL)
    again = cluster.run(FIRST, "died", HASTY)
    assert again.run is not None
    assert again.run.state == "DONE"
    assert "runs again from what it had landed" in caplog.text
    assert (
        cluster.rows("raw_records", "offsets_partition", "offset", "kind", warehouse="died")
        == landed
    )


def _reducible(cluster: Cluster, rows: list[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    """Commits: of these one night over everything keeps fewer."""
    kinds = {
        (row[0], row[1]): bytes(row[2])[:2]
        for row in cluster.rows("raw_records", "offsets_partition", "offset", "key")
        if row[2] is not None
    }
    return {row for row in rows if kinds.get((row[0], row[1])) == b"\0\1"}
