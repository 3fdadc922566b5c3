"""Members of the classic protocol that join a generation. Of each join: when the member was told to
join, when its JoinGroup came, when that was answered, and when the member had its assignment.

The request log alone shows this; a removal may be in the server log. A classic group answers all
joins at once, when its slowest member has come. A consumer group answers a classic member at once.
If the member must give partitions up first, the answer has its old epoch, and the member joins
again. Then the join counts that brings a later epoch. If none does, the last join before a quiet
heartbeat counts.

`open_rejoins` has those of members at two brokers whose clocks differ, `join_answers` which join
answers what.

Source: GroupMetadataManager (4.x), classicGroupHeartbeat, classicGroupHeartbeatToConsumerGroup,
classicGroupJoinToConsumerGroup.
"""

from __future__ import annotations

from typing import Final

from groupreplay.evidence.evidence_facts import Departure, Rejoin
from groupreplay.evidence.join_answers import (
    contradicts,
    is_first_by_id,
    is_of_a_classic_group,
    is_of_a_later_rebalance,
    is_of_another,
    is_of_another_leader,
    is_of_the_generation_before,
    was_never_removed,
)
from groupreplay.evidence.join_timers import is_out_of_time, start_timer, stay
from groupreplay.evidence.memory import FORGET_MS, Evidence, Line, Proofs, came_at
from groupreplay.evidence.open_rejoins import (
    ANSWERED_MS,
    answer,
    begin,
    begin_beside,
    broker_of,
    drop,
    end,
    forget_former,
    go_on,
    is_answered,
    is_waiting,
    joined_beside,
    known_rejoin,
    last_at_of,
    may_answer,
    may_be_the_answer,
    may_go_on,
    newest_of,
)
from groupreplay.records.log_events import COMMITS, SERVER_LOG

HEARTBEAT: Final = "HEARTBEAT"
JOIN_GROUP: Final = "JOIN_GROUP"
SYNC_GROUP: Final = "SYNC_GROUP"

SYNCS_LAST_MS: Final = 600_000
"""A sync phase is shorter: members' rebalance timeouts bound it (classicGroupSyncKey)."""

_GRANTED: Final = 0
_UNKNOWN_MEMBER_ID: Final = 25
_REBALANCE_IN_PROGRESS: Final = 27


def replay_rejoin(evidence: Evidence, line: Line, output: Proofs) -> None:
    """Takes an answered request, or a run of heartbeats."""
    event = line.event
    member_id = event.member_id or event.other_member_id
    if member_id is None:
        return
    forget_former(evidence, member_id, event.at_ms, output)
    if event.error_code != _GRANTED or event.event != SYNC_GROUP:
        go_on(evidence, member_id, line.broker)
    if event.error_code == _GRANTED and event.event != JOIN_GROUP:
        stay(line, known_rejoin(evidence, member_id, line.broker))
    if event.event in COMMITS and event.error_code == _GRANTED and event.epoch is not None:
        _pass_by(evidence, line, member_id, event.epoch, output)
    if event.protocol != "classic":
        return
    if event.event == JOIN_GROUP:
        if event.error_code == _GRANTED and event.response_epoch is not None:
            _join(evidence, line, member_id, event.response_epoch, output)
        else:
            _refuse(evidence, line, member_id)
    elif event.event in (HEARTBEAT, SYNC_GROUP) and event.epoch is not None:
        if event.error_code == _REBALANCE_IN_PROGRESS:
            _tell(evidence, line, member_id, event.epoch, output)
        elif event.error_code == _GRANTED:
            _go_on(evidence, line, member_id, event.epoch, output)
        elif event.error_code == _UNKNOWN_MEMBER_ID:
            _miss(evidence, line, member_id)


def _tell(evidence: Evidence, line: Line, member_id: str, generation: int, output: Proofs) -> None:
    """A member was told to join. If it is told the same again, it is a member still: the broker
    that removed it was no longer the leader. It is told so in the generation that it has. Where
    that is older than the one of its last join, the answer was on its way, or the generation of
    that join is lost.
    """
    known = known_rejoin(evidence, member_id, line.broker)
    if known is None or known.is_quiet:
        told = begin(evidence, line, member_id, output)
    elif is_of_another_leader(known, line.broker, generation):
        told = begin_beside(evidence, line, member_id, known)
    elif _is_ahead(known, line.broker, generation):
        told = _pass_over(evidence, line, member_id, known, output)
    elif known.generation == generation and not _is_let_in_again(known, generation):
        if known.gone_at is not None and known.gone_at < line.event.at_ms:
            known.gone_at = None
        known.is_told_again = True
        start_timer(evidence, line, known)
        return
    elif generation < newest_of(known) and not _came_after(known, line):
        return
    else:
        answer(evidence, member_id, output)
        told = begin(evidence, line, member_id, output)
    told.generation, told.told_at = generation, line.event.at_ms
    told.is_new = _is_first(evidence, member_id, line)
    start_timer(evidence, line, told)
    if known is not None and _is_unassigned(known, line, generation):
        told.is_unassigned, told.unassigned_since = True, _stopped_at(known)


