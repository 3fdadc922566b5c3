"""Chains of membership events -> waves: events of a group that belong together.

Pure Python over the rows of facts `Churn`, with the thresholds of the report: a changed threshold
needs no replay. Source of the rules: docs/decisions.md, departure_waves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from groupreplay.replay.decisions.modes import OPAQUE
from groupreplay.workers.waves.gone_members import (
    Chain,
    gone_members,
    kept_times,
    last_joins,
)
from groupreplay.workers.waves.stops import Stops, members_stopped, stops

SHOWN: Final = 20
"""Hosts and clients that a row names, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveLimits:
    """gap_ms: a wave ends where no event follows for longer.
    registration_ms, expansion_ms: KIP-345's timeouts.
    """

    gap_ms: int
    registration_ms: int
    expansion_ms: int


@dataclass(slots=True, kw_only=True)
class Wave(Stops):
    """One wave. Its fields are columns of `departure_waves`, but for those with a comment.

    chain_ended_at: last event of the chain that it is of; its row is final with the chain's.
    rose_from_0: the number of members reached 0 and rose again.
    has_new_hosts: who joined is on other hosts than who went, and nobody is left on these.
    """

    from_offset: int
    to_offset: int
    start_observed: bool
    is_final: bool
    chain_ended_at: int
    started_at: int
    ended_at: int
    settled_at: int | None
    members_before: int
    members_after: int
    members_low: int
    rose_from_0: bool
    has_new_hosts: bool
    joined: int
    departed: int
    replaced: int
    away: int
    cycles: int
    cycles_most: int
    touched: int
    hosts_out: list[str]
    hosts_in: list[str]
    client_ids: list[str | None]
    client_hosts: list[str | None]
    instance_ids: list[str | None]
    clients_out: list[int]
    clients_in: list[int]
    epochs: int | None
    moved: int | None
    returned: int | None
    moves_floor: int | None
    low_ms: int | None
    high_ms: int | None
    high_unknown: int | None
    asked_ms: int
    removed_ms: int
    gap_ms: int
    stopped: int
    longest_idle_ms: int | None
    epochs_registration: int
    epochs_expansion: int
    registration_pending: bool
    is_cut: bool


# ---------------------------------------------------------------- who is who


def with_processes(chain: Chain) -> Chain:
    """The chain with one identity for each process, and with `last_joins` and `kept`. A member that
    is alone with its client id and host at one event, and is not at another, has two.
    """
    by_member: dict[str, str] = {}
    by_identity: dict[str, str] = {}
    processes = []
    names = zip(chain["member_ids"], chain["other_ids"], chain["identities"], strict=True)
    for member_id, other_id, identity in names:
        process = by_member.get(member_id) or by_identity.get(identity) or identity
        by_member[member_id] = by_identity[identity] = process
        if other_id is not None:
            by_member[other_id] = process
        processes.append(process)
    found = {"last_joins": last_joins(chain), "kept": kept_times(chain)}
    return {**chain, "identities": processes, **found}


# ---------------------------------------------------------------- where a wave begins


def first_events(chain: Chain, gap_ms: int) -> list[int]:
    """Places of the events that begin a wave: the first one; one later than gap_ms after the one
    before; and in a START, which holds joins only, the first that is none.
    """
    kinds, times, begins = chain["event_kinds"], chain["times_at"], [0]
    is_start = chain["members_before"] == 0
    for index in range(1, len(kinds)):
        is_late = times[index] - times[index - 1] > gap_ms
        if is_late or (is_start and kinds[index] != "J"):
            is_start = is_late and chain["members_after"][index - 1] == 0
            begins.append(index)
    return begins


def waves_of(chain: Chain, limits: WaveLimits, now_ms: int) -> list[Wave]:
    """The waves of a chain.

    now_ms: time up to which its partition was read.
    """
    chain = {**with_processes(chain), "stops": members_stopped(chain)}
    begins = first_events(chain, limits.gap_ms)
    spans = [range(*ends) for ends in pairwise([*begins, len(chain["offsets"])])]
    founders = {index for span in spans if _before(chain, span) == 0 for index in span}
    registrations, expansions, pending = kip_345(chain, limits, now_ms, founders)
    of_registration, of_expansion, of_pending = (
        Counter(bisect_right(begins, index) for index in found)
        for found in (registrations, expansions, pending)
    )
    waves = []
    for place, span in enumerate(spans, 1):
        wave = _wave(chain, span)
        wave.epochs_registration, wave.epochs_expansion = (
            of_registration[place],
            of_expansion[place],
        )
        wave.registration_pending = of_pending[place] > 0
        waves.append(wave)
    return waves


