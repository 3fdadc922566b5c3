"""`group_epochs`, `group_conversions`, `migration_progress` and `anomalies` of a log with holes.

Source of the rules: measures.md, "Holes and compaction" (numbers that count what came before count
what was seen; only the end state can be right), "Phase and progress" and "Epochs".
"""

from __future__ import annotations

from groupreplay.replay.facts import Anomaly, Conversion, Epoch, GroupSnapshot
from tests.simulator.holes.judge import Judge
from tests.simulator.holes.stretches import GroupTruth
from tests.simulator.lives import given_to_several, is_offline, is_unwritten
from tests.simulator.truth import CLASSIC, STABLE, Operation
from tests.support.sentences import said

PHASES = {
    "MIGRATED": ("MIGRATED", "CONSUMER"),
    "NATIVE": ("NATIVE", "CONSUMER"),
    "ROLLED_BACK": ("ROLLED_BACK", "CLASSIC"),
    "EMPTY": ("EMPTY", "NOT_APPLICABLE"),
}
"""True phase -> what may be said where its history was not seen; every other phase is itself."""


# ------------------------------------------------------------ epochs


def begun_by(truth: GroupTruth, epoch: int, near: Operation) -> Operation | None:
    """The last operation, up to one, that began an epoch: with its K3, or a K2 that raised it."""
    for place in range(truth.index_at(near.first_offset), -1, -1):
        operation = truth.operations[place]
        if epoch in operation.group_epochs:
            return operation
        before = truth.before(operation)
        was = before.epoch if before is not None else None
        if operation.epoch == epoch and (was != epoch or truth.converts(operation)):
            return operation
        if operation.protocol is None:
            return None
    return None


def judge_epoch(judge: Judge, truth: GroupTruth, row: Epoch) -> None:
    """One epoch or generation."""
    operation = truth.operation_at(row.from_offset)
    if not judge.holds("epoch: is of an operation", row, operation is not None, row.epoch, None):
        return
    assert operation is not None
    begun = begun_by(truth, row.epoch, operation)
    if row.start_observed:
        so = begun.at if begun is not None else None
        judge.equal("epoch: started_at", row, row.started_at, so)
        _judge_cause(judge, truth, row, operation)
    # What counts members counts those that were seen, until they are seen to go.
    most = len(operation.members) if row.converge_ms is not None else truth.members_until(operation)
    judge.holds("epoch: no more members", row, row.members <= most, row.members, most)
    _judge_course(judge, truth, row, operation)


def _judge_course(judge: Judge, truth: GroupTruth, row: Epoch, operation: Operation) -> None:
    ended = _superseded_by(truth, operation)
    converged = [each for each in truth.between(operation, ended) if is_converged(each, row.epoch)]
    first_at = converged[0].at if converged else None
    if row.converge_ms is not None:
        judge.equal("epoch: converged_at", row, row.converged_at, first_at)
    elif row.converged_at is not None and row.start_observed:
        # Behind a hole in the epoch it may have been so before: nothing is measured.
        is_so = first_at is not None and first_at <= row.converged_at
        judge.holds("epoch: converged by then", row, is_so, row.converged_at, first_at)
    if row.assign_ms is not None and row.protocol != CLASSIC:
        target_at = next(
            (
                each.at
                for each in truth.between(operation, None)
                if row.epoch in each.target_epochs
                or (not each.records and each.target_epoch == row.epoch)
            ),
            None,
        )
        judge.equal("epoch: target_at", row, row.target_at, target_at)
    if row.outcome == "SUPERSEDED" and row.start_observed:
        judge.equal("epoch: SUPERSEDED before it converged", row, None, first_at)
    if row.superseded_at is None and not row.is_final:
        so = ended.at if ended is not None else None
        judge.equal("epoch: is the last one", row, None, so)


def _superseded_by(truth: GroupTruth, operation: Operation) -> Operation | None:
    """The first operation of another epoch, of the other protocol, or of no group."""
    for each in truth.between(operation, None)[1:]:
        if (each.protocol, each.epoch) != (operation.protocol, operation.epoch):
            return each
    return None


def is_converged(operation: Operation, epoch: int) -> bool:
    """Whether every member is STABLE in an epoch (measures.md 3)."""
    members = operation.members.values()
    return bool(members) and all((m.epoch, m.state) == (epoch, STABLE) for m in members)


def _judge_cause(judge: Judge, truth: GroupTruth, row: Epoch, operation: Operation) -> None:
    """EXACT: a record of the operation says so."""
    if row.confidence != "EXACT":
        return
    before = truth.before(operation)
    was = before.members if before is not None else {}
    now, who = operation.members, row.cause_member_id
    come, gone = now.keys() - was.keys(), was.keys() - now.keys()
    changed = {
        member_id
        for member_id in now.keys() & was.keys()
        if (now[member_id].subscription, now[member_id].regex)
        != (was[member_id].subscription, was[member_id].regex)
    }
    so = {
        "JOIN": who in come,
        "LEFT_OR_FENCED": (who in gone) if who is not None else bool(gone),
        # A static member may come back under its own id.
        "STATIC_REPLACED": (bool(come) and bool(gone))
        or (who in now and operation.has(f"K5 {who} gone")),
        "SUBSCRIPTION": who in changed,
        "REGEX": operation.has("K16"),
        "TOPIC_METADATA": not come and not gone and not changed,
        "ASSIGNOR": who in now.keys() & was.keys() and now[who].assignor != was[who].assignor,
    }
    told = so.get(row.cause, truth.converts(operation) or before is None or not was)
    rest = f"come {sorted(come)}, gone {sorted(gone)}"
    judge.holds("epoch: EXACT cause", row, told, (row.cause, who), rest)