def _is_let_in_again(known: Rejoin, generation: int) -> bool:
    """Whether a classic group let a member into the generation in which it was told to join, as it
    does before the leader syncs: it is told so there for the next one.

    Source: GroupMetadataManager.classicGroupJoinExistingMember.
    """
    return is_answered(known) and known.new_generation == generation


def _is_unassigned(known: Rejoin, line: Line, generation: int) -> bool:
    """Whether a member is told to join before it had its assignment. Where heartbeats were granted
    meanwhile, the answer to its SyncGroup has to say so: the line of an earlier answer to that may
    be missing.
    """
    is_open = known.new_generation == generation and known.synced_at is None
    return is_open and (not known.is_quiet or line.event.event == SYNC_GROUP)


def _join(evidence: Evidence, line: Line, member_id: str, generation: int, output: Proofs) -> None:
    """A member was let in."""
    event, rejoin = line.event, known_rejoin(evidence, member_id, line.broker)
    came, is_classic = came_at(event), is_of_a_classic_group(evidence, line, generation)
    if rejoin is not None and was_never_removed(rejoin, generation, is_classic):
        rejoin.gone_at = None
    if rejoin is not None and _is_open(rejoin) and is_out_of_time(evidence, line, rejoin, came):
        rejoin.gone_at = rejoin.due_at
    is_first = is_first_by_id(evidence, line, member_id)
    if rejoin is not None and (
        contradicts(rejoin, line.broker, generation, came)
        or (is_first and broker_of(rejoin) != line.broker)
        or (is_classic and is_of_the_generation_before(rejoin, line.broker, generation))
    ):
        rejoin = begin_beside(evidence, line, member_id, rejoin)
    elif rejoin is not None and is_of_a_later_rebalance(evidence, line, rejoin, generation):
        rejoin = _pass_over(evidence, line, member_id, rejoin, output)
    elif rejoin is None or is_of_another(rejoin, came):
        rejoin = begin(evidence, line, member_id, output)
    rejoin.joined_at = came
    rejoin.is_new = _is_first(evidence, member_id, line)
    rejoin.answered_at, rejoin.new_generation = event.at_ms, generation
    rejoin.answered_by, rejoin.is_classic = line.broker, is_classic
    rejoin.synced_at, rejoin.due_at, rejoin.beside_at = None, None, None
    rejoin.is_quiet = rejoin.is_told_again = rejoin.is_passed = False
    rejoin.is_first = is_first


def _pass_over(
    evidence: Evidence, line: Line, member_id: str, told: Rejoin, output: Proofs
) -> Rejoin:
    """The rejoin of a member that has joined meanwhile, which no line shows yet. If another broker
    told it to, that one's line may follow, by a clock that is ahead.
    """
    if broker_of(told) != line.broker:
        told.is_passed = True
        return begin_beside(evidence, line, member_id, told)
    drop(evidence, member_id, line.broker, output)
    return begin(evidence, line, member_id, output)


def _refuse(evidence: Evidence, line: Line, member_id: str) -> None:
    """A join was answered with an error."""
    told = known_rejoin(evidence, member_id, line.broker)
    if told is not None and (told.told_at or 0) <= came_at(line.event):
        told.refused_by = line.broker


def _is_first(evidence: Evidence, member_id: str, line: Line) -> bool:
    """Whether no earlier request of the member was granted."""
    contact = evidence.contacts.get(member_id)
    return contact is not None and contact.first_at == came_at(line.event)


def _came_after(rejoin: Rejoin, line: Line) -> bool:
    """Whether a request came when the member had been let in: it was not on its way then."""
    return rejoin.answered_at is not None and rejoin.answered_at < came_at(line.event)


def _is_ahead(rejoin: Rejoin, broker: int, generation: int) -> bool:
    """Whether a member that one broker told to join is in a later generation at another one. It has
    joined, by a line that is missing, or that is still to come by a clock that is ahead.
    """
    is_open = is_waiting(rejoin) and rejoin.gone_at is None
    return is_open and broker_of(rejoin) != broker and generation > newest_of(rejoin)


def _go_on(evidence: Evidence, line: Line, member_id: str, generation: int, output: Proofs) -> None:
    """A sync or a heartbeat was granted: the member has its assignment, or nothing to do."""
    event, rejoin = line.event, known_rejoin(evidence, member_id, line.broker)
    if rejoin is None:
        return
    if rejoin.new_generation is None:
        _pass_by(evidence, line, member_id, generation, output)
    elif generation >= rejoin.new_generation:
        if rejoin.gone_at is not None and is_answered(rejoin) and broker_of(rejoin) != line.broker:
            return
        if event.event == SYNC_GROUP and generation == rejoin.new_generation:
            rejoin.synced_at, rejoin.is_told_again = event.at_ms, False
            _tell_assigned(evidence, rejoin)
        elif _is_early(rejoin, line, generation):
            rejoin.is_quiet = True
            return
        is_over = event.event == HEARTBEAT or not is_waiting(rejoin)
        if is_over and not may_be_the_answer(evidence, rejoin):
            end(evidence, member_id, line.broker, output)


