"""What the replay says of generations, epochs and tasks of Kafka Streams, against what truly
happened: every check gives its problems, as sentences; none where all is well.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from groupreplay.replay.streams_facts import StreamsRebalance
from tests.truth.streams_logs import EpochSaid
from tests.truth.streams_tables import NOISE_MS, StreamsTables, is_near
from tests.truth.streams_truth import Led, StreamsTruth

CLASSIC, STREAMS = "classic", "streams"
WENT = {"LEFT_OR_FENCED", "LEFT", "FENCED"}

_LEFT = re.compile(r"heartbeat expiration|LeaveGroup|explicit|leav|did not|removing member", re.I)

FIRST_EPOCH = 1
"""Of the target, until one is computed."""


# ---------------------------------------------------------------- generations of classic groups


def generations(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Every generation, what began it, who took part, and what its leader asked for next; none
    that never was.
    """
    problems = []
    for group in truth.groups:
        left = tables.rebalances(group, CLASSIC)
        before, shows_state = None, False
        for led in truth.led[group]:
            sums = [told.sums for told in led.said.told.values()]
            shows_state = shows_state or any(sums) or bool(led.copies)
            row = generation_row(left, led)
            if row is None:
                problems.append(f"{group}: no generation {led.number} at {led.decided_at}")
            else:
                left.remove(row)
                for what, got, wanted in _told(truth, row, led, before, shows_state):
                    if got != wanted:
                        problems.append(
                            f"{group}, generation {led.number}: {what} {got}, in truth {wanted}"
                        )
            before = led
        problems += [
            f"{group}: generation {row.epoch} at {row.decided_at} never was" for row in left
        ]
    return problems


def generation_row(rows: list[StreamsRebalance], led: Led) -> StreamsRebalance | None:
    near = (r for r in rows if r.epoch == led.number and is_near(r.decided_at, led.decided_at))
    return next(near, None)


def _told(
    truth: StreamsTruth,
    row: StreamsRebalance,
    led: Led,
    before: Led | None,
    shows_state: bool,
) -> list[tuple[str, object, object]]:
    """(what, what the row says, what is true).

    shows_state: until here a record holds a sum or a replica, so which tasks have state.
    """
    said = led.said
    kinds = [role for member in led.members for role in led.keeps(member).values()]
    found: list[tuple[str, object, object]] = [
        ("join phase near its end", is_near(row.join_ended_at, led.joined_at), True),
        ("leader", row.leader_member_id, led.leader),
        ("leader's process", row.leader_process_id, truth.process_of[led.leader]),
        ("members", row.members, said.members),
        ("processes", row.processes, said.processes),
        ("tasks", row.tasks, len(said.stateful | said.stateless)),
        ("active tasks", row.tasks_active, len(led.active)),
        ("tasks owed", row.tasks_owed, len(led.owed)),
        ("standbys", row.standby_copies, kinds.count("STANDBY")),
        ("warm-ups", row.warmup_copies, kinds.count("WARMUP")),
    ]
    if row.tasks_misplaced is not None or (len(said.told) > 1 and shows_state):
        found.append(("tasks misplaced", row.tasks_misplaced, led.misplaced))
    if wanted := _causes(led, before):
        found.append(("cause", row.cause if row.cause not in wanted else wanted, wanted))
    return found + _next(row, led)


def _next(row: StreamsRebalance, led: Led) -> list[tuple[str, object, object]]:
    """What is due next: what is owed is asked for at once, before any appointment."""
    said = led.said
    is_one = len(said.at_once_by) == 1  # of several nobody is named
    if said.at_once_by:
        return [
            ("next", row.next_kind, "FOLLOWUP"),
            ("next by", row.next_member_id, min(said.at_once_by) if is_one else None),
        ]
    if said.probe_at is not None:
        return [
            ("next", row.next_kind, "PROBING"),
            ("next near the appointment", is_near(row.next_at, said.probe_at, 5), True),
            ("next by", row.next_member_id, said.probe_by),
        ]
    return [("next", row.next_kind in ("NONE", None), True)]


def _causes(led: Led, before: Led | None) -> set[str]:
    """What may be called the cause: who came or went; else what the first to join again said.
    Nothing where neither tells.
    """
    if before is None:
        return {"JOIN"}
    came, went = led.members - before.members, before.members - led.members
    if came and went:
        return {"JOIN", "STATIC_REPLACED", *WENT}
    if came or went:
        return {"JOIN"} if came else WENT
    if "followup rebalance scheduled for 0" in led.reason or "need to revoke" in led.reason:
        return {"FOLLOWUP"}
    if "followup rebalance scheduled for" in led.reason:
        return {"PROBING"}
    return WENT if _LEFT.search(led.reason) else set()


# ---------------------------------------------------------------- epochs of streams groups


def epochs(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Every epoch that the broker announced, and its cause; one for each member that went, of which
    it announces nothing: it is the one after the epoch before. None else.
    """
    problems = []
    for group in truth.groups:
        left, number = tables.rebalances(group, STREAMS), FIRST_EPOCH
        for at, said in _begun(truth, group):
            number = said.epoch if said is not None else number + 1
            causes = _epoch_causes(said) if said is not None else WENT
            row = next((r for r in left if r.epoch == number and _begins(r, at)), None)
            if row is None:
                problems.append(f"{group}: no epoch {number} at {at}")
                continue
            left.remove(row)
            if row.cause not in causes:
                problems.append(f"{group}, epoch {number}: cause {row.cause}, in truth {causes}")
        problems += [
            f"{group}: epoch {row.epoch}, {row.cause}, at {row.join_ended_at} never was"
            for row in left
        ]
    return problems


def _begun(truth: StreamsTruth, group: str) -> list[tuple[int, EpochSaid | None]]:
    """(when an epoch began, what the broker said of it; None: a member went), in order."""
    begun: list[tuple[int, EpochSaid | None]] = [(at, None) for at in truth.went(group)]
    begun += [(said.at, said) for said in truth.broker.epochs[group]]
    return sorted(begun, key=lambda each: each[0])


def sampled_epochs(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Epoch, target and number of members, whenever the broker was asked about a streams group."""
    problems = []
    for group, at, sample in truth.probes(NOISE_MS):
        if sample.get("type") != "Streams":
            continue
        begun = [
            row
            for row in tables.rebalances(group, STREAMS)
            if row.join_ended_at is not None and row.join_ended_at <= at
        ]
        last = begun[-1] if begun else None
        life = [row for row in begun if last is not None and row.incarnation == last.incarnation]
        targets = [row.epoch for row in life if row.decided_at is not None and row.decided_at <= at]
        got = last and (last.epoch, max(targets, default=FIRST_EPOCH), last.members)
        wanted = (sample["group_epoch"], sample["target_epoch"], len(sample["members"]))
        if got != wanted:
            problems.append(
                f"{group} at {at}: (epoch, target, members) {got}, the broker answered {wanted}"
            )
    return problems


def _begins(row: StreamsRebalance, at: int) -> bool:
    return is_near(row.join_ended_at, at)


def _epoch_causes(said: EpochSaid) -> set[str] | frozenset[str]:
    if "JOIN" in said.causes:
        return {"JOIN"}
    if "TOPOLOGY_VALIDATED" in said.causes:
        return said.causes - {"TOPIC_METADATA"}
    return said.causes


Check = Callable[[StreamsTruth, StreamsTables], list[str]]
