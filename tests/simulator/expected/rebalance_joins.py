"""`rebalances`, as joins with the request log complete it: how long the phases took, who joined first
and last, and who came back under another id (evidence.md, rebalances).

A coordinator answers those it lets into a generation together, when the join phase ends: who is
answered with that generation later came again, and nobody waited for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tests.simulator.answers import Answer
from tests.simulator.compare import Key, LineAt, Wanted
from tests.simulator.expected import rebalances
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalances import Rebalance, rebalances_of
from tests.simulator.expected.refusals import came_of
from tests.simulator.logged import Logged

FAILED: Final = "Member {} in group {} has failed, removing it from the group."
EXPIRED: Final = "the member session expired"


class Process(NamedTuple):
    """What logs know a process by: its instance id, else client id and host."""

    instance_id: str | None
    client_id: str | None
    client_host: str | None


class Join(NamedTuple):
    """Of a member that was let in. is_new: it had not asked for anything under its id before."""

    at: int
    member_id: str
    process: Process
    is_new: bool


@dataclass(slots=True)
class _Group:
    """joins: (broker, generation, when they were answered) -> them. processes: member -> the one
    that its requests are of. failed: members whose session ended, by their coordinators."""

    joins: dict[tuple[int, int, int], list[Join]] = field(default_factory=lambda: defaultdict(list))
    processes: dict[str, Process] = field(default_factory=dict)
    failed: list[tuple[str, Logged]] = field(default_factory=list)

    def take(self, answers: Sequence[Answer]) -> None:
        came = came_of(answers)
        for each in answers:
            if each.code:
                continue
            for member_id in each.members:
                self.processes[member_id] = _process(each)
                if each.api == "JOIN_GROUP" and each.answered_epoch is not None:
                    at = each.logged_received_at
                    join = Join(at, member_id, _process(each), came[member_id] == at)
                    self.joins[each.broker, each.answered_epoch, each.at].append(join)


def _process(answer: Answer) -> Process:
    if answer.instance_id:
        return Process(answer.instance_id, None, None)
    return Process(None, answer.client_id, answer.client_host)


def _groups(history: History) -> Mapping[str, _Group]:
    groups: dict[str, _Group] = defaultdict(_Group)
    for group_id, answers in history.truth.answers.of_groups.items():
        groups[group_id].take(answers)
    for call in history.truth.logged.all:
        if call.says == FAILED:
            groups[call.values[1]].failed.append((call.values[0], call))
        elif EXPIRED in call.values:
            groups[call.values[0]].failed.append((call.values[1], call))
    return groups


def _wanted(history: History) -> dict[Key, Wanted]:
    groups = _groups(history)
    return {
        each.key: Wanted(_values(each, groups[each.group_id]), ())
        for each in rebalances_of(history)
    }


def _values(rebalance: Rebalance, group: _Group) -> dict[str, Any]:
    begun, joined, synced = rebalance.begun, rebalance.joined, rebalance.synced
    joins: list[Join] = []
    if joined is not None:
        joins = group.joins[joined.broker, rebalance.generation + 1, joined.broker_at]
    last_at = max((each.at for each in joins), default=None)
    last = min((each.member_id for each in joins if each.at == last_at), default=None)
    return {
        "join_ms": joined.broker_at - begun.broker_at if joined else None,
        "sync_ms": synced.broker_at - joined.broker_at if synced and joined else None,
        "first_joined_at": min((each.at for each in joins), default=None),
        "last_joined_at": last_at,
        "last_joined_member_id": last,
        "members_back": _back(rebalance, joins, group),
        "evidence": LineAt("server_log", begun.position),
    }


def _back(rebalance: Rebalance, joins: Sequence[Join], group: _Group) -> list[str] | None:
    """None where the logs do not tell."""
    if not joins:
        return None
    gone = _gone(rebalance, group)
    back: list[str] = []
    for member_id, at in gone.items():
        process = group.processes.get(member_id)
        if process is None:
            return None
        came = [each for each in joins if each.process == process]
        if not any(each.is_new and each.at >= at for each in came):
            continue
        others = [each for each in gone if group.processes.get(each) == process]
        if len(came) > 1 or len(others) > 1:
            return None
        back.append(member_id)
    return sorted(back)


def _gone(rebalance: Rebalance, group: _Group) -> dict[str, int]:
    """Members whose session ended in the join phase, or began it: member -> when."""
    begun, joined = rebalance.begun, rebalance.joined
    assert joined is not None, "nobody is let in before"
    since, until = (begun.at, begun.position), (joined.at, joined.position)
    return {
        member_id: call.broker_at
        for member_id, call in group.failed
        if call.broker == begun.broker
        and (since <= (call.at, call.position) <= until or _has_begun(begun, member_id, call))
    }


def _has_begun(begun: Logged, member_id: str, failed: Logged) -> bool:
    """Whether the end of a session began the rebalance: it is named, or the group is a classic one
    again without that member."""
    is_named = begun.kind == "internal" and member_id in begun.values[3]
    is_downgrade = failed.says != FAILED and failed.reason == begun.reason
    return (is_named or is_downgrade) and failed.at == begun.at


CHECK: Final = Check("rebalance_joins", _wanted, rebalances.CHECK.key_of)