# ---------------------------------------------------------------- one wave


def _before(chain: Chain, span: range) -> int:
    """Members before its first event."""
    first = span[0]
    return int(chain["members_before"] if first == 0 else chain["members_after"][first - 1])


def _wave(chain: Chain, span: range) -> Wave:
    first, last = span[0], span[-1]
    before = _before(chain, span)
    is_observed = not any(chain["hidden_before"][index] for index in span[1:])
    gone = [index for index in span if chain["event_kinds"][index] in "GR"]
    return Wave(
        **gone_members(chain, gone),
        from_offset=chain["offsets"][first],
        to_offset=chain["offsets"][last],
        start_observed=is_observed,
        is_final=chain["is_final"],
        chain_ended_at=chain["times_at"][-1],
        started_at=chain["times_at"][first],
        ended_at=chain["times_at"][last],
        settled_at=chain["settled"][last],
        **_members(chain, span, before),
        **_processes(chain, span),
        **_clients(chain, span),
        epochs=_epochs(chain, first, last),
        **_costs(chain, span, is_told=is_observed),
        epochs_registration=0,
        epochs_expansion=0,
        registration_pending=False,
        is_cut=chain["is_cut"] and last == len(chain["offsets"]) - 1,
        **stops(chain, [index for index in span if chain["stop_counts"][index]]),
    )


def _members(chain: Chain, span: range, before: int) -> dict[str, Any]:
    kinds = Counter(chain["event_kinds"][index] for index in span)
    after = [chain["members_after"][index] for index in span]
    lowest = after.index(0) if 0 in after else len(after)
    return {
        "members_before": before,
        "members_after": after[-1],
        "members_low": min([before, *after]),
        "rose_from_0": any(after[lowest:]),
        "joined": kinds["J"],
        "departed": kinds["G"],
        "replaced": kinds["R"],
        "away": kinds["A"],
    }


def _processes(chain: Chain, span: range) -> dict[str, Any]:
    """Pairs of a departure and a later join of one process, and the hosts of both."""
    out: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for index in span:
        identity = chain["identities"][index]
        if chain["event_kinds"][index] == "G":
            out[identity] += 1
        elif chain["event_kinds"][index] == "J" and out[identity]:
            out[identity] -= 1
            pairs[identity] += 1
    hosts = {
        kind: {
            host
            for index in span
            if chain["event_kinds"][index] == kind
            and (host := chain["client_hosts"][index]) is not None
        }
        for kind in "GJ"
    }
    left = {chain["client_hosts"][i]: chain["host_members"][i] for i in span}
    return {
        "cycles": sum(pairs.values()),
        "cycles_most": max(pairs.values(), default=0),
        "touched": len({chain["identities"][index] for index in span}),
        "hosts_out": sorted(hosts["G"])[:SHOWN],
        "hosts_in": sorted(hosts["J"])[:SHOWN],
        "has_new_hosts": bool(hosts["G"] and hosts["J"])
        and hosts["G"].isdisjoint(hosts["J"])
        and not any(left[host] for host in hosts["G"]),
    }


def _clients(chain: Chain, span: range) -> dict[str, Any]:
    """Clients that came or went, those that went most often first."""
    counts: dict[tuple[str | None, ...], Counter[str]] = {}
    for index in span:
        names = ("client_ids", "client_hosts", "instance_ids")
        key = tuple(chain[name][index] for name in names)
        counts.setdefault(key, Counter())[chain["event_kinds"][index]] += 1
    shown = sorted(counts, key=lambda key: (-counts[key]["G"], [each or "" for each in key]))
    shown = shown[:SHOWN]
    return {
        "client_ids": [key[0] for key in shown],
        "client_hosts": [key[1] for key in shown],
        "instance_ids": [key[2] for key in shown],
        "clients_out": [counts[key]["G"] for key in shown],
        "clients_in": [counts[key]["J"] for key in shown],
    }


