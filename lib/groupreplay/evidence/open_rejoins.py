"""Rejoins that lines may still add to: one of each member, and one a broker where clocks differ.

A member talks to one coordinator at a time. But clocks of brokers differ. If the next leader's
clock is behind, lines of the former leader seem to come later than its own. Such a member has two
rejoins at once, one a broker: each broker's lines go on with its own.
"""

from __future__ import annotations

from typing import Any, Final

from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.evidence.memory import Evidence, Line, Proofs, place

ANSWERED_MS: Final = 60_000
"""A join that came before its member was removed is answered within this time, and no clock of a
broker is as far ahead.
"""


def is_waiting(rejoin: Rejoin) -> bool:
    """It was told to join, and no join has brought it to a later generation yet. A classic group
    that lost a generation has it once more.
    """
    if rejoin.told_at is None or rejoin.is_quiet:
        return False
    is_try = rejoin.new_generation == rejoin.generation and not rejoin.is_classic
    return rejoin.new_generation is None or is_try


def is_answered(rejoin: Rejoin) -> bool:
    """A join of it was answered, and brought it to a later generation."""
    return rejoin.new_generation is not None and not is_waiting(rejoin)


def newest_of(rejoin: Rejoin) -> int:
    """The newest generation that the member is known to have been in."""
    known = (rejoin.new_generation, rejoin.generation)
    return next((each for each in known if each is not None), -1)


def is_asked(rejoin: Rejoin) -> bool:
    """It was told to join, and no join of it was answered."""
    return rejoin.told_at is not None and rejoin.joined_at is None


def is_passed(rejoin: Rejoin) -> bool:
    """It has joined, as another broker showed, and no line of that has come."""
    return rejoin.is_passed and is_asked(rejoin)


def may_answer(joined: Rejoin, told: Rejoin) -> bool:
    """Whether a join at one broker may be the answer to what another one told the member. It is not
    if the member was in a later generation before: it had joined by then. Nor if the join brought
    it to the generation in which it was told, and no earlier line shows it there, nor if it is the
    first under its id.
    """
    if joined.told_at is not None or not is_asked(told) or told.is_passed or joined.is_first:
        return False
    is_before = joined.is_classic and joined.new_generation == told.generation
    return not (is_before and told.is_new)


def broker_of(rejoin: Rejoin) -> int:
    """The broker that spoke to the member last."""
    return rejoin.broker if rejoin.answered_by is None else rejoin.answered_by


def last_at_of(rejoin: Rejoin) -> int:
    return max(rejoin.told_at or 0, rejoin.answered_at or 0)


def known_rejoin(evidence: Evidence, member_id: str, broker: int) -> Rejoin | None:
    """The rejoin that this broker's lines of the member go on with."""
    beside = evidence.rejoins_beside.get((member_id, broker))
    return beside if beside is not None else evidence.rejoins.get(member_id)


def begin(evidence: Evidence, line: Line, member_id: str, output: Proofs) -> Rejoin:
    """A new rejoin, which replaces the one that this broker's lines went on with."""
    end(evidence, member_id, line.broker, output)
    new = _new(evidence, line, member_id)
    if member_id in evidence.rejoins:
        evidence.rejoins_beside[member_id, line.broker] = new
    else:
        evidence.rejoins[member_id] = new
    return new


def begin_beside(evidence: Evidence, line: Line, member_id: str, other: Rejoin) -> Rejoin:
    """A new rejoin, beside the one at another broker. That one may never get its assignment: its
    broker may have lost the partition before, and the generation with it.
    """
    if not is_waiting(other):
        other.gone_at = line.event.at_ms
    other.beside_at = other.beside_at or line.event.at_ms
    new = evidence.rejoins_beside[member_id, line.broker] = _new(evidence, line, member_id)
    return new


def may_go_on(joined: Rejoin, told: Rejoin) -> bool:
    """Whether a join at one broker may be the next try of a member that has to give partitions up,
    and has done so at another one. A cooperative member joins again without being told to.
    """
    is_try = is_waiting(told) and told.synced_at is not None and not told.is_told_again
    is_same = joined.told_at is None and joined.new_generation == told.new_generation
    return is_try and is_same and told.gone_at is None and not joined.is_first


def go_on(evidence: Evidence, member_id: str, broker: int) -> None:
    """The member went on at a broker that may have had its next try, and at no other: it had."""
    beside = evidence.rejoins_beside.get((member_id, broker))
    told = evidence.rejoins.get(member_id)
    if beside is not None and told is not None and may_go_on(beside, told):
        _take(told, evidence.rejoins_beside.pop((member_id, broker)))


