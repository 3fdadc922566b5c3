"""Groups of a recording as the rules of readiness read them, without Spark."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cache
from typing import Any

from groupreplay.config.model import BrokersConfig, Config, ReadinessConfig
from groupreplay.evidence.evidence_facts import BrokerSetting, Contact, Departure, Refusal, Rejoin
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG
from groupreplay.replay.facts import Chain, Epoch, Fact, GroupSnapshot, MemberLife
from groupreplay.report.readiness.known import Criteria, Member, Refused
from groupreplay.report.readiness.rows import judge
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import groups
from tests.support.replaying import replayed

CLIENTS = Config(cluster="c", warehouse="w", sources=()).clients
BASE = BrokersConfig(
    heartbeat_interval_ms=2_000,
    session_timeout_ms=12_000,
    min_session_timeout_ms=6_000,
    classic_heartbeat_ms=1_000,
)
"""As the brokers of the recordings were set."""

AT_ONCE = ReadinessConfig(min_observed_ms=0)
BOTH = frozenset({SERVER_LOG, REQUEST_LOG})

_OF_CONTACT = ("client_id", "client_host", "software_name", "software_version")
_WITHOUT_LINES = {"end_detail": None, "software_name": None, "software_version": None}


def judged_groups(
    recording: str,
    *,
    logs: bool,
    brokers: BrokersConfig = BASE,
    readiness: ReadinessConfig = AT_ONCE,
) -> dict[str, dict[str, Any]]:
    """group id -> what `readiness` finds of it; groups without a row are left out."""
    criteria = Criteria(
        readiness=readiness,
        brokers=brokers,
        clients=CLIENTS,
        log_kinds=BOTH if logs else frozenset(),
    )
    told = recording if logs else None
    rows = [known(group_id, facts, now_ms, told) for group_id, facts, now_ms in _facts(recording)]
    found = [judge(row, criteria) for row in rows if row is not None]
    return {row["group_id"]: row for row in found if row["is_row"]}


@cache
def _facts(recording: str) -> list[tuple[str, tuple[Fact, ...], int]]:
    """(group id, its facts, how far its partition was read) of each group that is there."""
    newest: dict[int, int] = {}
    for one in groups(recording):
        at = max(entry.ts_ms for entry in one.entries)
        newest[one.offsets_partition] = max(at, newest.get(one.offsets_partition, -1))
    return [
        (
            one.group_id,
            tuple(replayed(one.entries, one.names, (), one.group_id, one.offsets_partition)),
            newest[one.offsets_partition],
        )
        for one in groups(recording)
    ]


def known(
    group_id: str, facts: Iterable[Fact], now_ms: int, recording: str | None
) -> dict[str, Any] | None:
    """A row as `tables.readiness` makes it, None for a group that has none. recording: whose lines
    are known, None: of none.
    """
    facts = list(facts)
    snapshot = next((each for each in facts if isinstance(each, GroupSnapshot)), None)
    if snapshot is None or snapshot.protocol not in ("classic", "consumer"):
        return None
    lines = [e for e in recorded_evidence(recording) if e.group_id == group_id] if recording else []
    lives = [each for each in facts if isinstance(each, MemberLife)]
    return {
        **{each.name: getattr(snapshot, each.name) for each in dataclasses.fields(snapshot)},
        "now_ms": now_ms,
        "before_ms": -1,
        "members": [_member(each, lines) for each in lives if not each.is_final],
        "ended": [_member(each, lines) for each in lives if each.end_reason == "LEFT_OR_FENCED"],
        "loops_at": [
            each.times_at
            for each in facts
            if isinstance(each, Chain) and each.reason == "FENCE_LOOP" and not each.is_final
        ],
        "changed_at": [
            each.started_at
            for each in facts
            if isinstance(each, Epoch) and each.cause == "SUBSCRIPTION"
        ],
        "settings": _settings(recording),
        "refusals": _refusals([each for each in lines if isinstance(each, Refusal)]),
    }


def _settings(recording: str | None) -> list[dict[str, str]]:
    """What each broker was last started with."""
    told = (
        [e for e in recorded_evidence(recording) if isinstance(e, BrokerSetting)]
        if recording
        else []
    )
    last = {
        (e.broker, e.setting): e.value
        for e in sorted(told, key=lambda e: (e.occurred_at, e.input, e.position))
    }
    values = {(setting, value) for (_, setting), value in last.items()}
    return [{"setting": setting, "value": value} for setting, value in sorted(values)]


def _member(life: MemberLife, lines: list[Any]) -> dict[str, Any]:
    own = [each for each in lines if getattr(each, "member_id", None) == life.member_id]
    contact = next((each for each in own if isinstance(each, Contact)), None)
    departure = next((each for each in own if isinstance(each, Departure)), None)
    told: dict[str, Any] = _WITHOUT_LINES | {
        "rejoin": _rejoin(own),
        "end_detail": departure.end_detail if departure else None,
    }
    if contact is not None:
        told |= {name: getattr(contact, name) for name in _OF_CONTACT}
        told["client_inherited"] = False
    names = [each.name for each in dataclasses.fields(Member)]
    return {name: told[name] if name in told else getattr(life, name) for name in names}


def _rejoin(own: list[Any]) -> dict[str, Any] | None:
    """The one that took longest."""
    found = [
        {
            "rejoin_ms": max(0, each.joined_at - each.told_at),
            **{name: getattr(each, name) for name in ("source", "input", "position")},
        }
        for each in own
        if isinstance(each, Rejoin) and each.told_at is not None and each.joined_at is not None
    ]
    return max(found, key=lambda each: (each["rejoin_ms"], each["position"]), default=None)


def _refusals(found: list[Refusal]) -> list[dict[str, Any]]:
    """Each told once, as `distinct_refusals` does."""
    asked = {(each.api, each.error_code) for each in found if each.source == REQUEST_LOG}
    names = [each.name for each in dataclasses.fields(Refused) if each.name != "is_tonight"]
    return [
        {name: getattr(each, name) for name in names}
        for each in found
        if each.source == REQUEST_LOG or (each.api, each.error_code) not in asked
    ]
