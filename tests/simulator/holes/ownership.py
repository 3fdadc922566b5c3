"""`member_assignments` and `revocation_latencies` of a log with holes.

Source of the rules: measures.md, "Holes and compaction": durations only of what was seen from its
start to its end without a hole; UNOBSERVED where the end lies in one; nobody is charged for what
was not seen.
"""

from __future__ import annotations

from bisect import bisect_left

from groupreplay.replay.facts import HandOver, HeldPartition
from tests.simulator.holes.judge import Judge
from tests.simulator.holes.members import heir_of
from tests.simulator.holes.stretches import Courses, GroupTruth, Ids, Place, Stretch, may_be
from tests.simulator.truth import AWAY_EPOCH, Operation
from tests.simulator.truth_log import CommitKey


def _name(truth: GroupTruth, row: HeldPartition | HandOver) -> str:
    return truth.truth.names.get(row.topic_id or "", row.topic or row.topic_id or "")


def _found(
    truth: GroupTruth, known: dict[Place, list[Stretch[Ids]]], row: HeldPartition | HandOver
) -> Stretch[Ids] | None:
    operation = truth.operation_at(row.from_offset)
    stretches = known.get((row.member_id, _name(truth, row), row.partition), ())
    return next(
        (
            each
            for each in stretches
            if operation is not None
            and each.covers(operation)
            and may_be(each.value, {row.topic_id})
        ),
        None,
    )


def _first_of(
    known: Courses, stretch: Stretch[Ids], topic: str, number: int, said: str | None = None
) -> tuple[str, Stretch[Ids]] | None:
    """Whose is the first stretch of the same partition that began where another ended, or later.

    known: of every partition its stretches, in the order in which they began.
    said: whom a row names. CooperativeStickyAssignor may give a partition to two members at once:
        each of them is the next.
    """
    closed = stretch.closed
    if closed is None:
        return None
    course = known.get((topic, number), ())
    first = bisect_left(course, closed.first_offset, key=lambda each: each[1].opened.first_offset)
    same = [each for each in course[first:] if may_be(each[1].value, stretch.value)]
    at_once = [each for each in same if each[1].opened is same[0][1].opened]
    return next((each for each in at_once if each[0] == said), next(iter(same), None))


# ------------------------------------------------------------ spans


def _across_holes(
    truth: GroupTruth, row: HeldPartition, stretch: Stretch[Ids] | None
) -> Stretch[Ids] | None:
    """A stretch that ends as the row does, where the one it began in did not.

    A member that has the same before a hole and behind it held it all the time, as far as can be
    seen: a rule that measures.md does not spell out. It may have lost and regained it in between.
    """
    if stretch is None or stretch.closed is None or row.end_reason == "UNOBSERVED":
        return stretch
    end = truth.operation_at(row.to_offset)
    later = truth.held[row.member_id, _name(truth, row), row.partition]
    again = [
        each
        for each in later
        if each.closed is end
        and each.opened.first_offset > stretch.opened.first_offset
        and may_be(each.value, stretch.value)
    ]
    return Stretch(stretch.value, stretch.opened, end) if again else stretch


def _until_a_topic_of_its_name(
    truth: GroupTruth, row: HeldPartition, stretch: Stretch[Ids] | None
) -> Stretch[Ids] | None:
    """A topic was deleted and created again: a downgrade, which names both alike, ends what its
    member had of the first one."""
    end = truth.operation_at(row.to_offset)
    if stretch is None or end is None or row.end_reason != "TOPIC_REMOVED":
        return stretch
    gone = truth.truth.deleted.get(_name(truth, row), ())
    is_so = truth.converts(end) and any(at_ms <= end.true_at for at_ms, _ in gone)
    return Stretch(stretch.value, stretch.opened, end) if is_so else stretch


