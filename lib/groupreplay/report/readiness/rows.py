"""Rows of what is known of groups -> rows of what is found, in Spark's Python workers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from groupreplay.report.brokers import Brokers, brokers_of, settings_of
from groupreplay.report.readiness.known import (
    CHECK,
    MAX_MEMBERS,
    Criteria,
    FiredRule,
    Group,
    Member,
    Refused,
)
from groupreplay.report.readiness.verdict import judged

_PLACE_TYPE: Final = pa.struct(
    [("source", pa.string()), ("input", pa.string()), ("position", pa.int64())]
)
_RULE_MEMBERS: Final = (
    *("member_id", "instance_id", "client_id", "client_host", "client_inherited", "software"),
)
_MEMBER_TYPE: Final = pa.struct(
    [(name, pa.bool_() if name == "client_inherited" else pa.string()) for name in _RULE_MEMBERS]
)
_RULE_TYPE: Final = pa.struct(
    [
        ("rule", pa.string()),
        ("severity", pa.string()),
        ("members", pa.list_(_MEMBER_TYPE)),
        ("members_count", pa.int32()),
        ("value", pa.float64()),
        ("limit", pa.float64()),
        ("detail", pa.string()),
        ("evidence_offset", pa.int64()),
        ("evidence", _PLACE_TYPE),
    ]
)
_OF_GROUP: Final = {
    "group_id": pa.string(),
    "incarnation": pa.int64(),
    "offsets_partition": pa.int64(),
    "from_offset": pa.int64(),
    "log_incarnation": pa.int64(),
    "now_ms": pa.int64(),
    "phase": pa.string(),
    "members_total": pa.int64(),
    "partitions_held": pa.int64(),
    "cooperative": pa.bool_(),
}
_FOUND: Final = {
    "is_row": pa.bool_(),
    "proves": pa.list_(pa.string()),
    "verdict": pa.string(),
    "members_static": pa.int64(),
    "assignor": pa.string(),
    "suggested_assignor": pa.string(),
    "suggested_session_timeout_ms": pa.int64(),
    "rules": pa.list_(_RULE_TYPE),
    "rules_unseen": pa.list_(pa.string()),
    "observed_ms": pa.int64(),
    "software": pa.list_(pa.string()),
    "is_eligible": pa.bool_(),
    "broker_version": pa.string(),
    "migration_policy": pa.string(),
    "brokers_known": pa.string(),
    "checks": pa.list_(pa.string()),
}
_JUDGED: Final = pa.schema(list((_OF_GROUP | _FOUND).items()))
_SPARK: Final = {
    pa.string(): "STRING",
    pa.int64(): "BIGINT",
    pa.int32(): "INT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
}


def _ddl(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"ARRAY<{_ddl(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"STRUCT<{', '.join(f'`{each.name}`: {_ddl(each.type)}' for each in kind)}>"
    return _SPARK[kind]


JUDGED_DDL: Final = ", ".join(f"`{each.name}` {_ddl(each.type)}" for each in _JUDGED)


def judge_batches(
    own: Criteria,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` takes: rows with the fields of `Group`, and of `_OF_GROUP`."""

    def each_judged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [judge(row, own) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, schema=_JUDGED)

    return each_judged


def judge(row: dict[str, Any], own: Criteria) -> dict[str, Any]:
    """A row of `_known` -> one of `_JUDGED`."""
    group = group_of(row)
    place = {name: row[name] for name in _OF_GROUP}
    if group.protocol != "classic" and group.phase != "MIGRATING":
        return place | {"is_row": False, "proves": _proves(row, group, own)}
    brokers = brokers_of(own.brokers, settings_of(row.get("settings") or ()))
    found = judged(group, brokers, own)
    return place | {
        "is_row": True,
        "proves": [],
        **{name: getattr(found, name) for name in _FOUND if hasattr(found, name)},
        "rules": [_rule(each) for each in found.findings],
        "checks": [f"{e.rule}: {e.detail}" for e in found.findings if e.severity == CHECK],
        **_of_brokers(brokers),
    }


def _of_brokers(brokers: Brokers) -> dict[str, Any]:
    return {
        "broker_version": brokers.version,
        "migration_policy": brokers.policy,
        "brokers_known": brokers.known,
    }


def group_of(row: dict[str, Any]) -> Group:
    """A row of `_known` as the rules read it."""
    before_ms = row["before_ms"]
    # Lines name the group alone: what was said before a life that is seen to begin is not of it.
    since_ms = row.get("unbroken_since_at") if row.get("history_complete") else None
    said_at = [at for at in row.get("said_at") or () if since_ms is None or at >= since_ms]
    changed_at = [*(row.get("changed_at") or ()), *said_at]
    names = [each.name for each in dataclasses.fields(Group)]
    given = {name: row[name] for name in names if row.get(name) is not None}
    return Group(
        **given
        | {
            "members": _by_id(row.get("members") or ()),
            "ended": [Member(**each) for each in row.get("ended") or ()],
            "refusals": [
                Refused(**each, is_tonight=each["last_at"] > before_ms)
                for each in row.get("refusals") or ()
            ],
            "subscription_changes": sum(1 for at in changed_at if at > before_ms),
        }
    )


def _by_id(members: Iterable[dict[str, Any]]) -> list[Member]:
    """Spark gathers them in any order."""
    return sorted((Member(**each) for each in members), key=lambda each: each.member_id)


def _proves(row: dict[str, Any], group: Group, own: Criteria) -> list[str]:
    """Client software that a group shows to run on the consumer protocol, for long enough."""
    upgraded_at = row["upgraded_at"]
    if group.phase != "MIGRATED" or upgraded_at is None:
        return []
    if upgraded_at > group.now_ms - own.readiness.proven_ms:
        return []
    names = {m.software_name for m in group.members if m.member_protocol == "consumer"}
    return sorted(name for name in names if name is not None)


def _rule(finding: FiredRule) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "members": [_member(each) for each in finding.members[:MAX_MEMBERS]],
        "members_count": len(finding.members),
        "value": None if finding.value is None else float(finding.value),
        "limit": None if finding.limit is None else float(finding.limit),
        "detail": finding.detail,
        "evidence_offset": finding.evidence_offset,
        "evidence": finding.evidence,
    }


def _member(member: Member) -> dict[str, Any]:
    known = (member.software_name, member.software_version)
    software = " ".join(each for each in known if each is not None) or None
    return {name: getattr(member, name, software) for name in _RULE_MEMBERS}