def may_be_the_answer(evidence: Evidence, rejoin: Rejoin) -> bool:
    """Whether a join may be the answer to what another broker told the member, or its next try. The
    member may still go on there, so this one waits.
    """
    told = evidence.rejoins.get(rejoin.member_id)
    if told is None or told is rejoin:
        return False
    return may_answer(rejoin, told) or may_go_on(rejoin, told)


def joined_beside(evidence: Evidence, member_id: str) -> list[tuple[str, int]]:
    """Where other brokers let a member in that they had not told to join: (member id, broker)."""
    return [
        each
        for each in sorted(evidence.rejoins_beside)
        if each[0] == member_id and evidence.rejoins_beside[each].told_at is None
    ]


def drop(evidence: Evidence, member_id: str, broker: int, output: Proofs) -> None:
    """A member went on that was told to join. If another broker let it in meanwhile, that join is
    the answer. Else no line shows its join, and no row is made of it.
    """
    if evidence.rejoins_beside.pop((member_id, broker), None) is not None:
        return
    if joined := joined_beside(evidence, member_id):
        end(evidence, member_id, joined[-1][1], output)
    else:
        evidence.rejoins.pop(member_id, None)
        _move_up(evidence, member_id, output)


def forget_former(evidence: Evidence, member_id: str, at_ms: int, output: Proofs) -> None:
    """A member that one broker told to join has been at another one for so long that no clock is
    as far ahead: no line of a join at the first one follows. A join at the other one that may be
    the answer is.
    """
    told = evidence.rejoins.get(member_id)
    if told is None or told.beside_at is None or not is_asked(told):
        return
    if at_ms - told.beside_at > ANSWERED_MS and not answer(evidence, member_id, output):
        end(evidence, member_id, broker_of(told), output)


def answer(evidence: Evidence, member_id: str, output: Proofs) -> bool:
    """Ends what one broker told a member by the join at another one that may be the answer. Returns
    whether there is one.
    """
    told = evidence.rejoins.get(member_id)
    for _, broker in reversed(joined_beside(evidence, member_id)):
        if told is not None and may_answer(evidence.rejoins_beside[member_id, broker], told):
            end(evidence, member_id, broker, output)
            return True
    return False


def end(evidence: Evidence, member_id: str, broker: int, output: Proofs) -> None:
    go_on(evidence, member_id, broker)
    beside = evidence.rejoins_beside.pop((member_id, broker), None)
    ended = evidence.rejoins.pop(member_id, None) if beside is None else None
    if beside is not None:
        output.emit(_one_of_both(evidence, beside))
    elif ended is not None and not is_passed(ended):
        output.emit(ended)
    if member_id not in evidence.rejoins:
        _move_up(evidence, member_id, output)


def _one_of_both(evidence: Evidence, beside: Rejoin) -> Rejoin:
    """A member joined at one broker, and another broker told it to join. If it never joined at that
    one, its join is the answer, and both make one row.
    """
    told = evidence.rejoins.get(beside.member_id)
    if told is None or not may_answer(beside, told):
        return beside
    _take(evidence.rejoins.pop(beside.member_id), beside)
    return told


def _take(told: Rejoin, joined: Rejoin) -> None:
    """Its join is that one."""
    told.joined_at, told.is_new = joined.joined_at, joined.is_new
    told.answered_at, told.new_generation = joined.answered_at, joined.new_generation
    told.answered_by, told.synced_at = joined.answered_by, joined.synced_at
    told.is_classic = joined.is_classic


def _move_up(evidence: Evidence, member_id: str, output: Proofs) -> None:
    """The rejoin at one broker is over: that at another one takes its place."""
    for key in sorted(each for each in evidence.rejoins_beside if each[0] == member_id):
        beside = evidence.rejoins_beside.pop(key)
        if beside.synced_at is not None and not is_waiting(beside):
            output.emit(beside)
        elif member_id in evidence.rejoins:
            evidence.rejoins_beside[key] = beside
        else:
            evidence.rejoins[member_id] = beside


def _new(evidence: Evidence, line: Line, member_id: str) -> Rejoin:
    event = line.event
    fields: dict[str, Any] = place(evidence, line)
    return Rejoin(
        **fields,
        member_id=member_id,
        instance_id=event.instance_id,
        client_id=event.client_id,
        client_host=event.client_host,
    )