def judge_span(judge: Judge, truth: GroupTruth, row: HeldPartition) -> None:
    """A member holding a partition."""
    stretch = _across_holes(truth, row, _found(truth, truth.held, row))
    stretch = _until_a_topic_of_its_name(truth, row, stretch)
    what = f"{row.topic or row.topic_id}-{row.partition}"
    # Taken over as it is: the record that shows it says that it is held.
    if not judge.holds("span: is held", row, stretch is not None, what, "not held") or not stretch:
        return
    closed = stretch.closed
    if row.start_observed:
        judge.equal("span: start_observed", row, row.assigned_at, stretch.opened.at)
    if row.end_reason == "OPEN":
        judge.equal("span: OPEN", row, None, closed.at if closed is not None else None)
        return
    if row.end_reason == "UNOBSERVED":
        # Its end lies in a hole, so what is said of it can only come later; or its name was not
        # known over a conversion, or the conversion lies in a hole: that did not end it.
        # By offsets: clocks of leaders may go back.
        by = truth.operation_at(row.to_offset)
        is_over = closed is not None and closed.first_offset <= (row.to_offset or 0)
        is_so = is_over or (closed is not None and row.released_at is None)
        if by is not None and not is_so:
            in_between = truth.between(stretch.opened, by)[1:] if row.released_at is None else ()
            is_so = any(truth.converts(each) for each in (*in_between, by))
        so_at = closed.at if closed is not None else None
        judge.holds("span: UNOBSERVED ended by then", row, is_so, row.released_at, so_at)
        judge.equal(
            "span: UNOBSERVED has no durations", row, (row.unowned_ms, row.idle_ms), (None, None)
        )
        return
    so = (closed.at, _span_end(truth, stretch, row)) if closed is not None else None
    if judge.equal("span: end", row, (row.released_at, row.end_reason), so):
        _judge_next(judge, truth, row, stretch)


def _span_end(truth: GroupTruth, stretch: Stretch[Ids], row: HeldPartition) -> str:
    """end_reason of a span that is over (measures.md 4)."""
    closed = stretch.closed
    assert closed is not None
    if closed.protocol is None:
        return "GROUP_REMOVED"
    if row.member_id not in closed.members:
        heir = heir_of(truth, closed, row.member_id)
        return "REPLACED" if heir is not None else "LEFT_OR_FENCED"
    gone = truth.truth.deleted.get(_name(truth, row), ())
    was_deleted = any(at_ms <= closed.true_at for at_ms, _ in gone)
    return "TOPIC_REMOVED" if was_deleted and row.end_reason == "TOPIC_REMOVED" else "REVOKED"


def _judge_next(judge: Judge, truth: GroupTruth, row: HeldPartition, stretch: Stretch[Ids]) -> None:
    name, closed = _name(truth, row), stretch.closed
    after = _first_of(truth.holders, stretch, name, row.partition, row.next_member_id)
    assert closed is not None
    if row.next_member_id is not None:
        so = (after[0], after[1].opened.at) if after is not None else None
        said = (row.next_member_id, row.next_assigned_at)
        judge.equal("span: next holder", row, said, so)
    if row.unowned_ms is not None:
        so_ms = after[1].opened.at - closed.at if after is not None else None
        judge.equal("span: unowned_ms", row, row.unowned_ms, so_ms)
    is_told = name not in truth.truth.deleted and not _has_another(truth, row, closed)
    if row.idle_ms is not None and is_told:
        key = CommitKey(row.group_id, name, row.partition)
        last = truth.truth.commit_before(key, closed.first_offset)
        first = _first_commit(truth, key, after[0], after[1].opened) if after is not None else None
        so_ms = first - last if first is not None and last is not None else None
        judge.equal("span: idle_ms", row, row.idle_ms, so_ms)


def _has_another(truth: GroupTruth, row: HeldPartition, closed: Operation) -> bool:
    """Whether a leader had given the partition to another member too, who commits it on."""
    course = truth.holders.get((_name(truth, row), row.partition), ())
    return any(who != row.member_id and each.covers(closed) for who, each in course)


def _first_commit(truth: GroupTruth, key: CommitKey, owner: str, granted: Operation) -> int | None:
    """Of a new owner, before the partition changes hands again: it is held while it is pending."""
    held = truth.held.get((owner, key.topic, key.number), ())
    closed = next((each.closed for each in held if each.covers(granted)), None)
    lost = closed.first_offset if closed is not None else None
    return truth.truth.commit_after(key, granted.last_offset, lost)


# ------------------------------------------------------------ hand-overs


