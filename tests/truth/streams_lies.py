"""Facts of Kafka Streams that are not true: what the replay said with one fact changed, dropped or
added. Each names the check that has to find it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from groupreplay.config.model import Thresholds
from groupreplay.replay.facts import Chain, Conversion, Fact, GroupSnapshot, Stall
from groupreplay.replay.streams_facts import (
    HeldTask,
    StreamsProcess,
    StreamsRebalance,
    StreamsSubtopology,
    TaskHandOver,
)
from tests.truth import streams_checks as of_rebalances
from tests.truth import streams_group_checks as of_groups
from tests.truth import streams_move_checks as of_moves
from tests.truth import streams_span_checks as of_spans
from tests.truth.streams_checks import Check
from tests.truth.streams_stuck_checks import restores_end, stuck

CLASSIC = "streams-classic-4.3"
STREAMS = "streams-protocol-4.3"

MINUTE_MS = 60_000
LATER_MS = 5_000
"""More than any log is late."""

stuck_for_a_minute = partial(
    stuck, thresholds=Thresholds(learner_ms=MINUTE_MS, restoring_ms=MINUTE_MS)
)
"""The script held its learners for some minutes."""

Change = Callable[[Any], Fact | None]
"""A fact -> what is told in its stead; None: nothing."""

TELLING = 12
"""How many facts, spread over all that fit, are changed, each by itself."""


@dataclass(frozen=True, slots=True)
class Lie:
    """fits: the facts of which it is told.

    found: how many of them, at least, the check has to find; None: every one. A check that asks at
    certain moments only cannot know the rest.
    """

    check: Check
    recording: str
    kind: type[Fact]
    name: str
    change: Change
    is_added: bool = False
    fits: Callable[[Any], bool] = lambda fact: True
    found: int | None = None

    def __str__(self) -> str:
        check = getattr(self.check, "__name__", "stuck")
        return f"{check}-{self.kind.KIND}-{self.name}"

    def told(self, facts: list[Fact]) -> Iterator[tuple[Fact, list[Fact]]]:
        """(the fact, all facts with the lie in its place)"""
        places = [
            place
            for place, fact in enumerate(facts)
            if isinstance(fact, self.kind) and self.fits(fact)
        ]
        for place in places[:: max(1, len(places) // TELLING)]:
            lie = self.change(facts[place])
            kept = facts[place : place + 1] if self.is_added else []
            instead = [] if lie is None else [lie]
            yield facts[place], [*facts[:place], *kept, *instead, *facts[place + 1 :]]


def dropped(fact: Fact) -> None:
    """Nothing is told."""


def with_(**values: Any) -> Change:
    return lambda fact: replace(fact, **values)


def later(*fields: str, by: int = LATER_MS) -> Change:
    return lambda fact: replace(fact, **{name: getattr(fact, name) + by for name in fields})


def has(*fields: str) -> Callable[[Any], bool]:
    return lambda fact: all(getattr(fact, name) is not None for name in fields)


def _is(**values: Any) -> Callable[[Any], bool]:
    return lambda fact: all(getattr(fact, name) == value for name, value in values.items())


def _both(*conditions: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda fact: all(condition(fact) for condition in conditions)


def _of_rebalances() -> Iterator[Lie]:
    generation = partial(Lie, of_rebalances.generations, CLASSIC, StreamsRebalance)
    yield generation("dropped", dropped)
    yield generation("twice", later("from_offset", by=1), is_added=True)
    for name in ("epoch", "decided_at", "join_ended_at"):
        yield generation(name, later(name))
    counts = ("members", "processes", "tasks", "tasks_active", "tasks_owed")
    for name in (*counts, "standby_copies", "warmup_copies", "tasks_misplaced"):
        yield generation(name, later(name, by=1), fits=has(name))
    for name in ("leader_member_id", "leader_process_id", "next_member_id"):
        yield generation(name, with_(**{name: "someone"}), fits=has(name))
    yield generation("cause", with_(cause="CONFIG"), fits=lambda fact: fact.cause != "UNKNOWN")
    yield generation("next_kind", with_(next_kind="VERSION"))
    yield generation("next_at", later("next_at", by=100), fits=has("next_at"))
    epoch = partial(
        Lie, of_rebalances.epochs, STREAMS, StreamsRebalance, fits=_is(protocol="streams")
    )
    yield epoch("dropped", dropped)
    yield epoch("twice", later("from_offset", by=1), is_added=True)
    yield epoch("epoch", later("epoch"))
    yield epoch("join_ended_at", later("join_ended_at"))
    yield epoch("cause", with_(cause="REFINED"))
    sampled = partial(Lie, of_rebalances.sampled_epochs, STREAMS, StreamsRebalance)
    for name in ("epoch", "members"):
        yield sampled(name, later(name, by=1), found=6)
    yield sampled("decided_at", with_(decided_at=None), found=6)


def _of_spans() -> Iterator[Lie]:
    is_active = _is(role="ACTIVE")

    def is_copy(fact: HeldTask) -> bool:
        return fact.role != "ACTIVE"

    def in_the_other_role(fact: HeldTask) -> HeldTask:
        return replace(fact, role="STANDBY" if fact.role == "WARMUP" else "WARMUP")

    def ends_otherwise(fact: HeldTask) -> HeldTask:
        is_run = fact.end_reason in ("PROMOTED", "MOVED_IN_PROCESS")
        return replace(fact, end_reason="WITHDRAWN" if is_run else "PROMOTED")

    another_task = later("partition", by=100)
    decided = partial(Lie, of_spans.decided_by_leaders, CLASSIC, HeldTask)
    yield decided("dropped", dropped)
    yield decided("of another task", another_task, is_added=True)
    yield decided("role", in_the_other_role, fits=is_copy)
    yield decided("member", with_(member_id="someone"))
    yield decided("too early", later("assigned_at", by=-LATER_MS), found=5)
    yield decided("never released", with_(released_at=None), fits=has("released_at"))
    given = partial(Lie, of_spans.given_to_threads, CLASSIC, HeldTask)
    yield given("dropped", dropped, fits=is_active)
    yield given("copy dropped", dropped, fits=is_copy)
    said = partial(Lie, of_spans.said_by_the_broker, STREAMS, HeldTask)
    # A classic member has no state, and one of a streams group some that last too short.
    yield said("dropped", dropped, found=10)
    yield said("role", in_the_other_role, fits=is_copy, found=15)
    yield said("member", with_(member_id="someone"), found=10)
    for recording in (CLASSIC, STREAMS):
        sampled = partial(Lie, of_spans.sampled, recording, HeldTask, fits=is_active)
        yield sampled(f"dropped {recording}", dropped, found=10)
        edges = partial(Lie, of_spans.edges, recording, HeldTask)
        yield edges(f"assigned {recording}", later("assigned_at", by=-LATER_MS), found=8)
        ended = has("released_at")
        yield edges(f"released {recording}", later("released_at"), fits=ended)
        ends = partial(Lie, of_spans.ends_of_replicas, recording, HeldTask)
        copies = _both(is_copy, lambda fact: fact.end_reason not in of_spans.GONE)
        yield ends(f"end_reason {recording}", ends_otherwise, fits=copies)
        yield ends(f"process_id {recording}", with_(process_id="another"))


def _of_moves() -> Iterator[Lie]:
    granted = has("granted_at")
    classic = partial(Lie, of_moves.classic_hand_overs, CLASSIC, TaskHandOver)
    yield classic("dropped", dropped)
    yield classic("twice", later("from_offset", by=1), is_added=True)
    for name in ("from_member_id", "from_process_id", "to_process_id", "outcome", "cause"):
        yield classic(name, with_(**{name: "ANOTHER"}))
    stateful = _both(granted, lambda fact: fact.cause != "STATELESS")
    yield classic("hand_over_kind", with_(hand_over_kind="ANOTHER"), fits=stateful)
    for name in ("released_at", "granted_at", "unowned_ms"):
        yield classic(name, later(name), fits=granted)
    ready = partial(Lie, of_moves.readiness, CLASSIC, TaskHandOver)
    warmed = _both(_is(hand_over_kind="WARMED"), lambda f: f.from_process_id != f.to_process_id)
    for name in ("learning_started_at", "last_not_ready_at", "ready_at"):
        yield ready(name, later(name), fits=warmed)
    lacked = _both(has("gap_records"), lambda f: f.from_process_id != f.to_process_id)
    yield ready("gap_records", later("gap_records", by=2), fits=lacked)
    yield ready("no gap_records", with_(gap_records=None), fits=lacked)
    heard = partial(Lie, of_moves.heard_by_clients, CLASSIC, TaskHandOver)
    yield heard("granted_at", later("granted_at", by=4 * LATER_MS), fits=granted, found=12)
    restored = partial(Lie, of_moves.restored, CLASSIC, TaskHandOver)
    cold = _both(_is(hand_over_kind="COLD"), has("gap_records"))
    yield restored("gap_records", later("gap_records", by=2), fits=cold)
    streams = partial(Lie, of_moves.streams_hand_overs, STREAMS, TaskHandOver)
    yield streams("dropped", dropped)
    yield streams("twice", later("from_offset", by=1), is_added=True)
    for name in ("to_member_id", "to_process_id"):
        yield streams(name, with_(**{name: "another"}))
    yield streams("hand_over_kind", with_(hand_over_kind="DORMANT"), fits=granted)
    for name in ("released_at", "granted_at"):
        yield streams(name, later(name), fits=granted)
    asked = has("requested_at", "revoke_ms")
    for name in ("requested_at", "revoke_ms"):
        yield streams(name, later(name), fits=asked)


def _of_groups() -> Iterator[Lie]:
    for recording in (CLASSIC, STREAMS):
        process = partial(Lie, of_groups.processes, recording, StreamsProcess)
        yield process(f"dropped {recording}", dropped)
        yield process(f"twice {recording}", later("joined_at"), is_added=True)
        for name in ("threads", "members", "restarts"):
            yield process(f"{name} {recording}", later(name, by=1))
        yield process(f"joined_at {recording}", later("joined_at"))
        yield process(f"left_at {recording}", with_(left_at=None), fits=has("left_at"))
        shape = partial(Lie, of_groups.subtopologies, recording, StreamsSubtopology)
        yield shape(f"dropped {recording}", dropped)
        yield shape(f"tasks {recording}", later("tasks", by=1))
        yield shape(f"is_stateful {recording}", with_(is_stateful=False))
        progress = partial(Lie, of_groups.progress, recording, GroupSnapshot)
        yield progress(f"dropped {recording}", dropped)
        for name in ("phase", "protocol", "streams_protocol"):
            yield progress(f"{name} {recording}", with_(**{name: "consumer"}))
        yield progress(f"members_total {recording}", later("members_total", by=1))
    reads = has("changelog_topics")
    for name in ("source_topics", "changelog_topics"):
        changed = with_(**{name: ["another"]})
        yield Lie(of_groups.subtopologies, STREAMS, StreamsSubtopology, name, changed, fits=reads)
    conversion = partial(Lie, of_groups.conversions, STREAMS, Conversion)
    yield conversion("dropped", dropped)
    yield conversion("twice", later("converted_at"), is_added=True)
    yield conversion("direction", with_(direction="UPGRADE"))
    yield conversion("mode", with_(mode="ONLINE"))
    yield conversion("converted_at", later("converted_at", by=MINUTE_MS))


def _of_the_stuck() -> Iterator[Lie]:
    def who_learns(fact: Stall) -> bool:
        return fact.reason == "LEARNER_NEVER_READY" and (fact.repetitions or 0) >= 3

    def who_is_told(fact: Stall) -> bool:
        slow = {"SLOW_REVOCATION", "WAITING_ON_HOLDER"}
        until = fact.until_at or fact.since_at
        return fact.reason in slow and until - fact.since_at > 12_000

    def for_long(fact: Stall) -> Stall:
        return replace(fact, since_at=fact.since_at - 100 * MINUTE_MS)

    of_learner = partial(Lie, stuck_for_a_minute, CLASSIC, Stall, fits=who_learns)
    yield of_learner("learner dropped", dropped)
    yield of_learner("learner since", later("since_at"))
    yield of_learner("learner until", later("until_at", by=-2 * MINUTE_MS))
    yield of_learner("learner repetitions", later("repetitions", by=1))
    yield of_learner("learner detail", with_(detail_code="LEARNER_GROWS"))
    yield of_learner("someone else learns", with_(client_id="else", member_id="else"))
    slow = partial(Lie, stuck_for_a_minute, STREAMS, Stall, fits=who_is_told)
    yield slow("slow dropped", dropped)
    yield slow("someone else is slow", with_(member_id="else"))
    yield slow("slow since", later("since_at", by=1_000))
    looping = {"HANDOVER_BOUNCED", "FENCE_LOOP"}
    chain = partial(Lie, stuck_for_a_minute, CLASSIC, Chain, fits=lambda f: f.reason in looping)
    yield chain("chain dropped", dropped)
    yield chain("chain cut", lambda f: replace(f, times_at=f.times_at[1:], ends_at=f.ends_at[1:]))
    yield chain("of another reason", with_(reason="EPOCH_STORM"))
    for recording in (CLASSIC, STREAMS):
        healthy = partial(Lie, stuck_for_a_minute, recording, Stall)
        short = _both(lambda f: not who_learns(f), lambda f: f.reason != "PROBING_LOOP")
        yield healthy(f"lasts {recording}", for_long, fits=short, found=9)
    going_on = with_(reason="RESTORING", since_at=0, until_at=None)
    yield Lie(restores_end, CLASSIC, Stall, "restores on", going_on, fits=has("member_id"))


LIES = (*_of_rebalances(), *_of_spans(), *_of_moves(), *_of_groups(), *_of_the_stuck())