# ------------------------------------------------------------ conversions and the end


def judge_conversion(judge: Judge, truth: GroupTruth, row: Conversion) -> None:
    """A change of the protocol: inside one operation, of which the cleaner may have taken a part:
    then the mode is UNKNOWN, or no epoch_after is told.
    """
    operation = truth.operation_at(row.from_offset)
    before = truth.before(operation) if operation is not None else None
    if operation is None or before is None:
        judge.holds("conversion: was one", row, False, row.direction, None)
        return
    so = (
        operation.at,
        "DOWNGRADE" if operation.protocol == CLASSIC else "UPGRADE",
        row.mode
        if row.mode == "UNKNOWN"
        else "OFFLINE"
        if is_offline(before, operation)
        else "ONLINE",
        (operation.epoch or None) if row.epoch_after is not None else None,
    )
    said = (row.converted_at, row.direction, row.mode, row.epoch_after or None)
    judge.equal("conversion: was one", row, said if truth.converts(operation) else None, so)
    if row.epoch_before is not None:
        judge.equal("conversion: epoch_before", row, row.epoch_before, before.epoch)


def true_phase(truth: GroupTruth) -> tuple[str, int]:
    """Phase at the end of a group that lives, and its conversions since it was last removed."""
    directions: list[str] = []
    for operation in truth.operations:
        if operation.protocol is None:
            directions = []
        elif truth.converts(operation):
            directions.append("DOWNGRADE" if operation.protocol == CLASSIC else "UPGRADE")
    last = truth.operations[-1]
    if last.protocol_type not in (None, "", "consumer") or last.protocol_name == "stream":
        phase = "NOT_APPLICABLE"
    elif not last.members:
        phase = "EMPTY"
    elif last.protocol == CLASSIC:
        phase = "ROLLED_BACK" if directions[-1:] == ["DOWNGRADE"] else "CLASSIC"
    elif any(member.is_classic for member in last.members.values()):
        phase = "MIGRATING"
    else:
        phase = "MIGRATED" if "UPGRADE" in directions else "NATIVE"
    return phase, len(directions)


def judge_snapshot(judge: Judge, truth: GroupTruth, row: GroupSnapshot) -> None:
    """The end state can be right however much was cleaned away (measures.md)."""
    if row.protocol not in ("classic", "consumer"):
        return
    last = truth.operations[-1] if truth.operations else None
    if last is None or last.protocol is None:
        judge.holds("snapshot: lives", row, False, row.phase, None)
        return
    classic = sorted(name for name, member in last.members.items() if member.is_classic)
    phase, conversions = true_phase(truth)
    so = (last.protocol, len(last.members), len(classic))
    said = (row.protocol, row.members_total, row.members_classic)
    judge.equal("snapshot: members", row, said, so)
    blockers = classic if phase != "NOT_APPLICABLE" else []
    judge.equal("snapshot: blockers", row, row.blocker_member_ids, blockers)
    judge.equal("snapshot: group_epoch", row, row.group_epoch or 0, last.epoch)
    allowed = PHASES.get(phase, (phase,))
    if row.history_complete and phase != "EMPTY":
        allowed = (phase,)
    judge.holds("snapshot: phase", row, row.phase in allowed, row.phase, phase)
    if row.history_complete:
        # Else the group may have been deleted in a hole, since when they count. Of earlier lives
        # the cleaner may have taken some.
        is_so = row.conversions <= conversions
        judge.holds("snapshot: no more conversions", row, is_so, row.conversions, conversions)


def judge_anomaly(judge: Judge, truth: GroupTruth, row: Anomaly) -> None:
    """It was Kafka itself that wrote the log: rules are suspended for what a hole may explain. Not
    where the coordinator forgot a group, and wrote nothing; and what a leader gives to two members
    its K2 alone shows.
    """
    operation = truth.operation_at(row.evidence_offset)
    is_forgotten = operation is not None and is_unwritten(truth.before(operation), operation)
    if row.rule == "I18_ONE_KIND" and is_forgotten:
        return
    found = f"{row.rule} at {row.evidence_offset}: {said(row)}"
    if row.rule == "I24_GIVEN_ONCE":
        is_so = operation is not None and bool(given_to_several(operation))
        judge.holds("anomaly: a partition given twice", row, is_so, found, "once")
    judge.holds("anomaly: none of severity ERROR", row, row.severity != "ERROR", found, "Kafka")
