"""Rules of `readiness` that lines of brokers' logs decide: R5b, R8, R12, R13 and R18, and what the
request log says of the clients beside a rule (measures.md, Readiness)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from tests.simulator.answers import Answer
from tests.simulator.compare import OneOf, Wanted
from tests.simulator.criteria import Criteria
from tests.simulator.expected.contacts import (
    Contact,
    Membership,
    contact_of,
    contacts_in,
    memberships_of,
)
from tests.simulator.expected.history import History
from tests.simulator.expected.ready_rules import (
    BLOCK_ONLINE,
    CHECK,
    INFO,
    MOST_MEMBERS,
    Fired,
    Known,
    crashes_are_noticed_later,
    evidence_of,
    subscriptions,
)
from tests.simulator.expected.rebalances import rebalances_of
from tests.simulator.expected.refusals import Run, came_of, runs_of
from tests.simulator.expected.rejoins import WRITTEN_LATE_MS, LineOf, Rejoin
from tests.simulator.lives import Life

RULES: Final = ("R5b", "R8", "R12", "R13", "R18")
TOPICS_CHANGED: Final = "cached metadata has changed"
"""ConsumerCoordinator.rejoinNeededOrPending of the Java client."""
UPGRADE_REFUSED: Final = "Cannot upgrade classic group"
_EXPIRED: Final = "SESSION_EXPIRED"
_FULL: Final = {"librdkafka": (2, 12), "apache-kafka-java": (4, 0)}
_RDKAFKA: Final = "rdkafka-"
_KNOWS_RACKS: Final = 3
"""Version of subscriptions of clients from 3.5 on."""


@dataclass(frozen=True, slots=True)
class Number:
    """From least to most, as the columns of rules have it."""

    least: float
    most: float

    def admits(self, value: Any) -> bool:
        return isinstance(value, float) and self.least <= value <= self.most

    def __str__(self) -> str:
        return f"{self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class OfLines:
    """One of these rules as it may be told; "nothing" among them: it does not fire. line: of a log,
    that it says is its evidence. clients: of each member what stands beside a rule."""

    rules: Sequence[tuple[Fired, Any]]
    clients: Mapping[str, Mapping[str, Any]]
    may_be_quiet: bool = False

    def admits(self, value: Any) -> bool:
        if value is None:
            return self.may_be_quiet or not self.rules
        return any(self._is_so(fired, line, value) for fired, line in self.rules)

    def _is_so(self, fired: Fired, line: Any, told: Mapping[str, Any]) -> bool:
        members = sorted(fired.members)
        beside = [self.clients[each] for each in members[:MOST_MEMBERS]]
        same = [
            (fired.severity, told["severity"]),
            (fired.value, told["value"]),
            (fired.limit, told["limit"]),
            (len(members), told["members_count"]),
            (fired.evidence, told["evidence_offset"]),
            (line, told["evidence"]),
            (len(beside), len(told["members"])),
        ]
        are_they = all(
            _is(value, got[name])
            for must, got in zip(beside, told["members"], strict=False)
            for name, value in must.items()
        )
        return are_they and all(_is(*each) for each in same)

    def __str__(self) -> str:
        told = [f"{fired}, line {line}" for fired, line in self.rules]
        return " or ".join([*told, *(["nothing"] if self.may_be_quiet or not told else [])])


def _is(must: Any, got: Any) -> bool:
    return bool(must.admits(got)) if hasattr(must, "admits") else bool(must == got)


@dataclass
class Lines:
    """What lines say of the last life of a group."""

    history: History
    life: Life
    known: Known
    ends: Mapping[Any, Wanted]
    rejoins: Sequence[Rejoin]
    contacts: dict[str, Contact] = field(default_factory=dict)

    def __post_init__(self) -> None:
        of_group = contacts_in(self.history, self.life.group_id)
        for each in self.memberships:
            contact = contact_of(of_group.get(each.member_id, ()), each)
            if each.ended is None and contact is not None:
                self.contacts[each.member_id] = contact

    @cached_property
    def memberships(self) -> list[Membership]:
        return list(memberships_of(self.life))

    def software(self, member_id: str) -> tuple[str, str] | None:
        """Name and version, None where no line shows it."""
        contact = self.contacts.get(member_id)
        if contact is None:
            return None
        first = contact.granted[0]
        return first.software_name or "", first.software_version or ""

    @property
    def first_software(self) -> str:
        """By name, of the live members."""
        found = [each for name in self.known.members if (each := self.software(name))]
        return min(found)[0] if found else "?"

    def client(self, member_id: str, by_topic: Mapping[str, Any]) -> dict[str, Any]:
        """What stands beside a rule: the process that sends requests is the one that lives."""
        contact = self.contacts.get(member_id)
        if contact is None:
            return dict(by_topic)
        signs = [each for each in contact.said if "commit" not in each.kind]
        hosts = tuple({each.client_host for each in signs})
        return {
            **by_topic,
            "client_id": contact.granted[0].client_id,
            "client_host": OneOf(hosts),
            "client_inherited": False,
            "software": " ".join(self.software(member_id) or ()),
        }

    def unseen(self) -> list[str]:
        """Requests of classic members alone show these rules."""
        classic = self.known.classic
        is_seen = any(self.software(each) for each in classic)
        return ["R8", "R13"] if classic and not is_seen else []

    # ------------------------------------------------------------ the rules

    def rules(self, told: Criteria, clients: Mapping[str, Mapping[str, Any]]) -> dict[str, OfLines]:
        found = {
            "R5b": (self._crashed(told), False),
            "R8": (self._old_clients(), False),
            "R12": (self._subscriptions(told), False),
            "R13": self._slow(),
            "R18": (self._refused(), False),
        }
        return {
            name: OfLines([(self._at(fired), line) for fired, line in rules], clients, is_maybe)
            for name, (rules, is_maybe) in found.items()
        }

    def _at(self, fired: Fired) -> Fired:
        return Fired(
            fired.rule,
            fired.severity,
            fired.value,
            fired.limit,
            fired.members,
            None if fired.rule == "R18" else evidence_of(self.known, fired),
        )

    def _crashed(self, told: Criteria) -> list[tuple[Fired, None]]:
        """By the line that says how each member went."""
        fired = crashes_are_noticed_later(replace(self.known, ended=()), told)
        if fired is None:
            return []
        sure = most = 0
        for each in self.memberships:
            if each.ended is None:
                continue
            end = self.ends[self.life.group_id, each.member_id, each.opened.first_offset]
            if end.values.get("end_reason") in ("REPLACED", "GROUP_REMOVED"):
                continue
            detail = end.values.get("end_detail")
            sure += detail == _EXPIRED
            is_one = isinstance(detail, OneOf) and _EXPIRED in detail.values
            most += detail == _EXPIRED or is_one or bool(end.left_out)
        return [
            (Fired("R5b", CHECK if count else INFO, count, fired.limit, fired.members), None)
            for count in range(sure, most + 1)
        ]

    def _old_clients(self) -> list[tuple[Fired, None]]:
        old = [name for name in self.known.classic if self._is_old(name)]
        return [(Fired("R8", CHECK, None, None, old), None)] if old else []

    def _is_old(self, member_id: str) -> bool:
        software = self.software(member_id)
        if software is None:
            said = self.known.members[member_id].said
            layout = None if said is None else said.version
            return layout is not None and layout < _KNOWS_RACKS
        name, version = software
        if _RDKAFKA in version:
            name, version = "librdkafka", version.split(_RDKAFKA, 1)[1]
        full = _FULL.get(name)
        return full is None or tuple(int(each) for each in version.split(".")) < full

    def _subscriptions(self, told: Criteria) -> list[tuple[Fired, None]]:
        """By clients' words too: the topics that they subscribe to changed."""
        begins = self.history.chain(self.life)[0].operations[0].true_at
        said_at = tuple(
            each.begun.broker_at
            for each in self.history.made_of_all(rebalances_of)
            if each.group_id == self.life.group_id
            and each.begun.at >= begins
            and TOPICS_CHANGED in (each.begun.client_reason or "")
        )
        subscribed_at = (*self.known.subscribed_at, *said_at)
        fired = subscriptions(replace(self.known, subscribed_at=subscribed_at), told)
        return [(fired, None)] if fired is not None else []

    def _slow(self) -> tuple[list[tuple[Fired, Any]], bool]:
        """Whoever took half its time. Lines are written late, by some ms."""
        longest = dict(self._longest())
        sure = {name for name, each in longest.items() if each.part(-WRITTEN_LATE_MS) >= _HALF}
        likely = {name for name, each in longest.items() if each.part(WRITTEN_LATE_MS) >= _HALF}
        if sure != likely or not sure:
            return [], bool(likely)
        best = max(longest[name].part(-WRITTEN_LATE_MS) for name in sure)
        worst = [longest[name] for name in sure if longest[name].part(WRITTEN_LATE_MS) >= best]
        return [(each.fired(sorted(sure)), each.line) for each in worst], False

    def _longest(self) -> Iterator[tuple[str, Slow]]:
        for name, member in self.known.members.items():
            timeout_ms = member.rebalance_timeout_ms or 0
            own = [
                Slow(each.told, each.join.received_at - each.told.at, timeout_ms)
                for each in self.rejoins
                if each.member_id == name and each.told is not None and each.join is not None
            ]
            if own and timeout_ms > 0:
                yield name, max(own, key=lambda each: each.took_ms)

    def _refused(self) -> list[tuple[Fired, Any]]:
        """Of an online upgrade, within a week; a history is shorter."""
        runs = [each for each in self._runs() if _is_upgrade(each)]
        if not runs:
            return []
        requests = sum(len(each.attempts) for each in runs)
        first = min(runs, key=lambda each: each.last.at).first
        return [(Fired("R18", BLOCK_ONLINE, requests, None), LineOf(first))]

    def _runs(self) -> Iterator[Run]:
        answers = self.history.truth.answers.of_groups.get(self.life.group_id, ())
        return runs_of(self.life.group_id, answers, came_of(answers))


_HALF: Final = 0.5


@dataclass(frozen=True, slots=True)
class Slow:
    """How long a member took to join again, at most, since it was told to."""

    told: Answer
    took_ms: int
    timeout_ms: int

    def part(self, late_ms: int) -> float:
        """Of its rebalance timeout, if lines are late."""
        return (self.took_ms + late_ms) / self.timeout_ms

    @property
    def line(self) -> LineOf:
        return LineOf(self.told)

    def fired(self, members: Sequence[str]) -> Fired:
        took = Number(self.took_ms - WRITTEN_LATE_MS, self.took_ms + WRITTEN_LATE_MS)
        return Fired("R13", CHECK, took, self.timeout_ms, members)


def _is_upgrade(run: Run) -> bool:
    return (run.first.message or "").startswith(UPGRADE_REFUSED)


def software_in(history: History, life: Life) -> set[str]:
    """Names, of the members that are in a life at its end."""
    of_group = contacts_in(history, life.group_id)
    found = set()
    for each in memberships_of(life):
        contact = contact_of(of_group.get(each.member_id, ()), each)
        if each.ended is None and contact is not None:
            found.add(contact.granted[0].software_name or "")
    return found
