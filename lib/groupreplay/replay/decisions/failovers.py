"""Changes of the coordinator: the partition of a group has another leader, which read the group
from the log and goes on.

A batch names the epoch of the leader that wrote it, so the first record of a group under another
epoch shows that its coordinator moved, or came back. Where its batch, or that of the record before,
names none, there is no row.

| phase of a consumer or streams group | when | step of the 0.9 document |
|---|---|---|
| EMPTY | it has no members | 0 |
| STEADY | every member is STABLE at the group epoch, whose target is there | 0 |
| ASSIGNING | the group epoch is past the target's | 1 |
| TARGET_UNTOLD | the target is there, nobody is at it, nobody was asked to revoke | 2 |
| REVOKING | somebody is to revoke and has not | 3 |
| PARTLY_THERE | some are at the epoch, some are not | 4 or 5 |

A static member that is away (epoch -2) keeps nobody from STEADY: nobody waits for it. The topic
does not show join phases of a classic group, so it is EMPTY or UNKNOWN here; lines of its broker
show more.
Source: Kafka 0.9 Consumer Rewrite Design, Co-ordinator failure during rebalance; docs/decisions.md.
"""

from __future__ import annotations

import copy
from typing import Any, Final

from groupreplay.records.consumer import (
    STABLE,
    STATIC_LEAVE_EPOCH,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
)
from groupreplay.records.entries import Entry
from groupreplay.replay.change import Change
from groupreplay.replay.decision_facts import Failover
from groupreplay.replay.life import CLASSIC, RECONCILING, SHARE, STREAMS, Life, Member
from groupreplay.replay.output import Output

EMPTY: Final = "EMPTY"
STEADY: Final = "STEADY"
ASSIGNING: Final = "ASSIGNING"
TARGET_UNTOLD: Final = "TARGET_UNTOLD"
REVOKING: Final = "REVOKING"
PARTLY_THERE: Final = "PARTLY_THERE"
UNKNOWN: Final = "UNKNOWN"

AFTER_MS: Final = 60_000
"""What comes so soon after may be the work of the move: timers were armed again, and clients had to
find the coordinator.
"""

MAX_LOST: Final = 256
"""So many lost members are named; all are counted."""

_UNSEEN: Final = {"phase": UNKNOWN}
"""State of a group of commits alone, or one whose last operation a hole may hide."""


class Failovers:
    """The changes of the leader that one life saw. Share groups have none: their members are only
    counted.
    """

    def __init__(self, life: Life, output: Output) -> None:
        self._life = life
        self._kept = life.failovers
        self._output = output

    def before_record(self, entry: Entry) -> None:
        """Before a commit, or an operation that begins with this record, is applied: who wrote it.
        Nothing happens where the leader is the same and no row is open.
        """
        kept, life = self._kept, self._life
        offset, at, leader_epoch, _, last_hole, _ = entry
        if kept.open is not None and at > kept.open.first_at + AFTER_MS:
            self.close()
        before, kept.written_by = kept.written_by, leader_epoch
        if before in (-1, leader_epoch) or leader_epoch < 0 or life.protocol == SHARE:
            return
        self.close()
        kept.open = Failover(
            **life.place,
            from_offset=offset,
            to_offset=offset,
            start_observed=last_hole <= life.last_offset,
            leader_epoch_before=before,
            leader_epoch=leader_epoch,
            last_offset=life.last_offset,
            last_at=life.last_at,
            first_at=at,
            protocol=life.protocol,
            **(_described(life) if last_hole <= life.last_change_offset else _UNSEEN),
        )

    def begun_by(self, leader_epoch: int) -> None:
        """An operation of this leader began the life, or was applied to it."""
        self._kept.written_by = leader_epoch

    def count(self, change: Change, epochs: int, moved: int) -> None:
        """At operation end: what it changed, if the leader changed a short while ago.

        epochs: how many epochs began in it.
        moved: partitions that came to another member than had them last.
        """
        row = self._kept.open
        if row is None or change.group_ends:
            return
        row.to_offset = change.last_offset
        if change.last_hole >= row.from_offset:
            row.epochs_after = row.joined_after = row.removed_after = None
            row.lost_after = row.moved_after = None
        if row.epochs_after is None:
            return
        came, gone = _who_came(change), _who_went(change)
        lost = [member for member in gone if member.joined_offset < row.from_offset]
        row.epochs_after += epochs
        row.joined_after = (row.joined_after or 0) + came
        row.removed_after = (row.removed_after or 0) + len(gone)
        row.lost_after = (row.lost_after or 0) + len(lost)
        row.moved_after = (row.moved_after or 0) + moved
        for member in lost[: MAX_LOST - len(row.lost_member_ids)]:
            row.lost_member_ids.append(member.member_id)
            row.lost_at.append(change.at)
            row.lost_session_ms.append(_own_session_ms(self._life, member))

    def close(self) -> None:
        """Nothing more is counted: time passed, the leader changed again, or the life ends."""
        kept = self._kept
        if kept.open is not None:
            self._output.emit(kept.open)
            kept.open = None


