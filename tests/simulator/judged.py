"""Rows of `readiness` as the product judges groups in pure Python, by the facts of a recording and
no lines of logs: a row a group and criteria."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from groupreplay.config.model import BrokersConfig, ReadinessConfig
from groupreplay.replay.facts import Chain, Epoch, Fact, GroupSnapshot, MemberLife
from groupreplay.report.readiness.known import Criteria as OwnCriteria
from groupreplay.report.readiness.known import Member
from groupreplay.report.readiness.rows import judge
from tests.simulator.criteria import CRITERIA, Criteria
from tests.simulator.replayed import Replayed

_OF_MEMBER: Final = frozenset(each.name for each in fields(Member))


def own_criteria(told: Criteria) -> OwnCriteria:
    """The same as the product's configuration has them."""
    return OwnCriteria(
        readiness=ReadinessConfig(
            min_observed_ms=told.min_observed_ms,
            lookback_ms=told.lookback_ms,
            epochs_per_hour=told.epochs_per_hour,
        ),
        brokers=BrokersConfig(
            version=told.version,
            migration_policy=told.policy,
            session_timeout_ms=told.session_ms,
            min_session_timeout_ms=told.session_ms,
            max_session_timeout_ms=told.most_ms,
            heartbeat_interval_ms=told.heartbeat_ms,
            max_size=told.max_size,
            classic_heartbeat_ms=told.classic_heartbeat_ms,
        ),
    )


def readiness_of(replayed: Replayed) -> Iterator[dict[str, Any]]:
    """As report/tables/readiness.py gathers what is known of each group."""
    newest = {each.input: each.last_at for each in replayed.coverage}
    members, past = _members(replayed), _past(replayed)
    for snapshot in replayed.of(GroupSnapshot):
        if snapshot.protocol not in ("classic", "consumer"):
            continue
        life = _life(snapshot)
        known = asdict(snapshot) | members[life] | past[life]
        known |= {"before_ms": -1}
        known["now_ms"] = newest[f"__consumer_offsets-{snapshot.offsets_partition}"]
        for told in CRITERIA:
            row = judge(known, own_criteria(told))
            if row["is_row"]:
                yield row | {"criteria": told.name}


def _life(fact: Fact) -> tuple[str, int]:
    return fact.group_id, fact.incarnation


_Known = Mapping[tuple[str, int], dict[str, Any]]


def _members(replayed: Replayed) -> _Known:
    found: dict[tuple[str, int], dict[str, Any]] = defaultdict(lambda: {"members": [], "ended": []})
    for life in replayed.of(MemberLife):
        member = {name: value for name, value in asdict(life).items() if name in _OF_MEMBER}
        if not life.is_final:
            found[_life(life)]["members"].append(member)
        if life.end_reason == "LEFT_OR_FENCED":
            found[_life(life)]["ended"].append(member)
    return found


def _past(replayed: Replayed) -> _Known:
    found: dict[tuple[str, int], dict[str, Any]] = defaultdict(
        lambda: {"loops_at": [], "changed_at": []}
    )
    for chain in replayed.of(Chain):
        if chain.reason == "FENCE_LOOP" and not chain.is_final:
            found[_life(chain)]["loops_at"].append(chain.times_at)
    for epoch in replayed.of(Epoch):
        if epoch.cause == "SUBSCRIPTION":
            found[_life(epoch)]["changed_at"].append(epoch.started_at)
    return found