def _is_early(rejoin: Rejoin, line: Line, generation: int) -> bool:
    """Whether a heartbeat is granted while its member may wait for its assignment: clients send
    them from the answer to their join on, and the coordinator grants them in the sync phase.

    Source: AbstractCoordinator, JoinGroupResponseHandler; GroupMetadataManager,
    classicGroupHeartbeat.
    """
    if rejoin.synced_at is not None or rejoin.answered_at is None:
        return False
    is_of_now = generation == rejoin.new_generation
    return is_of_now and line.event.at_ms - rejoin.answered_at <= SYNCS_LAST_MS


def _pass_by(
    evidence: Evidence, line: Line, member_id: str, generation: int, output: Proofs
) -> None:
    """A request shows in which generation a member is. If it is later than the one in which it was
    told to join, it has joined, and no line shows it: the log of another broker is missing. If
    another broker told it to, that one's line may follow, by a clock that is ahead. Commits count
    too: the coordinator refuses those of a generation that the member has not reached.

    Source: ClassicGroup.validateOffsetCommit, ConsumerGroup.validateMemberEpoch.
    """
    rejoin = known_rejoin(evidence, member_id, line.broker)
    if rejoin is None or rejoin.new_generation is not None or generation <= newest_of(rejoin):
        return
    if broker_of(rejoin) == line.broker or joined_beside(evidence, member_id):
        drop(evidence, member_id, line.broker, output)
    else:
        rejoin.is_passed, rejoin.beside_at = True, rejoin.beside_at or line.event.at_ms


def _tell_assigned(evidence: Evidence, rejoin: Rejoin) -> None:
    """The member had its assignment, by a clock ahead. What another broker told it came later: it
    was not without an assignment then.
    """
    for (member_id, _), beside in evidence.rejoins_beside.items():
        if member_id == rejoin.member_id and beside.generation == rejoin.new_generation:
            beside.is_unassigned, beside.unassigned_since = False, None


def _miss(evidence: Evidence, line: Line, member_id: str) -> None:
    """A member hears that it was removed. The log of the removal may be missing. A join that comes
    in the same ms is of the next life: a broker takes the requests of a connection one by one.
    """
    rejoin = known_rejoin(evidence, member_id, line.broker)
    if rejoin is not None and _is_open(rejoin):
        rejoin.gone_at = came_at(line.event) - 1


def _stopped_at(rejoin: Rejoin) -> int | None:
    """Since when a member read nothing that got no assignment after a rejoin; it may have stopped
    earlier.
    """
    times = (rejoin.unassigned_since, rejoin.told_at, rejoin.joined_at)
    return next((at for at in times if at is not None), None)


def _is_open(rejoin: Rejoin) -> bool:
    """It is waiting, and was not removed."""
    return is_waiting(rejoin) and rejoin.gone_at is None


def end_rejoin(evidence: Evidence, departure: Departure, output: Proofs) -> None:
    """The member is gone, and will not join any more. The coordinator's own log may say so before
    the answer to an earlier join is logged: a consumer group writes records before it answers. What
    it had asked for its assignment may be answered later too.
    """
    member_id = departure.member_id
    go_on(evidence, member_id, departure.broker)
    rejoin = known_rejoin(evidence, member_id, departure.broker)
    if rejoin is not None and _may_be_answered(rejoin, departure):
        rejoin.gone_at = departure.ended_at
    else:
        end(evidence, member_id, departure.broker, output)


def _may_be_answered(rejoin: Rejoin, departure: Departure) -> bool:
    """Whether the answer to a join or a sync may follow that came before its member went."""
    if is_answered(rejoin):
        return rejoin.synced_at is None and not rejoin.is_quiet
    return departure.source == SERVER_LOG and is_waiting(rejoin)


def forget_rejoins(evidence: Evidence, output: Proofs) -> None:
    """Ends the rejoins that no later line can belong to."""
    for member_id, broker in sorted(evidence.rejoins_beside):
        beside = evidence.rejoins_beside.get((member_id, broker))
        if beside is None:
            continue  # it moved up
        told = evidence.rejoins[member_id]
        # A join that may be the answer ends both, as one row.
        is_one = may_answer(beside, told) or may_go_on(beside, told)
        over = beside if is_one else min(beside, told, key=last_at_of)
        if evidence.last_at - last_at_of(over) > ANSWERED_MS:
            end(evidence, member_id, broker_of(over), output)
    for member_id in list(evidence.rejoins):
        forget_former(evidence, member_id, evidence.last_at, output)
    for member_id, rejoin in list(evidence.rejoins.items()):
        is_gone = rejoin.gone_at is not None and evidence.last_at - rejoin.gone_at > ANSWERED_MS
        if is_gone or evidence.last_at - last_at_of(rejoin) > FORGET_MS:
            end(evidence, member_id, broker_of(rejoin), output)