def _epochs(chain: Chain, first: int, last: int) -> int | None:
    """Begun since before the first event; None where an offline conversion began to count again."""
    before, after = chain["group_epochs_before"][first], chain["group_epochs"][last]
    if chain["incarnations"][first] != chain["incarnations"][last] or after is None:
        return None
    if before is None:
        before = (chain["group_epochs"][first] or 1) - 1
    return int(after - before)


# ---------------------------------------------------------------- what it cost


def _costs(chain: Chain, span: range, *, is_told: bool) -> dict[str, Any]:
    """Sums of its events; None across a hole, and where assignments of the group were opaque."""

    def total(name: str) -> int:
        return sum(chain[name][index] for index in span)

    is_told = is_told and not is_opaque(chain, span)
    told = {
        "moved": total("moved_counts"),
        "returned": total("returned_counts"),
        "low_ms": total("lows_ms"),
        "high_ms": total("highs_ms"),
        "high_unknown": total("high_unknowns"),
        "longest_idle_ms": max(chain["idles_ms"][index] for index in span) or None,
        "moves_floor": min(_moves_floor(chain, span), total("moved_counts")),
    }
    sums = {
        "asked_ms": total("asked_ms"),
        "removed_ms": total("removed_ms"),
        "gap_ms": total("gap_ms"),
        "stopped": total("stop_counts"),
    }
    return (told if is_told else dict.fromkeys(told)) | sums


def is_opaque(chain: Chain, span: range) -> bool:
    """Whether the group was one whose assignments cannot be read, at any of these events."""
    return bool(chain["is_opaque"]) or OPAQUE in (chain["group_modes"][index] for index in span)


def _moves_floor(chain: Chain, span: range) -> int:
    """What an assignor must move at least: what was held by processes that are not back at the end,
    or the fair shares of those that are new at the end.
    """
    last = span[-1]
    held: dict[str, int] = {}
    begun: dict[str, bool] = {}
    there: dict[str, bool] = {}
    for index in span:
        kind, identity = chain["event_kinds"][index], chain["identities"][index]
        begun.setdefault(identity, kind != "J")
        if kind == "G":
            held[identity] = held.get(identity, 0) + chain["held_counts"][index]
        if kind in "GJ":
            there[identity] = kind == "J"
    partitions, members = chain["target_partitions"][last], chain["members_after"][last]
    gone = sum(count for identity, count in held.items() if not there[identity])
    new = sum(is_there and not begun[identity] for identity, is_there in there.items())
    shares = new * (partitions // members) if members else 0
    return int(max(min(partitions, gone), shares))


# ---------------------------------------------------------------- KIP-345's two timeouts


def kip_345(
    chain: Chain, limits: WaveLimits, now_ms: int, founders: Collection[int] = ()
) -> tuple[list[int], list[int], list[int]]:
    """What KIP-345, as it was first proposed, would have done: the events whose window ended in a
    rebalance, of its registration and of its expansion timeout, and those whose registration
    window is open at now_ms.

    Members are taken for static ones throughout.

    founders: places of events that began the group, which do not expand it.
    """
    offline: dict[str, tuple[int, int]] = {}
    registrations: list[int] = []
    expansions: list[int] = []
    opened_at: int | None = None

    def expire(at: int) -> None:
        if offline and min(offline.values())[0] + limits.registration_ms <= at:
            registrations.append(min(offline.values())[1])
            offline.clear()

    for index, (kind, at) in enumerate(zip(chain["event_kinds"], chain["times_at"], strict=True)):
        identity = chain["identities"][index]
        expire(at)
        if kind == "G":
            offline[identity] = (at, index)
        elif kind in "JR" and offline.pop(identity, None) is None and kind == "J":
            is_open = opened_at is not None and at <= opened_at + limits.expansion_ms
            if not is_open and index not in founders:
                opened_at = at
                expansions.append(index)
    expire(now_ms)
    if opened_at is not None and opened_at + limits.expansion_ms > now_ms:
        expansions.pop()
    return registrations, expansions, [index for _, index in offline.values()]
