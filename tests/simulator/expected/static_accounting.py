"""`static_accounting`: processes that were gone and came back or did not, and for how long by what
was done to them (decisions.md, static_accounting)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulator.compare import Between, Bound, Key, OneOf, Untold, Wanted
from tests.simulator.expected.charges import moved_for
from tests.simulator.expected.comings import AWAY, GONE, JOINED, REPLACED, Coming, comings_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.stops import IN_FLIGHT_MS, Stops
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import Operation

SETTLE_MS: Final = 3_600_000
"""Who is back later is not told to be the same."""

HOST_IS_UNTOLD: Final = "processes that only their client id and host tell"


@dataclass(slots=True)
class Absence:
    """last: the operation that changed it last. there_since: true time at which it had come. events:
    its removal and its return."""

    went: Coming
    outcome: str
    last: Operation
    epochs: int = 0
    left_at: int | None = None
    removed: Operation | None = None
    returned: Operation | None = None
    returned_as: str | None = None
    there_since: int = 0
    events: list[Coming] = field(default_factory=list)

    @property
    def is_static(self) -> bool:
        return self.went.member.instance_id is not None

    @property
    def partitions(self) -> int:
        """That it held when it went, but for those that its away record gives up: it was asked for
        these, and they are not kept for it."""
        went = self.went
        as_it_went = went.operation.members[went.member_id] if went.kind == AWAY else went.member
        return len(as_it_went.held)


class _Absences:
    """Follows one life."""

    def __init__(self, life: Life) -> None:
        self.found: list[Absence] = []
        self._away: dict[str, Absence] = {}
        self._removed: dict[str, Absence] = {}
        self._there_since: dict[str, int] = {}
        for comings in comings_of(life):
            for coming in comings:
                self._step(coming)
        if life.end is not None:
            for absence in self._away.values():
                absence.outcome = "UNOBSERVED"
                absence.last = life.operations[-1]

    def _step(self, coming: Coming) -> None:
        if coming.kind == AWAY:
            absence = self._away[coming.member_id] = self._begin(coming, "AWAY")
            absence.left_at = coming.operation.at
        elif coming.kind == REPLACED:
            absence = self._since(coming, "ABSORBED")
            self._return(absence, coming, "ABSORBED", coming.heir)
        elif coming.kind == GONE:
            absence = self._since(coming, "EXPIRED")
            absence.outcome, absence.removed = "EXPIRED", coming.operation
            absence.last = coming.operation
            absence.epochs += coming.opens_epoch
            absence.events.append(coming)
            self._removed[_identity(coming)] = absence
        elif coming.kind == JOINED:
            self._there_since[coming.member_id] = coming.operation.true_at
            back = self._removed.pop(_identity(coming), None)
            if back is not None and coming.operation.at - back.last.at <= SETTLE_MS:
                outcome = "EXPIRED_RETURNED" if back.is_static else "RETURNED"
                self._return(back, coming, outcome, coming.member_id)

    def _since(self, coming: Coming, outcome: str) -> Absence:
        """The absence that a member is in; one that begins where it wrote none."""
        away = self._away.pop(coming.member_id, None)
        return self._begin(coming, outcome) if away is None else away

    def _begin(self, coming: Coming, outcome: str) -> Absence:
        since = self._there_since.get(coming.member_id, 0)
        self.found.append(Absence(coming, outcome, coming.operation, there_since=since))
        return self.found[-1]

    def _return(
        self, absence: Absence, coming: Coming, outcome: str, returned_as: str | None
    ) -> None:
        self._there_since[returned_as or ""] = coming.operation.true_at
        absence.outcome, absence.returned_as = outcome, returned_as
        absence.returned = absence.last = coming.operation
        absence.epochs += coming.opens_epoch
        absence.events.append(coming)


def _identity(coming: Coming) -> str:
    """A dynamic member that comes back under its own id is the same process for sure."""
    return coming.member.instance_id or f"member {coming.member_id}"


def _gap_ms(
    history: History, stops: Stops, absence: Absence, *, closes_unheard: bool = False
) -> int | None:
    """How long the process was gone, None where nothing that was done to it began this.
    closes_unheard: from when it stood still, where it was closed before it went on."""
    went, back = absence.went.operation, absence.returned
    if back is None or history.has_other_leader(went, back):
        return None
    member_id = absence.went.member_id
    stopped = stops.last(
        *(went.group_id, member_id, absence.there_since, went.true_at),
        closes_unheard=closes_unheard,
    )
    return None if stopped is None else back.true_at - stopped


def _row(history: History, life: Life, absence: Absence, stops: Stops) -> Wanted:
    went, last, back = absence.went.operation, absence.last, absence.returned
    member = absence.went.member
    values: dict[str, Any] = {
        "incarnation": history.incarnation(life),
        "offsets_partition": life.offsets_partition,
        "from_offset": Between(went.first_offset, went.last_offset),
        "to_offset": None
        if absence.outcome == "AWAY"
        else Between(last.first_offset, history.truth.logs[life.offsets_partition].next_offset)
        if absence.outcome == "UNOBSERVED"
        else Between(last.first_offset, last.last_offset),
        "start_observed": OneOf((True, False)) if not life.is_seen_to_begin(went) else True,
        "instance_id": member.instance_id,
        "member_protocol": member.protocol,
        "membership": "STATIC" if absence.is_static else "DYNAMIC",
        "is_final": history.is_final(life.end is not None, last.at),
        "outcome": absence.outcome,
        "returned_as": absence.returned_as,
        "removed_at": absence.removed.at if absence.removed else None,
        "returned_at": back.at if back else None,
        "partitions": absence.partitions,
        "avoided_moves": 2 * absence.partitions if absence.outcome == "ABSORBED" else 0,
        "epochs": absence.epochs,
        "identity": _told_identity(absence),
        "client_id": member.client_id,
        "client_host": member.host,
        "moved": _moved(history, life, absence),
        **_gaps(history, absence, stops),
    }
    return Wanted(values, (went.first_offset, last.first_offset))


def _told_identity(absence: Absence) -> str:
    """A dynamic member by its client id and host, where no other member had both when it went."""
    went = absence.went
    if absence.is_static:
        return f"instance:{went.member.instance_id}"
    before = went.before.members if went.before is not None else {}
    alike = [who for who, member in before.items() if member.client == went.member.client]
    if len(alike) > 1:
        return f"member:{went.member_id}"
    return f"client:{went.member.client_id} {went.member.host}"


def _moved(history: History, life: Life, absence: Absence) -> Any:
    if absence.went.operation.protocol_type == "connect":
        return None
    return moved_for(history, life, absence.events)


def _gaps(history: History, absence: Absence, stops: Stops) -> dict[str, Any]:
    if absence.returned is None:
        return {"gap_low_ms": None, "gap_high_ms": None}
    true = _gap_ms(history, stops, absence)
    if true is None:
        return dict.fromkeys(("gap_low_ms", "gap_high_ms"), Untold("nothing was done to it"))
    high: Any = Bound(true, is_lower=False, slack=IN_FLIGHT_MS)
    if absence.left_at is None:  # the last commit decides
        if absence.went.operation.group_id in history.truth.transactional:
            high = Untold("a transaction may end, and its commits count, when its process is gone")
        elif history.is_elected_between(
            absence.went.operation.offsets_partition,
            absence.there_since,
            absence.returned.true_at,
        ):
            high = Untold("the clock of another broker may have told the last commit")
    # A static member of the classic protocol says nothing when it is closed, but for its commit.
    is_unheard = absence.is_static and absence.went.member.is_classic
    most = _gap_ms(history, stops, absence, closes_unheard=is_unheard)
    low: Any = Untold("it was woken while it stood still")
    if most is not None:
        low = Bound(most, is_lower=True, slack=IN_FLIGHT_MS)
    return {"gap_low_ms": low, "gap_high_ms": high}


def absences_in(history: History) -> Iterator[tuple[Key, Absence, Wanted]]:
    """Those that have rows, and what these must be."""
    stops = Stops(history.truth)
    for life in history.lives:
        for absence in _Absences(life).found:
            if absence.is_static or absence.outcome == "RETURNED":
                went = absence.went
                key = (life.group_id, went.member_id, went.operation.first_offset)
                yield key, absence, _row(history, life, absence, stops)


def _wanted(history: History) -> dict[Key, Wanted]:
    return {key: must for key, _, must in absences_in(history)}


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["member_id"], history.opened_by(row)


def _excuse(history: History, row: Row) -> str:
    is_client = row["membership"] == "DYNAMIC" and row["returned_as"] != row["member_id"]
    return HOST_IS_UNTOLD if is_client else ""


CHECK: Final = Check("static_accounting", _wanted, _key_of, _excuse)