def judge_hand_over(judge: Judge, truth: GroupTruth, row: HandOver) -> None:
    """A partition asked back from a member."""
    stretch = _found(truth, truth.pending, row)
    what = f"{row.topic or row.topic_id}-{row.partition}"
    if (
        not judge.holds("hand-over: is pending", row, stretch is not None, what, "not asked")
        or not stretch
    ):
        return
    if row.start_observed:
        judge.equal("hand-over: start_observed", row, row.requested_at, stretch.opened.at)
    closed = stretch.closed
    if row.outcome == "OPEN":
        judge.equal("hand-over: OPEN", row, None, closed.at if closed is not None else None)
    elif row.outcome == "UNOBSERVED":
        durations = (row.revoke_ms, row.grant_ms, row.unowned_ms, row.resume_ms)
        judge.equal("hand-over: UNOBSERVED has no durations", row, durations, (None,) * 4)
    else:
        _judge_end(judge, truth, row, stretch)
    if row.notify_ms is not None:
        judge.equal(
            "hand-over: target_at", row, row.target_at, _taken_at(truth, row, stretch.opened)
        )


def _judge_end(judge: Judge, truth: GroupTruth, row: HandOver, stretch: Stretch[Ids]) -> None:
    closed = stretch.closed
    allowed = _outcomes(truth, row, closed) if closed is not None else ()
    is_so = closed is not None and row.ended_at == closed.at and row.outcome in allowed
    so = (closed.at, allowed) if closed is not None else None
    if not judge.holds("hand-over: end", row, is_so, (row.ended_at, row.outcome), so):
        return
    assert closed is not None
    if row.revoke_ms is not None:
        judge.equal("hand-over: revoke_ms", row, row.revoke_ms, closed.at - stretch.opened.at)
    if row.timeout_ms is not None:
        was = stretch.opened.members[row.member_id]
        judge.equal("hand-over: timeout_ms", row, row.timeout_ms, was.rebalance_timeout_ms)
    if row.unowned_ms is not None or row.grant_ms is not None or row.resume_ms is not None:
        _judge_grant(judge, truth, row, stretch)


def _judge_grant(judge: Judge, truth: GroupTruth, row: HandOver, stretch: Stretch[Ids]) -> None:
    name, closed = _name(truth, row), stretch.closed
    assert closed is not None
    granted = _first_of(truth.owners, stretch, name, row.partition, row.granted_to)
    so = (granted[1].opened.at, granted[0]) if granted is not None else None
    if not judge.equal("hand-over: granted", row, (row.granted_at, row.granted_to), so):
        return
    assert granted is not None
    waited_ms = granted[1].opened.at - closed.at
    if row.unowned_ms is not None:
        judge.equal("hand-over: unowned_ms", row, row.unowned_ms, waited_ms)
    if row.grant_ms is not None:
        judge.equal("hand-over: grant_ms", row, row.grant_ms, waited_ms)
    if row.resume_ms is not None and name not in truth.truth.deleted:
        key = CommitKey(row.group_id, name, row.partition)
        first = _first_commit(truth, key, granted[0], granted[1].opened)
        so_ms = first - granted[1].opened.at if first is not None else None
        judge.equal("hand-over: resume_ms", row, row.resume_ms, so_ms)


def _outcomes(truth: GroupTruth, row: HandOver, closed: Operation) -> tuple[str, ...]:
    """What a request that ended by an operation may be told as (measures.md 5)."""
    now = closed.members.get(row.member_id)
    if now is None:
        if heir_of(truth, closed, row.member_id) is not None:
            return ("REPLACED",)
        is_fenced = closed.kind == "internal" and "key=rebalance-timeout-" in closed.reason
        return ("FENCED", "LEFT_OR_FENCED") if is_fenced else ("LEFT_OR_FENCED",)
    if now.epoch == AWAY_EPOCH:
        return ("LEFT",)
    # A K2 has names alone.
    is_back = any(
        (each.topic_id or row.topic_id, each.topic, each.number)
        == (row.topic_id, _name(truth, row), row.partition)
        for each in now.assigned
    )
    return ("CANCELLED",) if is_back else ("ACKED",)


def _taken_at(truth: GroupTruth, row: HandOver, requested: Operation) -> int | None:
    """When the target took the partition from the member, at or before the request."""
    key = (row.topic_id, row.partition)
    index = truth.index_at(requested.first_offset)
    for place in range(index, 0, -1):
        before, after = truth.operations[place - 1], truth.operations[place]
        was, now = before.members.get(row.member_id), after.members.get(row.member_id)
        if was is None or now is None:
            return None
        if truth.converts(after):
            # What a classic member has is its first target, and the joiner's is made at once.
            return (
                None if key in {(each.topic_id, each.number) for each in now.target} else after.at
            )
        targets = [{(each.topic_id, each.number) for each in one.target} for one in (was, now)]
        if key in targets[0] and key not in targets[1]:
            return after.at
    return None
