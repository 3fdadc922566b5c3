"""`readiness`: which classic and mixed groups can be flipped, by the topic alone, and by each of
several settings of brokers (measures.md, Readiness)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tests.simulator.compare import Key, OneOf, Untold, Wanted
from tests.simulator.criteria import CRITERIA, Criteria
from tests.simulator.expected.comings import AWAY, GONE, REPLACED, Coming, comings_of
from tests.simulator.expected.group_epochs import Epoch, epochs_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.inherited import Inherited
from tests.simulator.expected.last_commits import LastCommits
from tests.simulator.expected.migration_progress import Course, course_of, is_complete
from tests.simulator.expected.ready_rules import (
    BLOCK,
    BLOCK_ONLINE,
    FIX,
    HOUR_MS,
    NA,
    Ended,
    Fired,
    Known,
    Returned,
    Rules,
    fired_of,
)
from tests.simulator.expected.ready_rules import (
    CHECK as LOOK,
)
from tests.simulator.expected.repetitions import fence_loops
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC, CONSUMER, Member, Operation

_UNIFORM: Final = ("cooperative-sticky", "sticky", "roundrobin")
_KEPT_ABSENCES: Final = 64
DELETED: Final = "groups in which commits of a deleted topic decide"


class OfLife:
    """The last life of a group, and what it has been through."""

    def __init__(self, history: History, life: Life, course: Course) -> None:
        self.history, self.life, self.course = history, life, course
        self.epochs = epochs_of(history, life)
        self.last = life.operations[-1]
        self._last_commits, self._inherited = LastCommits(history, life), Inherited(life)
        self._profiles: dict[str, Operation] = {}
        self._joined: dict[str, Operation] = {}
        self._ended: list[Ended] = []
        self.chain = history.chain(life)
        self._refilled_at = _refilled_at(self.chain)
        for before, operation in life.steps():
            self._step(before, operation)

    def _step(self, before: Operation | None, operation: Operation) -> None:
        was = before.members if before is not None else {}
        now = {each.instance_id for each in operation.members.values()} - {None}
        for member_id in was.keys() - operation.members.keys():
            opened, member = self._joined.pop(member_id), was[member_id]
            if member.instance_id not in now:
                silent_ms = self._last_commits.silent_ms(member_id, opened, operation)
                self._ended.append(Ended(member, silent_ms))
        for member_id in operation.members.keys() - was.keys():
            self._joined[member_id] = self._profiles[member_id] = operation
        self._inherited.step(before, operation)
        for member_id in operation.members:
            if operation.protocol != CONSUMER or operation.has(f"K5 {member_id}"):
                self._profiles[member_id] = operation

    def known(self) -> Known:
        last, members = self.last, dict(self.last.members)
        k2s = [each for each in self.life.operations if each.protocol == CLASSIC]
        return Known(
            now_ms=self.history.truth.logs[self.life.offsets_partition].last_at,
            phase=self.course.phase,
            last=last,
            k2=k2s[-1] if last.protocol == CLASSIC else None,
            members=members,
            profiles=self._profiles,
            inherited={name: self._inherited.of(name, each) for name, each in members.items()},
            returned=[each for life in self.chain for each in _Returns(self.history, life).found()][
                -_KEPT_ABSENCES:
            ],
            ended=self._ended,
            epochs_at=[
                each.opened.at for life in self.chain for each in epochs_of(self.history, life)
            ],
            subscribed_at=[each.opened.at for each in self.epochs if _is_by_topics(each)],
            loops_at=[[each.began.at for each in loop.turns] for loop in fence_loops(self.life)],
            refilled_at=self._refilled_at,
            downgraded_by=self.course.downgraded_by,
        )


class _Returns:
    """Static members of one life that were back before their session ended."""

    def __init__(self, history: History, life: Life) -> None:
        self.life, self._last_commits = life, LastCommits(history, life)

    def found(self) -> Iterator[Returned]:
        away: dict[str, Coming] = {}
        since: dict[str, Operation] = {}
        for comings in comings_of(self.life):
            for coming in comings:
                left = away.get(coming.member_id)
                if coming.kind == AWAY:
                    away[coming.member_id] = coming
                    continue
                away.pop(coming.member_id, None)
                if coming.kind == REPLACED:
                    yield self._back(coming, left, since.get(coming.member_id))
                if coming.kind == GONE:
                    since.pop(coming.member_id, None)
                    continue
                since[coming.heir or coming.member_id] = coming.operation

    def _back(self, coming: Coming, left: Coming | None, since: Operation | None) -> Returned:
        at = coming.operation.at
        if left is not None:
            gone_at = left.operation.at
            return Returned(at, at - gone_at if at >= gone_at else None, was_away=True)
        opened = since or self.life.operations[0]
        gap_ms = self._last_commits.silent_ms(coming.member_id, opened, coming.operation)
        return Returned(at, gap_ms, was_away=False)


def _refilled_at(chain: Sequence[Life]) -> int | None:
    """When members came back last, within an hour since the last of them had gone."""
    refilled_at: int | None = None
    emptied_at: int | None = None
    had_members = False
    for operation in (each for life in chain for each in life.operations):
        if operation.members:
            if emptied_at is not None and operation.at - emptied_at <= HOUR_MS:
                refilled_at = operation.at
            emptied_at = None
        elif had_members:
            emptied_at = operation.at
        had_members = bool(operation.members)
    return refilled_at


def _is_by_topics(epoch: Epoch) -> bool:
    return bool(epoch.cause.cause == "SUBSCRIPTION")


def row_of(of: OfLife, known: Known, told: Criteria) -> Wanted:
    fired = tuple(fired_of(known, told)) if _is_told(known) else ()
    observed_ms = _observed_ms(of, known)
    assignor = _assignor(known)
    incarnation = of.history.incarnation(of.life)
    holdings = of.history.holdings(of.life)
    held = {each.partition[1:] for each in holdings.spans if each.closed is None}
    values: dict[str, Any] = {
        "incarnation": incarnation,
        "offsets_partition": of.life.offsets_partition,
        "from_offset": incarnation,
        "now_ms": known.now_ms,
        "phase": known.phase,
        "members_total": len(known.members),
        "partitions_held": len(held),
        "cooperative": _cooperative(of, known),
        "verdict": _verdict(known, told, fired, observed_ms),
        "members_static": len(known.static),
        "assignor": assignor,
        "suggested_assignor": _suggested(assignor),
        "suggested_session_timeout_ms": _session_ms(known, told),
        "rules": Rules(fired, {name: client_of(known, name) for name in known.members}),
        "rules_unseen": _unseen(of, known, told, fired, observed_ms),
        "observed_ms": observed_ms,
        "software": [],
        "is_eligible": _is_eligible(known, told, fired, observed_ms),
        "broker_version": told.version,
        "migration_policy": told.policy,
        "brokers_known": "CONFIG",
    }
    left_out = "" if _is_told(known) else DELETED
    return of.history.judged(of.life, Wanted(values, (of.last.first_offset,), left_out))


def client_of(known: Known, member_id: str) -> dict[str, Any]:
    member: Member = known.members[member_id]
    return {
        "member_id": member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": member.host,
        "client_inherited": known.inherited[member_id],
        "software": None,
    }


def _observed_ms(of: OfLife, known: Known) -> Any:
    """Since the first record of the group, over offline conversions."""
    first = of.history.incarnation(of.chain[0])
    log = of.history.truth.logs[of.life.offsets_partition]
    times = {log.written(offset).at for offset in range(first.first, first.last + 1)}
    return OneOf(tuple(max(0, known.now_ms - at) for at in times))


def _cooperative(of: OfLife, known: Known) -> bool | None:
    """Of the last generation that shows it; a mixed group has none."""
    if known.last.protocol != CLASSIC:
        return None
    shown = [each.generation.cooperative for each in of.epochs]
    return next((each for each in reversed(shown) if each is not None), None)


def _assignor(known: Known) -> Any:
    if known.phase == "EMPTY":
        return None
    if known.last.protocol == CLASSIC:
        return known.last.protocol_name
    first = known.members[min(known.classic)].said
    return first.assignors[0] if first is not None and first.assignors else None


def _suggested(assignor: str | None) -> str | None:
    return "uniform" if assignor in _UNIFORM else "range" if assignor == "range" else None


def _session_ms(known: Known, told: Criteria) -> int | None:
    """What would absorb what was absorbed."""
    if not known.static or not _is_told(known):
        return None
    gaps = [each.gap_ms for each in known.back_since(told) if each.gap_ms is not None]
    need = max((known.session_ms(name) or 0 for name in known.static), default=0)
    if gaps:
        need = -(-(max(gaps) + told.heartbeat_ms) // 1000) * 1000
    return None if need <= told.session_ms else min(need, told.most_ms)


def _verdict(known: Known, told: Criteria, fired: tuple[Fired, ...], observed_ms: Any) -> str:
    severities = {each.severity for each in fired}
    for severity, verdict in ((NA, "NOT_APPLICABLE"), (BLOCK, "BLOCKED")):
        if severity in severities:
            return verdict
    if BLOCK_ONLINE in severities or not known.members:
        return "READY_OFFLINE"
    if severities & {FIX, LOOK}:
        return "WARN"
    is_watched = min(observed_ms.values) >= told.min_observed_ms
    return "READY" if is_watched else "UNKNOWN"


def _is_eligible(known: Known, told: Criteria, fired: tuple[Fired, ...], observed_ms: Any) -> bool:
    """READY, or WARN without FIX, of members of one protocol."""
    verdict = _verdict(known, told, fired, observed_ms)
    has_fix = any(each.severity == FIX for each in fired)
    can_roll = known.phase != "MIGRATING" and bool(known.members)
    return can_roll and (verdict == "READY" or (verdict == "WARN" and not has_fix))


def _unseen(
    of: OfLife, known: Known, told: Criteria, fired: tuple[Fired, ...], observed_ms: Any
) -> list[str]:
    """Without logs of brokers, and where the lookback is longer than the log."""
    unseen = ["R6", *(["R8"] if known.classic else []), *(["R13"] if known.classic else []), "R18"]
    unseen += ["R14"] if told.policy is None else []
    unseen += ["R17"] if told.version is None else []
    observed = min(observed_ms.values)
    if not is_complete(of.history, of.life) and observed < told.lookback_ms:
        unseen += ["R15", "R19", *(["R7"] if known.static else [])]
        unseen += ["R16"] if observed < HOUR_MS else []
    seen = {each.rule for each in fired}
    return sorted({*unseen} - seen, key=lambda rule: int(rule[1:]))


def judged_lives(history: History) -> Iterator[tuple[OfLife, Known]]:
    """Last lives that have a row: classic groups, and those that have members of both protocols."""
    for life in {each.group_id: each for each in history.lives}.values():
        if life.is_removed:
            continue
        course = course_of(history.truth.operations[life.group_id])
        if life.operations[-1].protocol == CLASSIC or course.phase == "MIGRATING":
            of = OfLife(history, life, course)
            yield of, of.known()


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for of, known in judged_lives(history):
        for told in CRITERIA:
            wanted[of.life.group_id, told.name] = row_of(of, known, told)
    return wanted


def _is_told(known: Known) -> bool:
    silent = [each.silent_ms for each in known.ended] + [each.gap_ms for each in known.returned]
    return not any(isinstance(each, Untold) for each in silent)


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["criteria"]


CHECK: Final = Check("readiness", _wanted, _key_of)