def open_failovers(life: Life) -> list[Failover]:
    """The row that later records can still change, if there is one."""
    row = life.failovers.open
    if row is None:
        return []
    shown = copy.copy(row)
    shown.lost_member_ids, shown.lost_at = list(row.lost_member_ids), list(row.lost_at)
    shown.lost_session_ms = list(row.lost_session_ms)
    return [shown]


def _described(life: Life) -> dict[str, Any]:
    """How the last operation left the group, field by field."""
    if life.protocol not in RECONCILING and life.protocol != CLASSIC:
        return _UNSEEN
    members = life.members.values()
    return {
        "phase": failover_phase(life),
        "epoch_at": life.epoch_row.started_at if life.epoch_row is not None else None,
        "epoch": life.epoch,
        "target_epoch": life.target_epoch,
        "members": len(members),
        "at_epoch": sum(1 for m in members if m.epoch is not None and m.epoch == life.epoch),
        "revoking": sum(1 for m in members if m.state == UNREVOKED_PARTITIONS),
        "waiting": sum(1 for m in members if m.state == UNRELEASED_PARTITIONS),
        "away": sum(1 for m in members if m.epoch == STATIC_LEAVE_EPOCH),
        "partitions_pending": sum(len(m.pending) for m in members),
        "partitions_unowned": sum(1 for unit in life.target_owner if not life.holders.get(unit)),
    }


def failover_phase(life: Life) -> str:
    """What a group that keeps members was doing, by its records: the first phase that applies."""
    if not life.members:
        # A K2 of generation 0 is of an empty group, and begins no epoch.
        return EMPTY if life.epoch is not None or life.protocol == CLASSIC else UNKNOWN
    if life.protocol == CLASSIC or life.epoch is None:
        return UNKNOWN
    if life.target_epoch is None:
        return ASSIGNING if _awaits_first_target(life) else UNKNOWN
    members = [m for m in life.members.values() if m.epoch != STATIC_LEAVE_EPOCH]
    if life.epoch > life.target_epoch:
        return ASSIGNING
    if any(m.state == UNREVOKED_PARTITIONS for m in members):
        return REVOKING
    if _may_be_more(life, members):
        return UNKNOWN
    at_epoch = [m for m in members if m.epoch == life.epoch]
    if len(at_epoch) == len(members) and all(m.state == STABLE for m in members):
        return STEADY
    return PARTLY_THERE if at_epoch else TARGET_UNTOLD


def _awaits_first_target(life: Life) -> bool:
    """A streams group waits for its first target (KIP-1071, the initial rebalance delay)."""
    return life.protocol == STREAMS and life.birth_seen and not life.hole_seen


def _may_be_more(life: Life, members: list[Member]) -> bool:
    """Whether a hole, or the beginning of the log, may hide a member or the K8 of one."""
    row = life.epoch_row
    if row is not None and row.outcome == "UNOBSERVED":
        return True
    return any(m.epoch is None for m in members) and not (life.birth_seen and not life.hole_seen)


def _who_came(change: Change) -> int:
    """How many joined; not who took an instance over."""
    heirs = change.heirs()
    return sum(
        1
        for member_id, before in change.before.items()
        if not before.existed and member_id not in change.removed and member_id not in heirs
    )


def _who_went(change: Change) -> list[Member]:
    """Who was removed; not whose instance another took over."""
    return [
        member
        for member_id, member in change.removed.items()
        if change.before[member_id].existed and member_id not in change.replaced
    ]


def _own_session_ms(life: Life, member: Member) -> int | None:
    """A coordinator that loads a consumer group gives all of its members the group's session
    timeout, classic ones too (GroupMetadataManager.onLoaded).
    """
    return member.own_session_ms if life.protocol == CLASSIC else None
