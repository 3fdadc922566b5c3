"""When members were told to join again, by what requests were answered, and what that makes of
estimates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from groupreplay.replay.kept.transition import Transition
from tests.simulator.expected.history import History
from tests.simulator.expected.rejoins import Rejoin, rejoins_in
from tests.simulator.truth import Operation

HOUR_MS: Final = 3_600_000
SLACK_OF_LINES_MS: Final = 5_000
"""A line may be so far from the record that it belongs to."""


class Told:
    """When members were told to join again, as request logs show it; without a history no log does.
    never_joined: group and member -> when it was, and did not. joined: group and generation -> of
    each member that came to it, and since when it had no assignment then, None where it had one."""

    def __init__(self, history: History | None = None) -> None:
        self.never_joined: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.joined: dict[tuple[str, int], list[tuple[Rejoin, int | None]]] = defaultdict(list)
        for group_id, rejoins in {} if history is None else rejoins_in(history).items():
            unassigned: dict[str, int | None] = {}
            before: dict[str, Rejoin] = {}
            for rejoin in rejoins:
                who = rejoin.member_id
                since = _unassigned_since(before.get(who), unassigned.get(who), rejoin)
                unassigned[who], before[who] = since, rejoin
                if rejoin.told is None:
                    continue
                if rejoin.join is None:
                    self.never_joined[group_id, who].append(rejoin.told.at)
                else:
                    self.joined[group_id, rejoin.join.joined].append((rejoin, since))


def _unassigned_since(before: Rejoin | None, since: int | None, rejoin: Rejoin) -> int | None:
    """Since when a member had no assignment that was told before it had one of its generation;
    since: of the rejoin before."""
    if before is None or before.join is None or before.synced is not None or rejoin.told is None:
        return None
    if before.join.joined != rejoin.told.generation:
        return None
    return before.join.received_at if before.told is None else since or before.told.at


class Waited(NamedTuple):
    """How long before a K2 a member was told to join, and since when it had no assignment then;
    None where it had one."""

    ms: int
    unassigned_ms: int | None


def waited_of(operation: Operation, logs: Told) -> dict[str, Waited]:
    at, found = operation.at, {}
    for rejoin, since in logs.joined.get((operation.group_id, operation.epoch), ()):
        told, ended = rejoin.told, rejoin.synced or rejoin.join
        if told is None or ended is None:
            continue
        is_near = at - HOUR_MS <= told.at <= at + SLACK_OF_LINES_MS
        if is_near and ended.at >= at - SLACK_OF_LINES_MS:
            unassigned_ms = None if since is None else at - since
            found[rejoin.member_id] = Waited(max(0, at - told.at), unassigned_ms)
    return found


def stopped_ms(stopped: Sequence[Transition], waited: Mapping[str, Waited]) -> list[int]:
    """Of each partition, as `with_stopped` of `report/joins/lines/rejoin_times.py`."""
    return [_stop_ms(each, waited[each.from_member_id]) for each in stopped]


def _stop_ms(stopped: Transition, waited: Waited) -> int:
    if stopped.held_since is None:
        return waited.ms
    read_ms = stopped.released_at - stopped.held_since
    return min(waited.ms if waited.unassigned_ms is None else waited.unassigned_ms, read_ms)
