"""The replay of a recording against what truly happened: every check gives its problems, as
sentences; none where all is well.
"""

from __future__ import annotations

from collections.abc import Iterable

from groupreplay.replay.facts import HandOver, HeldPartition
from tests.truth.tables import Tables
from tests.truth.truth import Asked, Partition, Sample, Truth

NOISE_MS = 350
"""Between the broker's debug line and its record."""

SAYS_PENDING = (4, 3)
"""From this version on a describe answer counts partitions that are being revoked as assigned."""

Assigned = dict[str, frozenset[Partition]]


def assignments(truth: Truth, tables: Tables) -> list[str]:
    """Who held what, at every moment at which the broker was asked."""
    problems = []
    deleted = [
        (event["topic"], event["at"])
        for event in truth.timeline
        if event["action"] == "topic_deleted"
    ]
    for group, at, sample in _probes(truth):
        wanted = {
            m["member_id"]: held
            for m in sample["members"]
            if (held := frozenset(map(_partition, m["assigned"])))
        }
        got = _held_at(tables, tables.spans(group), at)
        if truth.kafka < SAYS_PENDING and (got != wanted or not truth.was_upgraded):
            got = _without(got, _pending_at(tables, group, at))
        gone = {
            topic for topic, when in deleted if at > when
        }  # the broker can no longer name what it still counts
        got, wanted = _without_topics(got, gone), _without_topics(wanted, gone)
        if got != wanted:
            problems.append(
                f"{group} at {at}: {_shown(truth, got)}, the broker said {_shown(truth, wanted)}"
            )
    return problems


def epochs_and_protocols(truth: Truth, tables: Tables) -> list[str]:
    problems = []
    for group, at, sample in _probes(truth):
        begun = [epoch for epoch in tables.epochs(group) if epoch.started_at <= at]
        last = begun[-1] if begun else None
        if last is None or last.protocol != sample["type"].lower():
            problems.append(f"{group} at {at}: {last}, the broker said {sample['type']}")
        elif sample["type"] == "Consumer" and sample["group_epoch"] not in (None, last.epoch):
            problems.append(
                f"{group} at {at}: epoch {last.epoch}, the broker said {sample['group_epoch']}"
            )
    return problems


def _probes(truth: Truth) -> Iterable[tuple[str, int, Sample]]:
    """Answers about groups that settled: classic ones say nothing of use during a rebalance. Of a
    compacted log only the end is owed.
    """
    probes = list(truth.probes())
    last = {group: at for group, at, _ in probes}
    for group, at, sample in probes:
        is_settled = sample.get("type") == "Consumer" or (
            sample.get("type") == "Classic" and sample["state"] == "Stable"
        )
        if is_settled and "members" in sample and (not truth.is_compacted or at == last[group]):
            yield group, at, sample


def _partition(text: str) -> Partition:
    topic, _, number = text.rpartition("-")
    return topic, int(number)


def _held_at(tables: Tables, spans: list[HeldPartition], at: int) -> Assigned:
    held: dict[str, set[Partition]] = {}
    for span in spans:
        if span.assigned_at <= at and (span.released_at is None or span.released_at > at):
            held.setdefault(span.member_id, set()).add(tables.partition(span))
    return {member: frozenset(partitions) for member, partitions in held.items()}


def _pending_at(tables: Tables, group: str, at: int) -> Assigned:
    pending: dict[str, set[Partition]] = {}
    for row in tables.hand_overs(group):
        if row.requested_at <= at and (row.ended_at is None or row.ended_at > at):
            pending.setdefault(row.member_id, set()).add(tables.partition(row))
    return {member: frozenset(partitions) for member, partitions in pending.items()}


def _without(held: Assigned, pending: Assigned) -> Assigned:
    return {
        member: left
        for member, partitions in held.items()
        if (left := partitions - pending.get(member, frozenset()))
    }


def _without_topics(held: Assigned, topics: set[str]) -> Assigned:
    return {
        member: left
        for member, partitions in held.items()
        if (left := frozenset(tp for tp in partitions if tp[0] not in topics))
    }


def _shown(truth: Truth, held: Assigned) -> dict[str, list[Partition]]:
    return {truth.client(member): sorted(partitions) for member, partitions in sorted(held.items())}


def hand_overs(truth: Truth, tables: Tables) -> list[str]:
    """Every partition that was asked back, how and when that ended; and no hand-over that never
    was.
    """
    problems = []
    asked = truth.asked_back()
    for one in asked:
        rows = [
            r
            for r in tables.hand_overs(one.group)
            if r.member_id == one.member and tables.partition(r) == one.partition
        ]
        near = [row for row in rows if abs(row.requested_at - one.requested) <= NOISE_MS]
        if not near:
            problems.append(f"missing: {one}")
        elif not _ends_as(near[0], one):
            problems.append(f"{one}, told as {near[0]}")
    real = {(one.group, one.member, one.partition) for one in asked}
    for group in {fact.group_id for fact in tables.facts}:
        for row in tables.hand_overs(group):
            is_telling = row.member_protocol == "consumer" and row.outcome in (
                "ACKED",
                "OPEN",
                "FENCED",
            )
            if is_telling and (group, row.member_id, tables.partition(row)) not in real:
                problems.append(f"never was: {row}")
    return problems


def _ends_as(row: HandOver, one: Asked) -> bool:
    match one.outcome:
        case "ACKED":
            if (
                row.outcome != "ACKED"
                or row.acked_at is None
                or row.revoke_ms is None
                or one.ended is None
            ):
                return False
            return (
                abs(row.acked_at - one.ended) <= NOISE_MS
                and abs(row.revoke_ms - (one.ended - one.requested)) <= 2 * NOISE_MS
            )
        case "CANCELLED":
            return row.outcome == "CANCELLED"
        case "ELSE":
            return row.outcome not in ("ACKED", "OPEN")
        case "OPEN":
            return row.outcome == "OPEN" and row.is_censored
    return row.outcome in ("FENCED", "LEFT", "LEFT_OR_FENCED")
