"""What holds of the facts of every log, also of one that no coordinator would write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from groupreplay.replay.decision_facts import Absence, Churn, Failover, GroupDay
from groupreplay.replay.facts import (
    Anomaly,
    Chain,
    Conversion,
    Epoch,
    Fact,
    GroupSnapshot,
    HandOver,
    HeldPartition,
    MemberLife,
    MemberState,
    Stall,
    TopicSeen,
)
from groupreplay.replay.streams_facts import (
    HeldTask,
    StreamsProcess,
    StreamsRebalance,
    StreamsSubtopology,
    TaskHandOver,
)

KEYS: dict[type[Fact], tuple[str, ...]] = {
    Epoch: ("epoch", "from_offset"),
    Conversion: ("from_offset",),
    MemberState: ("member_id", "from_offset"),
    MemberLife: ("member_id", "from_offset"),
    HeldPartition: ("member_id", "topic_id or topic", "partition", "from_offset"),
    HandOver: ("member_id", "topic_id or topic", "partition", "from_offset"),
    Stall: ("reason", "member_id", "since_at", "from_offset"),
    Chain: ("reason", "member_id", "from_offset"),
    Anomaly: ("rule", "evidence_offset", "detail_code", "detail_values"),
    TopicSeen: ("topic_id",),
    StreamsRebalance: ("epoch", "from_offset"),
    HeldTask: ("member_id", "subtopology", "partition", "role", "from_offset"),
    TaskHandOver: ("subtopology", "partition", "from_process_id", "from_offset"),
    StreamsProcess: ("process_id", "from_offset"),
    StreamsSubtopology: ("subtopology",),
    GroupSnapshot: (),
    Absence: ("identity", "from_offset"),
    Churn: ("from_offset",),
    Failover: ("leader_epoch", "from_offset"),
    GroupDay: ("day",),
}
"""Keys of the tables (docs/tables.md), within one incarnation of one group."""


def key_of(fact: Fact) -> tuple[Any, ...]:
    values = (
        (getattr(fact, "topic_id", None) or getattr(fact, "topic", None))
        if name == "topic_id or topic"
        else tuple(getattr(fact, name))
        if name == "detail_values"
        else getattr(fact, name)
        for name in KEYS[type(fact)]
    )
    return (fact.KIND, fact.incarnation, *values)


def check_facts(facts: list[Fact]) -> None:
    """What no fact may say, and no two facts together."""
    twice = [key for key, times in Counter(map(key_of, facts)).items() if times > 1]
    assert not twice, f"two rows of one key: {twice}"
    for fact in facts:
        for name in type(fact).__dataclass_fields__:
            value = getattr(fact, name)
            assert not (
                name.endswith("_ms")
                and isinstance(value, int)
                and value < 0
                and name != "timeout_ms"
            ), f"{name} is negative: {fact}"
        if fact.to_offset is not None:
            assert fact.to_offset >= fact.from_offset, f"ends before it begins: {fact}"
    assert sum(isinstance(fact, GroupSnapshot) for fact in facts) <= 1
    for fact in facts:
        if isinstance(fact, (Epoch, MemberState, HeldPartition, HandOver)) and fact.is_final:
            assert fact.to_offset is not None, f"final, and open: {fact}"
            assert getattr(fact, "outcome", "") != "OPEN", f"final, and open: {fact}"
            assert getattr(fact, "end_reason", "") != "OPEN", f"final, and open: {fact}"
    check_apart([fact for fact in facts if isinstance(fact, Epoch)], lambda fact: ())
    check_apart(
        [fact for fact in facts if isinstance(fact, MemberState)], lambda fact: (fact.member_id,)
    )
    check_apart(
        [fact for fact in facts if isinstance(fact, HeldPartition)],
        lambda fact: (fact.member_id, fact.topic_id or fact.topic, fact.partition),
    )
    check_apart(
        [fact for fact in facts if isinstance(fact, HandOver)],
        lambda fact: (fact.member_id, fact.topic_id or fact.topic, fact.partition),
    )
    check_streams(facts)


def check_streams(facts: list[Fact]) -> None:
    """Of groups of Kafka Streams. A member has a task in one role at a time."""
    check_apart([fact for fact in facts if isinstance(fact, StreamsRebalance)], lambda fact: ())
    check_apart(
        [fact for fact in facts if isinstance(fact, HeldTask)],
        lambda fact: (fact.member_id, fact.subtopology, fact.partition),
    )
    check_apart(
        [fact for fact in facts if isinstance(fact, StreamsProcess)],
        lambda fact: (fact.process_id,),
    )
    for fact in facts:
        if isinstance(fact, (TaskHandOver, StreamsRebalance)) and fact.is_final:
            assert fact.outcome != "OPEN", f"final, and open: {fact}"
        if isinstance(fact, (HeldTask, StreamsProcess)):
            assert (fact.end_reason == "OPEN") == (fact.to_offset is None), fact


def check_apart(facts: list[Any], subject: Callable[[Any], tuple[Any, ...]]) -> None:
    """Stretches of one subject follow each other: none begins before the one before it ended."""
    last: dict[tuple[Any, ...], Any] = {}
    for fact in sorted(
        facts, key=lambda fact: (fact.from_offset, fact.to_offset is None, fact.to_offset)
    ):
        before = last.get((fact.incarnation, *subject(fact)))
        assert before is None or (
            before.to_offset is not None and before.to_offset <= fact.from_offset
        ), f"{fact} begins in {before}"
        last[fact.incarnation, *subject(fact)] = fact
