"""Stuck episodes of a log with holes: nobody is charged for what was not seen.

Source of the rules: measures.md, "Stuck": episodes whose start was not seen give no row. So every
stretch that a machine tells with start_observed must lie inside of one that was so in truth, and
every turn of a chain must be a removal and a return of the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from groupreplay.replay.facts import Chain, Stall
from tests.simulator.expected.member_states import holders, waits_on
from tests.simulator.holes.judge import Judge
from tests.simulator.holes.stretches import GroupTruth, Ids, Place, Stretch, may_be
from tests.simulator.truth import CONSUMER, UNREVOKED, Operation
from tests.simulator.truth_log import Commit, CommitKey

_Holds = Callable[[Operation, str], bool]


def _is_revoking(operation: Operation, member_id: str) -> bool:
    member = operation.members.get(member_id)
    return member is not None and bool(member.pending)


def _is_waiting(operation: Operation, member_id: str) -> bool:
    member = operation.members.get(member_id)
    return member is not None and bool(waits_on(member_id, member, holders(operation)))


def _is_away(operation: Operation, member_id: str) -> bool:
    member = operation.members.get(member_id)
    return member is not None and member.is_away and bool(member.assigned)


def _is_behind(operation: Operation, member_id: str) -> bool:
    """The target is past its epoch, it is neither asked to revoke nor away."""
    member = operation.members.get(member_id)
    if member is None or member.is_away or member.state == UNREVOKED:
        return False
    return operation.target_epoch is not None and operation.target_epoch > member.epoch


def _is_unassigned(operation: Operation, _: str) -> bool:
    target = operation.target_epoch
    return bool(operation.members) and target is not None and operation.epoch > target


def _is_mixed(operation: Operation, _: str) -> bool:
    kinds = {member.is_classic for member in operation.members.values()}
    return operation.protocol == CONSUMER and True in kinds


STATES: Final[dict[str, _Holds]] = {
    "SLOW_REVOCATION": _is_revoking,
    "WAITING_ON_HOLDER": _is_waiting,
    "STATIC_LIMBO": _is_away,
    "NOT_RECONCILING": _is_behind,
    "ASSIGNING_STALLED": _is_unassigned,
    "MIGRATION_STALLED": _is_mixed,
}
"""Reason -> whether it is so of a member, or of the group, after an operation."""


def judge_stall(judge: Judge, truth: GroupTruth, row: Stall) -> None:
    """A stretch. Of those whose start was not seen there is no row, so nothing is said."""
    if not row.start_observed:
        return
    if row.reason == "ASSIGNED_NOT_CONSUMING":
        _judge_quiet(judge, truth, row)
        return
    is_so, member_id = STATES[row.reason], row.member_id or ""
    # By offsets: clocks of leaders may go back.
    until = row.to_offset if row.to_offset is not None else truth.operations[-1].last_offset + 1
    during = [each for each in truth.operations if row.from_offset <= each.last_offset < until]
    ended = next((each for each in truth.operations if each.last_offset >= until), None)
    while ended is not None and during and during[-1].at == ended.at:
        during.pop()  # Operations of one ms may read as one, which ends where the last of them does.
    begun = next((place for place, each in enumerate(during) if is_so(each, member_id)), None)
    rest = during[begun:] if begun is not None else []
    not_so = next((each.first_offset for each in rest if not is_so(each, member_id)), None)
    held = any(each.at <= row.since_at for each in rest) and not_so is None
    said = (row.since_at, row.until_at)
    judge.holds(f"stuck: {row.reason}", row, held, said, f"not after the one at {not_so}")


def _judge_quiet(judge: Judge, truth: GroupTruth, row: Stall) -> None:
    """No commit of what it owns between the two, and something owned throughout."""
    until = row.until_at if row.until_at is not None else truth.truth.as_of_ms
    committed = []
    for key, own in truth.held.items():
        if key[0] != row.member_id:
            continue
        for stretch in own:
            commits = truth.truth.commits.get(CommitKey(row.group_id, key[1], key[2]), ())
            committed += [
                commit.at
                for commit in commits
                if row.since_at < commit.at < until
                and commit.offset > row.from_offset  # clocks of leaders may go back
                and _is_within(stretch, commit)
                and not _is_of_a_later_topic(truth, key, stretch, commit)
            ]
    said = (row.since_at, row.until_at)
    judge.holds("stuck: ASSIGNED_NOT_CONSUMING", row, not committed, said, committed[:3])


def _is_within(stretch: Stretch[Ids], commit: Commit) -> bool:
    closed = stretch.closed
    is_over = closed is not None and closed.first_offset <= commit.offset
    return stretch.opened.first_offset < commit.offset and not is_over


def _is_of_a_later_topic(
    truth: GroupTruth, key: Place, stretch: Stretch[Ids], commit: Commit
) -> bool:
    """Whether the topic had been created again when a name was committed, and another member had
    the new one: it counts for that one (measures.md, Commits)."""
    return any(
        member_id != key[0]
        and (topic, number) == key[1:]
        and each.opened.first_offset > stretch.opened.first_offset
        and not may_be(each.value, stretch.value)
        and _is_within(each, commit)
        for (member_id, topic, number), others in truth.held.items()
        for each in others
    )


def judge_chain(judge: Judge, truth: GroupTruth, row: Chain) -> None:
    """Repetitions: each of them was."""
    times = {each.at: each for each in truth.operations}
    if row.reason == "EPOCH_STORM":
        unknown = [at_ms for at_ms in row.times_at if at_ms not in times]
        judge.equal("stuck: EPOCH_STORM", row, unknown, [])
        return
    left, came = set[int](), set[int]()
    for operation in truth.operations:
        before = truth.before(operation)
        was = before.members.keys() if before is not None else set[str]()
        if was - operation.members.keys():
            left.add(operation.at)
        if operation.members.keys() - was:
            came.add(operation.at)
    unknown = [at_ms for at_ms in row.times_at if at_ms not in left]
    unknown += [at_ms for at_ms in row.ends_at if at_ms not in came]
    judge.equal("stuck: FENCE_LOOP", row, unknown, [])
