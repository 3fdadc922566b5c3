"""`member_states` and `members` of a log with holes.

Source of the rules: measures.md, "Holes and compaction": what is found behind a hole is taken over
as it is, with start_observed false; a row whose end lies in a hole did not end at a known time.
"""

from __future__ import annotations

from groupreplay.replay.facts import MemberLife, MemberState
from tests.simulator.holes.judge import Judge
from tests.simulator.holes.stretches import GroupTruth, Stretch, at
from tests.simulator.truth import Member, Operation


def judge_state(judge: Judge, truth: GroupTruth, row: MemberState) -> None:
    """A span of a member in one epoch and state."""
    operation = truth.operation_at(row.from_offset)
    said = (row.member_epoch, row.state)
    stretch = at(truth.states, row.member_id, operation) if operation is not None else None
    so = stretch.value if stretch is not None else None
    # Taken over as it is: a record says what was so when it was written.
    if not judge.equal("state: as its record says", row, said, so) or stretch is None:
        return
    if row.start_observed:
        begun = (stretch.opened.at, stretch.opened.first_offset)
        is_so = stretch.opened is operation and row.from_at == stretch.opened.at
        judge.holds("state: start_observed", row, is_so, row.from_at, begun)
    ended = stretch.closed
    ended_at = ended.at if ended is not None else None
    if row.to_at is None:
        judge.equal("state: open", row, row.to_at, ended_at)
    elif row.end_observed:
        judge.equal("state: end_observed", row, row.to_at, ended_at)
    else:
        # By offsets: clocks of leaders may go back. Over a downgrade whose K2 is lost it goes on.
        by = truth.operation_at(row.to_offset)
        is_so = ended is not None and ended.first_offset <= (row.to_offset or 0)
        is_so = is_so or (by is not None and truth.converts(by))
        judge.holds("state: to_at is not before the end", row, is_so, row.to_at, ended_at)


def judge_life(judge: Judge, truth: GroupTruth, row: MemberLife) -> None:
    """A member from joining to leaving."""
    operation = truth.operation_at(row.from_offset)
    stretch = _across_holes(truth, row, operation) if operation is not None else None
    # A member behind a hole is one of the group, whatever shows it.
    if (
        not judge.holds("member: is one", row, stretch is not None, row.joined_at, None)
        or not stretch
    ):
        return
    if row.start_observed:
        judge.equal("member: joined_at observed", row, row.joined_at, stretch.opened.at)
    else:
        # Of the record that shows it. Clocks of leaders may go back: offsets tell that it was in.
        so_at = operation.at if operation is not None else None
        judge.equal("member: joined_at of what shows it", row, row.joined_at, so_at)
    ended = stretch.closed
    if row.end_reason == "OPEN":
        judge.equal("member: open", row, None, ended.at if ended is not None else None)
    elif row.end_reason == "UNOBSERVED":
        judge.equal("member: UNOBSERVED has no ended_at", row, row.ended_at, None)
    else:
        so = (ended.at, end_reason_of(truth, stretch, row.member_id)) if ended is not None else None
        said = (row.ended_at, (row.end_reason, row.replaced_by))
        judge.equal("member: end", row, said, so)


def _across_holes(
    truth: GroupTruth, row: MemberLife, operation: Operation
) -> Stretch[Member] | None:
    """The membership that a row begins in; with the end of a later one of the same id, where that
    is the row's. One that was removed in a hole and came back in it was never seen to be away."""
    stretch = at(truth.memberships, row.member_id, operation)
    if stretch is None or stretch.closed is None or row.end_reason == "UNOBSERVED":
        return stretch
    end = truth.operation_at(row.to_offset)
    again = [each for each in truth.memberships[row.member_id] if each.closed is end]
    return Stretch(stretch.value, stretch.opened, end) if again else stretch


def end_reason_of(
    truth: GroupTruth, stretch: Stretch[Member], member_id: str
) -> tuple[str, str | None]:
    """(end_reason, replaced_by) of a membership that is over (measures.md 4)."""
    closed = stretch.closed
    assert closed is not None
    if closed.protocol is None:
        return "GROUP_REMOVED", None
    heir = heir_of(truth, closed, member_id)
    return ("REPLACED", heir) if heir is not None else ("LEFT_OR_FENCED", None)


def heir_of(truth: GroupTruth, closed: Operation, member_id: str) -> str | None:
    """Who came in the operation that removed a member, with the member's instance id."""
    before = truth.before(closed)
    was = before.members.get(member_id) if before is not None else None
    if was is None or was.instance_id is None or before is None:
        return None
    fresh = closed.members.keys() - before.members.keys()
    instance = was.instance_id
    return next((name for name in fresh if closed.members[name].instance_id == instance), None)
