"""What decisions are made by, of a log with holes: events of `departure_waves`, `static_accounting`,
counts of `group_days`, and names of topics.

Source of the rules: decisions.md, and measures.md, "Holes and compaction": what a hole hides is no
event, and what is counted is what was seen.
"""

from __future__ import annotations

from groupreplay.replay.decision_facts import Absence, Churn, GroupDay
from groupreplay.replay.facts import TopicSeen
from tests.simulator.holes.groups import begun_by, is_converged
from tests.simulator.holes.judge import Judge
from tests.simulator.holes.members import heir_of
from tests.simulator.holes.stretches import GroupTruth
from tests.simulator.truth import Member, Operation


def judge_churn(judge: Judge, truth: GroupTruth, row: Churn) -> None:
    """Membership events: each was one, of the operation that shows it."""
    for place, offset in enumerate(row.offsets):
        operation = truth.operation_at(offset)
        kind, member_id = row.event_kinds[place], row.member_ids[place]
        said = (kind, member_id, row.other_ids[place])
        so = _events(truth, operation) if operation is not None else set()
        if not judge.holds("churn: was an event", row, said in so, said, sorted(so, key=str)):
            continue
        assert operation is not None
        latest = max([operation.at, *row.times_at[:place]])
        judge.equal("churn: when", row, row.times_at[place], latest)
        # Members are counted who were seen, until they are seen to go.
        most = truth.members_until(operation)
        after = row.members_after[place]
        judge.holds("churn: no more members", row, after <= most, after, most)
        if (settled := row.settled[place]) is not None:
            epoch = row.group_epochs[place]
            judge.equal("churn: settled", row, settled, _settled(truth, operation, epoch))


def _was(truth: GroupTruth, operation: Operation) -> dict[str, Member]:
    before = truth.before(operation)
    return dict(before.members) if before is not None else {}


def _events(truth: GroupTruth, operation: Operation) -> set[tuple[str, str, str | None]]:
    """(kind, member, who took its instance over)."""
    was, now = _was(truth, operation), operation.members
    found: set[tuple[str, str, str | None]] = set()
    heirs = {member_id: heir_of(truth, operation, member_id) for member_id in was.keys() - now}
    for member_id, heir in heirs.items():
        found.add(("R" if heir is not None else "G", member_id, heir))
    found |= {("J", each, None) for each in now.keys() - was - set(heirs.values())}
    for member_id in now.keys() & was:
        if now[member_id].is_away and not was[member_id].is_away:
            found.add(("A", member_id, None))
        if was[member_id].is_away and not now[member_id].is_away:
            found.add(("R", member_id, member_id))
    return found


def _settled(truth: GroupTruth, operation: Operation, epoch: int | None) -> int | None:
    """When the epoch in force after an operation first converged."""
    begun = begun_by(truth, epoch, operation) if epoch is not None else None
    if begun is None or epoch is None:
        return None
    course = truth.between(begun, None)
    return next((each.at for each in course if is_converged(each, epoch)), None)


def judge_absence(judge: Judge, truth: GroupTruth, row: Absence) -> None:
    """A process that was gone: when it left, was removed and came back, each if it is told."""
    left = {each.opened.at for each in truth.states.get(row.member_id, []) if each.value[0] == -2}
    gone = {
        each.closed.at
        for each in truth.memberships.get(row.member_id, [])
        if each.closed is not None
    }
    for rule, said, so in (("left_at", row.left_at, left), ("removed_at", row.removed_at, gone)):
        if said is not None:
            judge.holds(f"absence: {rule}", row, said in so, said, sorted(so))
    if row.returned_at is not None and row.returned_as is not None:
        returned_as = row.returned_as
        seen = {each.opened.at for each in truth.memberships.get(returned_as, [])}
        seen |= {each.opened.at for each in truth.states.get(returned_as, [])}
        is_so = row.returned_at in seen
        judge.holds("absence: returned_at", row, is_so, row.returned_at, sorted(seen))


def judge_day(judge: Judge, truth: GroupTruth, row: GroupDay) -> None:
    """Of a day of one life no more is counted than there was of the group."""
    counts = dict.fromkeys("GRJA", 0)
    for operation in truth.operations:
        for kind, _, _ in _events(truth, operation):
            counts[kind] += 1
    for name, kind in (("joins", "J"), ("departures", "G"), ("away", "A")):
        said, most = getattr(row, name), counts[kind]
        judge.holds(f"day: no more {name}", row, said <= most, said, most)
    watched = row.to_at - row.from_at
    parts = row.empty_ms + row.mixed_ms + row.consumer_ms + row.classic_ms + row.unobserved_ms
    judge.holds("day: no more time than there is", row, parts <= watched, parts, watched)


def judge_topic(judge: Judge, truth: GroupTruth, row: TopicSeen) -> None:
    """A topic's name."""
    so = truth.truth.names.get(row.topic_id)
    judge.equal("topic: its name", row, row.topic, so)
