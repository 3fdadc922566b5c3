"""What a classic member said when it joined again before an upgrade, which no K2 has any more: the
K5 that the upgrade writes of it has it (GroupMetadataManager, ClassicGroup.updateMember). The truth
shows the words of who is there after an operation; of a member that the upgrade also lets go they
follow from the requests and from what was done to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.answers import Answer
from tests.simulator.compare import OneOf
from tests.simulator.expected.history import History
from tests.simulator.truth import Operation

ILLEGAL_GENERATION: Final = 22
REBALANCE_IN_PROGRESS: Final = 27


@dataclass(frozen=True, slots=True)
class SaidAgain:
    """lists_owned: as in `members`. topics: None where it never subscribed to others."""

    lists_owned: Any
    topics: frozenset[str] | None = None


def said_again(
    history: History, member_id: str, last: Operation, upgrade: Operation
) -> SaidAgain | None:
    """None where it did not join again. last: the operation that wrote the last K2."""
    answers = _of_member(history, member_id, upgrade.group_id)
    since = last.true_at
    joins = [
        each
        for each in answers
        if _is_let_in(each)
        and since < each.came_true_at <= upgrade.true_at
        and _is_kept(history, upgrade, each)
    ]
    if not joins:
        return None
    came = joins[-1].came_true_at
    earlier = [each for each in answers if each.true_at < came]
    return SaidAgain(_lists_owned(member_id, last, earlier), _topics(history, member_id, came))


def _of_member(history: History, member_id: str, group_id: str) -> list[Answer]:
    answers = history.truth.answers.in_order.get(group_id, ())
    return [each for each in answers if member_id in each.members]


def _is_let_in(answer: Answer) -> bool:
    """An upgrade answers joins that wait with REBALANCE_IN_PROGRESS."""
    return answer.api == "JOIN_GROUP" and answer.code in (0, REBALANCE_IN_PROGRESS)


def _is_kept(history: History, upgrade: Operation, join: Answer) -> bool:
    """A next leader knows the words of the K2 alone."""
    partition, truth = upgrade.offsets_partition, history.truth
    terms = [truth.leader_epoch(partition, at) for at in (join.came_true_at, upgrade.true_at)]
    return terms[0] == terms[1]


def _lists_owned(member_id: str, last: Operation, earlier: Sequence[Answer]) -> Any:
    """Members of a cooperative group list what they have, which over a downgrade need not be what
    the K2 gives them; others have given it up. All name the generation, but who was told that it is
    in none begins anew."""
    joined = [place for place, each in enumerate(earlier) if each.joined >= 0 and not each.code]
    since = earlier[joined[-1] if joined else 0 :]
    if any(each.code == ILLEGAL_GENERATION for each in since):
        return None
    if last.protocol_name != "cooperative-sticky":
        return False
    is_told = any(
        each.kind == "sync" and not each.code and each.generation == last.epoch for each in earlier
    )
    if last.has("K3 gone") or not is_told:
        return OneOf((True, False))
    return bool(last.members[member_id].assigned)


def _topics(history: History, member_id: str, until: int) -> frozenset[str] | None:
    """What it had last subscribed to by a true time, as the timeline has it: `.. [a, b]`. K2s may
    have been written since: they have the words of the join before."""
    told = [
        each.detail
        for each in history.truth.injected
        if each.what == "subscribe" and each.member_id == member_id and each.at <= until
    ]
    if not told:
        return None
    return frozenset(told[-1].partition("[")[2].rstrip("]").split(", "))
