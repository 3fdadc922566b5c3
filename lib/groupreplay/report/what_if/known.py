"""What is known of one wave when it is priced, and of the night: data alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupreplay.replay.decisions.churn import GONE, REPLACED, WENT_AWAY
from groupreplay.report.what_if.times import Bracket

EXPIRED_ENDS = frozenset({"EXPIRED", "SESSION_EXPIRED"})
"""Ends of members that said nothing: their partitions stood still for a session."""

POLL_TIMEOUT = "POLL_TIMEOUT"
WAITED_FOR_ENDS = frozenset({"REBALANCE_TIMEOUT", "JOIN_TIMEOUT", "SYNC_TIMEOUT"})
"""Ends of members that were too slow. What their partitions stood still before is the same in every
protocol, so they are priced as if they had left. For those of the second kind others waited too.
"""

UNKNOWN_END = "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """How a member went that departed (G) or whose instance was taken over (R).

    end: as in `departure_waves.ends`.
    silent_ms: how long it had read nothing when it was removed, None where nothing shows it.
    unread_ms: partition-ms that its partitions which got another holder had lost by then, None
        likewise.
    unheard_ms: time since its last heartbeat was answered, None where no request log shows it.
    absent_ms: time since it was last alive for sure, by that log; no less.
    uncommitted_ms: time since its last commit, None where none was seen.
    away_ms: time since its record at epoch -2, None where it wrote none.
    back_ms: time from its removal to the return of its process, None where that did not return.
    """

    end: str = UNKNOWN_END
    silent_ms: int | None = None
    unread_ms: int | None = None
    unheard_ms: int | None = None
    absent_ms: int | None = None
    uncommitted_ms: int | None = None
    away_ms: int | None = None
    back_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of a wave, as in `Churn`.

    held: partitions that the member held just before, and somebody was to read after it.
    left_out: those that it held, and nobody was to read after it.
    session_ms: the member's own session timeout, None where it is not known.
    members_after: live members of the group after the event.
    partitions: partitions that the group had to read, before or after the event.
    gone: for G and R how the member went; for J how its process had gone, None for a new process;
        None for A.
    """

    kind: str
    at: int
    held: int = 0
    left_out: int = 0
    session_ms: int | None = None
    members_after: int = 1
    partitions: int = 0
    gone: Gone | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """One wave of one group.

    mode: how the group rebalanced throughout, one of `replay.decisions.modes`; MIXED where that
        changed.
    members_before: live members of the group before its first event.
    is_hidden: a hole lies in it or may hide its beginning, or it goes on behind this row.
    est_ms: est_ms of `departure_waves`, None where that is not known or only in part.
    """

    mode: str
    events: list[Event] = field(default_factory=list)
    members_before: int = 0
    is_hidden: bool = False
    est_ms: int | None = None

    @property
    def unknown_held(self) -> int:
        """Partitions of members of which nothing shows how, or how long, they went."""
        return sum(each.held for each in self.events if _is_unknown(each))

    @property
    def left_held(self) -> int:
        """Partitions of all that departed or were taken over."""
        return sum(each.held for each in self.events if each.kind in (GONE, REPLACED))

    @property
    def actual_ms(self) -> int | None:
        """The part of est_ms that a protocol can change. It leaves out the time for which members
        that did not poll in time had stood still before. None where others waited for a member:
        nothing shows how long.
        """
        gone = [each.gone for each in self.events if each.kind == GONE and each.gone is not None]
        if self.est_ms is None or any(each.end in WAITED_FOR_ENDS for each in gone):
            return None
        waited = sum(each.unread_ms or 0 for each in gone if each.end == POLL_TIMEOUT)
        return max(0, self.est_ms - waited)


def _is_unknown(event: Event) -> bool:
    if event.kind == GONE:
        return event.gone is None or event.gone.end == UNKNOWN_END
    return event.kind == REPLACED and gap_of(event) is None


def gap_of(event: Event, classic_heartbeat_ms: int = 0) -> Bracket | None:
    """How long the process of an event G, R or J was gone: at least, as it seems, at most. None:
    it is not back, or nothing shows when it went.
    """
    gone = event.gone
    if gone is None or event.kind == WENT_AWAY:
        return None
    if event.kind == REPLACED:
        return _gap_of_replaced(gone, event.session_ms, classic_heartbeat_ms)
    if gone.back_ms is None:
        return None
    if gone.away_ms is not None:
        exact = gone.away_ms + gone.back_ms
        return Bracket(exact, exact, exact)
    if gone.silent_ms is None:
        return None
    longest = gone.back_ms + gone.silent_ms
    return Bracket(gone.back_ms, longest, longest)


def _gap_of_replaced(gone: Gone, session_ms: int | None, heartbeat_ms: int) -> Bracket | None:
    """Its session had not ended, so it was not gone for longer."""
    if gone.away_ms is not None:
        return Bracket(gone.away_ms, gone.away_ms, gone.away_ms)
    unheard, uncommitted = gone.unheard_ms, gone.uncommitted_ms
    if unheard is not None:
        absent = max(unheard, gone.absent_ms or 0)
        return Bracket(max(0, unheard - heartbeat_ms), absent, max(absent, uncommitted or 0))
    if uncommitted is None:
        return None
    longest = uncommitted if session_ms is None else min(uncommitted, session_ms)
    return Bracket(0, longest, longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """What brokers and clients are set to, ms.

    session: session timeout of the consumer protocol.
    static: session timeout that members would have if they were static.
    heartbeat: heartbeat interval of the consumer protocol.
    classic_heartbeat: heartbeat interval of the classic protocol.
    assignment: least time between two assignments of a group.
    """

    session: int
    static: int
    heartbeat: int
    classic_heartbeat: int
    assignment: int
