"""`readiness` with logs of brokers: what the topic decides is as without them, and what lines decide
is in `line_rules`; the verdict follows from the rules that fired, and `flip_tier` from the groups
beside each other (measures.md, Readiness)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.criteria import LONG_SESSION_MS, PROVEN_MS, Criteria
from tests.simulator.expected import member_ends
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.line_rules import RULES, Lines, software_in
from tests.simulator.expected.migration_progress import course_of
from tests.simulator.expected.readiness import client_of, judged_lives, row_of
from tests.simulator.expected.ready_rules import BLOCK, BLOCK_ONLINE, FIX, NA, Rules
from tests.simulator.expected.ready_rules import CHECK as LOOK
from tests.simulator.expected.rejoins import rejoins_in
from tests.simulator.tables import Row

OF_LINES: Final = frozenset({"R5b", "R6", "R8", "R12", "R13", "R18"})
"""Rules that lines show, or sharpen."""

_MANY: Final = 1_000_000
_SAME: Final = (
    *("incarnation", "offsets_partition", "from_offset", "phase", "members_total"),
    *("members_static", "assignor", "suggested_assignor", "suggested_session_timeout_ms"),
    *("observed_ms", "broker_version", "migration_policy"),
)


def _criteria(history: History) -> Criteria:
    config = history.truth.broker_config
    heartbeat_ms = int(config.get("group.consumer.heartbeat.interval.ms", 5_000))
    told = Criteria("with logs", LONG_SESSION_MS, 60_000, heartbeat_ms)
    if not history.truth.prints_config:
        return told
    most = int(config.get("group.consumer.max.size", told.max_size))
    return replace(told, policy=config["group.consumer.migration.policy"], max_size=most)


def _wanted(history: History) -> dict[Key, Wanted]:
    conflicts = Counter(
        event.group_id
        for event in history.truth.injected
        if event.what == "fenced instance" or event.detail.endswith("UNRELEASED_INSTANCE_ID")
    )
    told, ends, rejoins = _criteria(history), member_ends.CHECK.wanted(history), rejoins_in(history)
    wanted: dict[Key, Wanted] = {}
    for of, known in judged_lives(history):
        group_id = of.life.group_id
        row = row_of(of, known, told)
        rules = row.values["rules"]
        lines = Lines(history, of.life, known, ends, rejoins.get(group_id, ()))
        clients = {name: lines.client(name, client_of(known, name)) for name in known.members}
        by_topic = tuple(each for each in rules.fired if each.rule not in OF_LINES)
        unseen = [each for each in row.values["rules_unseen"] if each not in OF_LINES]
        values: dict[str, Any] = {
            **{name: row.values[name] for name in _SAME},
            "as_of_at": known.now_ms,
            "partitions": row.values["partitions_held"],
            "is_cooperative": row.values["cooperative"],
            "suggested_heartbeat_ms": None,
            "brokers_known": _known(history),
            "rules": Rules(by_topic, clients),
            "rules_unseen": sorted([*unseen, *lines.unseen()], key=lambda rule: int(rule[1:])),
            "cohort": f"- / {lines.first_software}",
            **lines.rules(told, clients),
            "conflicts": Between(conflicts[group_id], _MANY),
            "is_verdict_of_rules": True,
            "is_tier_of_cohort": True,
            "are_checks_those_rules": True,
        }
        wanted[group_id,] = Wanted(values, row.offsets, row.left_out)
    return wanted


def _known(history: History) -> str:
    """Of what brokers print: all that a rule asks, where sessions are not as Kafka has them."""
    is_set = "group.consumer.session.timeout.ms" in history.truth.broker_config
    return "LOGS" if history.truth.prints_config and is_set else "ASSUMED"


def _gathered(history: History, rows: Sequence[Row]) -> Sequence[Row]:
    tiers = _tiers(history, rows)
    found = []
    for row in rows:
        by_topic = [each for each in row["rules"] if each["rule"] not in OF_LINES]
        counts = {each["rule"]: each["value"] for each in row["rules"]}
        lines = [f"{e['rule']}: {e['detail']}" for e in row["rules"] if e["severity"] == LOOK]
        found.append(
            {
                **row,
                "rules": by_topic,
                **{name: _rule_of(row, name) for name in RULES},
                "conflicts": int(counts.get("R6", 0)),
                "is_verdict_of_rules": row["verdict"] == _verdict(row),
                "is_tier_of_cohort": row["flip_tier"] == tiers[row["group_id"]],
                "are_checks_those_rules": row["checks"] == lines,
            }
        )
    return found


def _rule_of(row: Row, name: str) -> Any:
    """None where it does not fire."""
    return next((each for each in row["rules"] if each["rule"] == name), None)


def _verdict(row: Row) -> str:
    severities = {each["severity"] for each in row["rules"]}
    if NA in severities:
        return "NOT_APPLICABLE"
    if BLOCK in severities:
        return "BLOCKED"
    if BLOCK_ONLINE in severities or not row["members_total"]:
        return "READY_OFFLINE"
    return "WARN" if severities & {FIX, LOOK} else "READY"


def _tiers(history: History, rows: Sequence[Row]) -> Mapping[str, int | None]:
    """By the rows' own verdicts, rules and cohorts."""
    cohorts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        cohorts[row["cohort"]].append(row)
    proved = set(_proved(history))
    tiers: dict[str, int | None] = {}
    for cohort, of_cohort in cohorts.items():
        able = [each for each in of_cohort if _is_eligible(each)]
        able.sort(key=lambda each: (each["partitions"], each["group_id"]))
        is_rolling = any(each["phase"] == "MIGRATING" for each in of_cohort)
        is_proven = cohort in proved
        for row in of_cohort:
            is_idle = row["verdict"] == "READY_OFFLINE" and row["phase"] != "MIGRATING"
            tiers[row["group_id"]] = 0 if is_idle else None
            if row in able:
                is_canary = row is able[0] and not is_rolling
                tiers[row["group_id"]] = 1 if is_proven else 2 if is_canary else 3
    return tiers


def _is_eligible(row: Row) -> bool:
    has_fix = any(each["severity"] == FIX for each in row["rules"])
    can_roll = row["phase"] != "MIGRATING" and row["members_total"] > 0
    return can_roll and (row["verdict"] == "READY" or (row["verdict"] == "WARN" and not has_fix))


def _proved(history: History) -> Iterator[str]:
    """Cohorts of which a group has run on the consumer protocol for long."""
    logs = history.truth.logs
    for life in {each.group_id: each for each in history.lives}.values():
        if life.is_removed:
            continue
        course = course_of(history.truth.operations[life.group_id])
        now_ms = logs[life.offsets_partition].last_at
        is_long = course.upgraded_at is not None and course.upgraded_at <= now_ms - PROVEN_MS
        if course.phase == "MIGRATED" and is_long:
            yield from (f"- / {name}" for name in software_in(history, life))


CHECK: Final = Check("flips", _wanted, lambda history, row: (row["group_id"],), gathered=_gathered)
