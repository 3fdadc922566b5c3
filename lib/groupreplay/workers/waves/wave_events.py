"""Chains of membership events -> waves, event by event, for what they would have cost otherwise.

Cut as `workers.waves.waves` cuts them, so that rows of both begin with the same event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from groupreplay.replay.decisions.churn import GONE, JOINED, REPLACED, WENT_AWAY
from groupreplay.replay.decisions.modes import CONSUMER_ALONE, MIXED, STREAMS_CLASSIC
from groupreplay.workers.waves.gone_members import Chain, GoneMembers, gone_members
from groupreplay.workers.waves.waves import first_events, is_opaque, with_processes


@dataclass(slots=True, kw_only=True)
class WaveEvents(GoneMembers):
    """One wave. Lists that begin alike go together.

    mode: how the group rebalanced throughout, one of `replay.decisions.modes`; MIXED where that
        changed.
    members_before: live members before the first event.
    is_hidden: a hole, or the beginning of the log, lies in it or less than a wave's gap before: it
        may hide events of the wave.
    event_*: parallel lists, one element for each of its events.
    event_held: of partitions that its member held just before, those that somebody was to read
        after it.
    event_left_out: all others: the next target gave them to nobody.
    event_partitions: partitions that the group had to read, before or after the event.
    event_gone: place in gone_* of how the member went: for G and R the event itself, for J the
        departure of the same process; -1 for a new process, and for A.
    gone_*: members that departed or were taken over in the wave, and departures of earlier waves
        that joined again in this one.
    absent_*: parallel to gone_*: time since its last commit, time since its record at epoch -2, and
        time from its removal to the return of its process; None where there was none.
    """

    from_offset: int
    mode: str
    members_before: int
    is_hidden: bool
    event_kinds: list[str]
    event_times_at: list[int]
    event_held: list[int]
    event_left_out: list[int]
    event_sessions_ms: list[int | None]
    event_members_after: list[int]
    event_partitions: list[int]
    event_gone: list[int]
    absent_silences_ms: list[int | None]
    absent_away_ms: list[int | None]
    absent_back_ms: list[int | None]


def events_of(chain: Chain, gap_ms: int) -> list[WaveEvents]:
    """The waves of a chain; but for those in which the group's assignments were opaque, and none of
    Kafka Streams.
    """
    if STREAMS_CLASSIC in chain["group_modes"]:
        return []
    chain = with_processes(chain)
    begins = first_events(chain, gap_ms)
    absences = _absences(chain)
    spans = [range(*ends) for ends in pairwise([*begins, len(chain["offsets"])])]
    return [_wave(chain, span, absences, gap_ms) for span in spans if not is_opaque(chain, span)]


def _wave(chain: Chain, span: range, absences: _Absences, gap_ms: int) -> WaveEvents:
    kinds, targets, first = chain["event_kinds"], chain["target_partitions"], span[0]
    went = [index for index in span if kinds[index] in (GONE, REPLACED)]
    earlier = {absences.left_by[index] for index in span if index in absences.left_by}
    gone = sorted({*went, *earlier})
    places = {index: place for place, index in enumerate(gone)}
    left_out = _left_out(chain)
    told: dict[str, Any] = {
        **{f"event_{name}": [chain[of][i] for i in span] for name, of in _OF_EVENT.items()},
        "event_held": [chain["held_counts"][i] - left_out[i] for i in span],
        "event_left_out": [left_out[i] for i in span],
        "event_partitions": [max(chain["owed_partitions"][i], targets[i]) for i in span],
        **gone_members(chain, gone),
    }
    return WaveEvents(
        **told,
        from_offset=chain["offsets"][first],
        mode=_mode(chain, span),
        members_before=chain["members_after"][first - 1] if first else chain["members_before"],
        is_hidden=_is_hidden(chain, span, gap_ms),
        event_gone=[places.get(absences.left_by.get(i, i), -1) for i in span],
        absent_silences_ms=[chain["silences_ms"][i] for i in gone],
        absent_away_ms=[absences.away_ms.get(i) for i in gone],
        absent_back_ms=[absences.back_ms.get(i) for i in gone],
    )


_OF_EVENT: Final = {
    "kinds": "event_kinds",
    "times_at": "times_at",
    "sessions_ms": "own_sessions_ms",
    "members_after": "members_after",
}


def _left_out(chain: Chain) -> Counter[int]:
    """Place of an event -> how many partitions of its member nobody was to read after it."""
    found = Counter[int]()
    for place, count in zip(chain["left_out_events"], chain["left_out_counts"], strict=True):
        found[place] += count
    return found


def _is_hidden(chain: Chain, span: range, gap_ms: int) -> bool:
    unbroken_ms, times = chain["unbroken_ms"][span[-1]], chain["times_at"]
    if unbroken_ms is None:
        return False
    return bool(times[span[-1]] - unbroken_ms > times[span[0]] - gap_ms)


def _mode(chain: Chain, span: range) -> str:
    """MIXED too where a member of the other protocol came or went: the group was mixed before."""
    modes = {chain["group_modes"][index] for index in span}
    if span[0]:
        modes.add(chain["group_modes"][span[0] - 1])
    protocols = {chain["member_protocols"][index] == "consumer" for index in span}
    if len(modes) > 1 or len(protocols) > 1:
        return MIXED
    (mode,) = modes
    return str(mode) if protocols == {mode == CONSUMER_ALONE} else MIXED


# ---------------------------------------------------------------- who came back


@dataclass(slots=True)
class _Absences:
    """What events say of absences. Keys are places of events in the chain.

    left_by: join -> place of the departure of the same process.
    back_ms: departure -> time from it to that join.
    away_ms: departure or takeover -> time since the member's record at epoch -2.
    """

    left_by: dict[int, int] = field(default_factory=dict)
    back_ms: dict[int, int] = field(default_factory=dict)
    away_ms: dict[int, int] = field(default_factory=dict)


def _absences(chain: Chain) -> _Absences:
    """A hole between two events hides what became of who was gone."""
    found, times = _Absences(), chain["times_at"]
    away: dict[str, int] = {}
    gone: dict[str, int] = {}
    for index, kind, identity in _named(chain):
        if chain["hidden_before"][index]:
            away.clear()
            gone.clear()
        if kind == WENT_AWAY:
            away[identity] = index
        elif kind in (GONE, REPLACED):
            if identity in away:
                found.away_ms[index] = times[index] - times[away.pop(identity)]
            if kind == GONE:
                gone[identity] = index
        elif kind == JOINED and identity in gone:
            left = gone.pop(identity)
            found.left_by[index] = left
            found.back_ms[left] = times[index] - times[left]
    return found


def _named(chain: Chain) -> Iterator[tuple[int, str, str]]:
    names = zip(chain["event_kinds"], chain["identities"], strict=True)
    for index, (kind, identity) in enumerate(names):
        yield index, kind, identity
