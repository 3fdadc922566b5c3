"""The rules of `readiness`, each by what the truth says of one group (measures.md, Readiness); those
that logs of brokers alone show are not among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulator.compare import Between
from tests.simulator.criteria import Criteria
from tests.simulator.expected.members import rack_of
from tests.simulator.truth import CLASSIC, Member, Operation

NA, BLOCK, BLOCK_ONLINE, FIX, CHECK, INFO = "NA", "BLOCK", "BLOCK_ONLINE", "FIX", "CHECK", "INFO"
HOUR_MS: Final = 3_600_000
SESSION_SLACK_MS: Final = 1_000
MOST_MEMBERS: Final = 20
MOST_EPOCHS: Final = 16


@dataclass(frozen=True, slots=True)
class Returned:
    """An absence of a static member that its session absorbed. gap_ms: how long it may have been,
    None where no record shows that; was_away: a record shows that it had left."""

    at: int
    gap_ms: Any
    was_away: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """A member that left or was fenced. silent_ms: since its last commit, None where not told."""

    member: Member
    silent_ms: Any


@dataclass(frozen=True, slots=True)
class Known:
    """One group at the end of the log. members: by id; profiles: where each was described last;
    k2: the last one of a classic group. epochs_at, subscribed_at: times of epochs, and of those
    that a subscription caused; loops_at: of each open fence loop when it repeated. inherited: of
    each member, whether its client may be another process's."""

    now_ms: int
    phase: str
    last: Operation
    k2: Operation | None
    members: dict[str, Member]
    profiles: dict[str, Operation]
    inherited: dict[str, Any]
    returned: Sequence[Returned] = ()
    ended: Sequence[Ended] = ()
    epochs_at: Sequence[int] = ()
    subscribed_at: Sequence[int] = ()
    loops_at: Sequence[Sequence[int]] = ()
    refilled_at: int | None = None
    downgraded_by: Operation | None = None

    @property
    def classic(self) -> list[str]:
        return [name for name, each in self.members.items() if each.is_classic]

    @property
    def static(self) -> list[str]:
        return [name for name, each in self.members.items() if each.instance_id is not None]

    def session_ms(self, member_id: str) -> int | None:
        said = self.members[member_id].said
        return None if said is None else said.session_timeout_ms

    def back_since(self, told: Criteria) -> list[Returned]:
        """Of the lookback."""
        return [each for each in self.returned if each.at >= self.now_ms - told.lookback_ms]


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that fired. members: those that it is about, by id. evidence: offset of the record
    that shows it; None where the configuration does."""

    rule: str
    severity: str
    value: Any = None
    limit: Any = None
    members: Sequence[str] = field(default_factory=tuple)
    evidence: Any = None


Rule = Callable[[Known, Criteria], Fired | None]


def _type(known: Known) -> str:
    return known.last.protocol_type or "" if known.last.protocol == CLASSIC else "consumer"


def not_consumers(known: Known, told: Criteria) -> Fired | None:
    return None if _type(known) in ("", "consumer") else Fired("R1", NA)


def loses_user_data(known: Known, told: Criteria) -> Fired | None:
    said = {name: each.said for name, each in known.members.items() if each.said is not None}
    own = {name: each.assignment_user_data or 0 for name, each in said.items()}
    with_data = [name for name, length in own.items() if length]
    if known.last.protocol != CLASSIC or _type(known) != "consumer" or not with_data:
        return None
    return Fired("R3", BLOCK_ONLINE, max(own.values()), 0, with_data)


def cannot_be_read(known: Known, told: Criteria) -> Fired | None:
    unread = [
        name
        for name, each in known.members.items()
        if each.said is not None and each.said.user_data is None
    ]
    if known.last.protocol != CLASSIC or _type(known) != "consumer" or not unread:
        return None
    return Fired("R3c", BLOCK_ONLINE, members=unread)


def sessions_shrink(known: Known, told: Criteria) -> Fired | None:
    """R5, else R5a."""
    own = {name: known.session_ms(name) or 0 for name in known.static}
    for rule, most_ms in (("R5", told.most_ms), ("R5a", told.session_ms)):
        above = [name for name, session_ms in own.items() if session_ms > most_ms]
        if above:
            longest_ms = most_ms - told.heartbeat_ms
            back = known.back_since(told)
            lost = sum(each.gap_ms is not None and each.gap_ms > longest_ms for each in back)
            severities = (FIX, CHECK) if rule == "R5" else (CHECK, INFO)
            return Fired(rule, severities[not lost], lost, most_ms, above)
    return None


def crashes_are_noticed_later(known: Known, told: Criteria) -> Fired | None:
    own = {name: known.session_ms(name) for name in known.members}
    below = [name for name, ms in own.items() if ms is not None and ms < told.session_ms]
    if not below:
        return None
    crashed = sum(_is_crash(each, told) for each in known.ended)
    return Fired("R5b", CHECK if crashed else INFO, crashed, told.session_ms, below)


def _is_crash(ended: Ended, told: Criteria) -> bool:
    """By how long it had been silent."""
    silent_ms, timeout_ms = ended.silent_ms, ended.member.rebalance_timeout_ms or 0
    if silent_ms is None or silent_ms >= timeout_ms > 0:
        return False
    said = ended.member.said
    if said is not None:
        return bool(silent_ms >= said.session_timeout_ms - told.classic_heartbeat_ms)
    return bool(silent_ms >= told.session_ms - told.heartbeat_ms - SESSION_SLACK_MS)


def moves_while_mixed(known: Known, told: Criteria) -> Fired | None:
    above = [name for name in known.classic if (known.session_ms(name) or 0) > told.session_ms]
    return Fired("R5c", INFO, None, told.session_ms, above) if above else None


def taken_over(known: Known, told: Criteria) -> Fired | None:
    taken = sum(not each.was_away for each in known.back_since(told))
    if not taken or not known.static:
        return None
    return Fired("R7", CHECK, taken, None, known.static)


def racks(known: Known, told: Criteria) -> Fired | None:
    racked = [name for name, each in known.members.items() if rack_of(known.last, each) is not None]
    return Fired("R10", CHECK, len(racked), None, racked) if racked else None


def too_many(known: Known, told: Criteria) -> Fired | None:
    total = len(known.members)
    return Fired("R11", BLOCK, total, told.max_size) if total > told.max_size else None


def subscriptions(known: Known, told: Criteria) -> Fired | None:
    different = {
        (topics, each.regex)
        for each in known.members.values()
        if (topics := _subscribed(known, each)) is not None
    }
    if len(different) < 2 and not known.subscribed_at:
        return None
    members = list(known.members) if len(different) > 1 else []
    return Fired("R12", CHECK, len(different), 1, members)


def _subscribed(known: Known, member: Member) -> frozenset[str] | None:
    if known.last.protocol != CLASSIC:
        return member.subscription
    return None if member.said is None else member.said.topics


def refuses(known: Known, told: Criteria) -> Fired | None:
    return Fired("R14", BLOCK_ONLINE) if told.policy in ("downgrade", "disabled") else None


def empties(known: Known, told: Criteria) -> Fired | None:
    refilled_at = known.refilled_at
    is_refilled = refilled_at is not None and refilled_at >= known.now_ms - told.lookback_ms
    return Fired("R15", INFO) if is_refilled or not known.members else None


def is_unstable(known: Known, told: Criteria) -> Fired | None:
    epochs = min(MOST_EPOCHS, sum(at > known.now_ms - HOUR_MS for at in known.epochs_at))
    is_looping = any(_is_open(times_at, known.now_ms) for times_at in known.loops_at)
    if epochs <= told.epochs_per_hour and not is_looping:
        return None
    return Fired("R16", FIX, epochs, told.epochs_per_hour)


def _is_open(times_at: Sequence[int], now_ms: int) -> bool:
    """Three times in ten minutes, and the last time within this hour."""
    last = times_at[-3:]
    return len(last) == 3 and last[-1] - last[0] <= 600_000 and now_ms - last[-1] <= HOUR_MS


def versions(known: Known, told: Criteria) -> Fired | None:
    major, minor = (int(each) for each in (told.version or "9.9").split(".")[:2])
    if major < 4:
        return Fired("R17", BLOCK)
    return Fired("R17", INFO) if (major, minor) in ((4, 0), (4, 1)) else None


def went_back(known: Known, told: Criteria) -> Fired | None:
    if known.phase != "ROLLED_BACK" or known.downgraded_by is None:
        return None
    return Fired("R19", CHECK, known.downgraded_by.at)


RULES: Final[tuple[Rule, ...]] = (
    *(not_consumers, loses_user_data, cannot_be_read, sessions_shrink),
    *(
        crashes_are_noticed_later,
        moves_while_mixed,
        taken_over,
        racks,
        too_many,
        subscriptions,
        refuses,
        empties,
        is_unstable,
        versions,
        went_back,
    ),
)
"""In the order of their numbers."""

_OF_CONFIGURATION: Final = ("R14", "R17")


def fired_of(known: Known, told: Criteria) -> Iterator[Fired]:
    """The rules that fire, with the record that shows each."""
    for rule in RULES:
        fired = rule(known, told)
        if fired is not None:
            evidence = evidence_of(known, fired)
            yield Fired(
                fired.rule, fired.severity, fired.value, fired.limit, fired.members, evidence
            )


def evidence_of(known: Known, fired: Fired) -> Any:
    """Of one member its own record, else the last K2, or in a mixed group one of theirs."""
    if fired.rule in _OF_CONFIGURATION:
        return None
    if fired.rule == "R19" and known.downgraded_by is not None:
        return _in(known.downgraded_by)
    if len(fired.members) == 1:
        return _in(known.profiles[fired.members[0]])
    if known.k2 is not None:
        return _in(known.k2)
    own = [known.profiles[each] for each in fired.members]
    return _in(max(own, key=lambda each: each.first_offset)) if own else None


def _in(operation: Operation) -> Between:
    return Between(operation.first_offset, operation.last_offset)


@dataclass(frozen=True, slots=True)
class Rules:
    """`rules` of a row. clients: of each member the fields that stand beside a rule."""

    fired: tuple[Fired, ...]
    clients: dict[str, dict[str, Any]]

    def admits(self, value: Any) -> bool:
        if [each.get("rule") for each in value if isinstance(each, dict)] != [
            each.rule for each in self.fired
        ] or len(value) != len(self.fired):
            return False
        return all(map(self._is_so, self.fired, value))

    def _is_so(self, fired: Fired, told: dict[str, Any]) -> bool:
        members = sorted(fired.members)
        beside = [self.clients[each] for each in members[:MOST_MEMBERS]]
        same = [
            (fired.severity, told["severity"]),
            (fired.value, told["value"]),
            (fired.limit, told["limit"]),
            (len(members), told["members_count"]),
            (fired.evidence, told["evidence_offset"]),
            (None, told["evidence"]),
        ]
        return _admitted(beside, told["members"]) and all(_is(*each) for each in same)

    def __str__(self) -> str:
        return "; ".join(
            f"{each.rule} {each.severity} {each.value} of {each.limit} {sorted(each.members)}"
            f" at {each.evidence}"
            for each in self.fired
        )


def _admitted(beside: Sequence[dict[str, Any]], told: Sequence[dict[str, Any]]) -> bool:
    return len(beside) == len(told) and all(
        must.keys() == got.keys() and all(_is(value, got[name]) for name, value in must.items())
        for must, got in zip(beside, told, strict=True)
    )


def _is(must: Any, got: Any) -> bool:
    return bool(must.admits(got)) if hasattr(must, "admits") else bool(must == got)
