"""A group as it stands: its phase on the way to the consumer protocol, and every row that is not
final.

Source of the rules: docs/measures.md, Phase and progress.
"""

from __future__ import annotations

import copy

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.records.consumer import STATIC_LEAVE_EPOCH
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.assignment.new_stall import new_stall
from groupreplay.replay.decisions.absences import KEPT_ABSENCES, STATIC, open_absences, shown
from groupreplay.replay.decisions.charges import with_waiting
from groupreplay.replay.decisions.failovers import open_failovers
from groupreplay.replay.decisions.profiles import snapshot_columns
from groupreplay.replay.facts import Fact, GroupSnapshot, Stall
from groupreplay.replay.life import CLASSIC, CONSUMER, RECONCILING, STREAMS, Life, Member
from groupreplay.replay.streams.classic.generation import STREAMS_PROTOCOL

NOT_APPLICABLE = "NOT_APPLICABLE"
EMPTY = "EMPTY"
ROLLED_BACK = "ROLLED_BACK"
CLASSIC_PHASE = "CLASSIC"
MIGRATING = "MIGRATING"
MIGRATED = "MIGRATED"
NATIVE = "NATIVE"
CONSUMER_PHASE = "CONSUMER"

CONVERTIBLE_PROTOCOL_TYPES = frozenset({"", "consumer"})


def migration_phase(life: Life) -> str:
    """The first phase that applies."""
    if (
        life.protocol not in (CLASSIC, CONSUMER)
        or life.protocol_type not in CONVERTIBLE_PROTOCOL_TYPES
        or life.protocol_name == STREAMS_PROTOCOL
    ):
        return NOT_APPLICABLE
    if not life.members:
        return EMPTY
    if life.protocol == CLASSIC:
        return ROLLED_BACK if life.last_direction == "DOWNGRADE" else CLASSIC_PHASE
    if life.classic_members:
        return MIGRATING
    if life.last_direction is not None:
        return MIGRATED
    return NATIVE if life.birth_seen and not life.hole_seen else CONSUMER_PHASE


def snapshot(life: Life) -> GroupSnapshot:
    """The group's row in `migration_progress`."""
    phase = migration_phase(life)
    consumers = sum(1 for m in life.members.values() if m.protocol == CONSUMER)
    blocking = (
        [m for m in life.members.values() if m.protocol == CLASSIC]
        if phase != NOT_APPLICABLE
        else []
    )
    blocking.sort(key=lambda m: m.member_id)
    ended = _ended_absences(life)
    return GroupSnapshot(
        **life.place,
        from_offset=life.incarnation,
        start_observed=life.birth_seen,
        protocol=life.protocol,
        phase=phase,
        last_phase=life.last_phase if phase == EMPTY else None,
        history_complete=life.birth_seen and not life.hole_seen,
        members_total=len(life.members),
        members_consumer=consumers,
        members_classic=life.classic_members,
        mixed_since_at=life.mixed.since_at
        if life.mixed is not None and phase == MIGRATING
        else None,
        upgraded_at=life.upgraded_at,
        downgraded_at=life.downgraded_at,
        conversions=life.conversions,
        blocker_member_ids=[m.member_id for m in blocking],
        blocker_instance_ids=[m.instance_id for m in blocking],
        blocker_client_ids=[m.client_id for m in blocking],
        blocker_client_hosts=[m.client_host for m in blocking],
        group_epoch=life.epoch,
        streams_protocol=_streams_protocol(life),
        **snapshot_columns(life),
        static_ended_at=[each[0] for each in ended],
        static_gap_low_ms=[each[1] for each in ended],
        static_gap_high_ms=[each[2] for each in ended],
        static_outcomes=[each[3] for each in ended],
        downgrade_offset=life.downgrade_offset,
        members_static=sum(each.instance_id is not None for each in life.members.values()),
        instances_gone=_instances_gone(life),
    )


def _ended_absences(life: Life) -> list[tuple[int, int | None, int | None, str]]:
    """As `absences.shown` gives them, those too that are not final."""
    ended = [
        shown(each)
        for each in open_absences(life.absences)
        if each.membership == STATIC and (each.removed_at or each.returned_at) is not None
    ]
    return sorted([*life.absences.ended, *ended], key=lambda each: each[0])[-KEPT_ABSENCES:]


def _instances_gone(life: Life) -> int:
    """How many were removed so lately that they may still come back."""
    return sum(
        each.membership == STATIC and life.last_at - (each.removed_at or 0) <= MAX_CHAIN_GAP_MS
        for each in life.absences.removed.values()
    )


def _streams_protocol(life: Life) -> str | None:
    """Which protocol an application of Kafka Streams speaks; None for any other group."""
    if life.protocol == STREAMS:
        return STREAMS
    return CLASSIC if life.protocol == CLASSIC and life.protocol_name == STREAMS_PROTOCOL else None


def open_facts(membership: Membership) -> list[Fact]:
    """Every row of the group that a later record can still change, as it stands. Changes
    nothing.
    """
    life = membership.life
    rows: list[Fact] = [snapshot(life)]
    if (epoch := membership.epochs.as_it_stands()) is not None:
        rows.append(epoch)
    if life.assigning is not None:
        rows.append(copy.copy(life.assigning))
    if (mixed := copy.copy(life.mixed)) is not None:
        mixed.blocked_by = [*mixed.blocked_by]
        rows.append(mixed)
    rows += [
        copy.copy(chain)
        for chain in (*life.loops.values(), *([life.storm] if life.storm is not None else []))
        if len(chain.times_at) > 1
    ]
    for trail in life.trails.values() if life.protocol != STREAMS else ():
        rows += [
            copy.copy(row)
            for row in (*trail.released, *trail.granted_spans, *trail.handed, *trail.granted)
        ]
    rows += open_failovers(life)
    rows += open_absences(life.absences)
    if life.churn is not None:
        rows.append(with_waiting(life.churn, life))
    for member in life.members.values():
        rows += _open_of_member(membership, member)
    return rows + membership.days.open_days()


def _open_of_member(membership: Membership, member: Member) -> list[Fact]:
    rows: list[Fact] = [membership.life_row(member)] if member.joined_at >= 0 else []
    rows += [
        copy.copy(row)
        for row in (member.state_row, member.wait, member.limbo, member.revocation)
        if row is not None
    ]
    if membership.life.protocol != STREAMS:  # its tasks have rows of their own
        rows += [membership.owners.span_row(member, tp, span) for tp, span in member.spans.items()]
        rows += [copy.copy(row) for row in member.requests.values()]
    rows += [
        stall
        for stall in (_silence(membership, member), _quiet(membership, member))
        if stall is not None
    ]
    return rows


def _silence(membership: Membership, member: Member) -> Stall | None:
    since = (
        membership.stalls.behind_since(member) if membership.life.protocol in RECONCILING else None
    )
    return (
        new_stall(membership.life, "NOT_RECONCILING", member, since, member.current_offset, [])
        if since is not None
        else None
    )


def _quiet(membership: Membership, member: Member) -> Stall | None:
    """A member that holds partitions and commits none of them while others commit theirs."""
    quiet = membership.quiet.is_quiet(member, membership.life.last_hole)
    if quiet is None or member.epoch == STATIC_LEAVE_EPOCH:
        return None
    return new_stall(
        membership.life,
        "ASSIGNED_NOT_CONSUMING",
        member,
        quiet[0],
        quiet[1],
        [member.member_id],
        len(member.spans),
    )
