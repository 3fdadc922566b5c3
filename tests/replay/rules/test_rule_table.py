"""Every invariant on a recorded log that was changed to break it; and on logs of healthy brokers,
whole or with holes: none may be called broken.

The rule must fire, at the record that was changed, and must not have fired before.

Holds replay/rules/of_members.py, replay/rules/of_streams_classic.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from groupreplay.records.entries import Entry, Record
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.facts import Anomaly
from groupreplay.replay.rules.rule import ERROR, INFO, WARN
from groupreplay.replay.rules.rule_table import RULES
from tests.support import broken_logs
from tests.support.broken_logs import Mutation
from tests.support.broken_streams_classic_logs import STREAMS_CLASSIC_MUTATIONS
from tests.support.broken_streams_logs import STREAMS_MUTATIONS
from tests.support.changed_logs import Log, spread
from tests.support.recordings import RecordedGroup, all_groups, group
from tests.support.replaying import replayed
from tests.support.sentences import said

MUTATIONS = [*broken_logs.MUTATIONS, *STREAMS_CLASSIC_MUTATIONS, *STREAMS_MUTATIONS]
_NAMES = [
    f"{rule_id}-{mutation.__name__}-{recording}" for rule_id, recording, _, mutation in MUTATIONS
]


def anomalies(log: Sequence[Entry], recorded: RecordedGroup) -> Iterator[Anomaly]:
    return (
        fact
        for fact in replayed(log, recorded.names, (), recorded.group_id, recorded.offsets_partition)
        if isinstance(fact, Anomaly)
    )


@pytest.mark.parametrize(("rule_id", "recording", "group_id", "mutation"), MUTATIONS, ids=_NAMES)
def test_a_rule_fires_on_the_record_that_breaks_it(
    rule_id: str, recording: str, group_id: str, mutation: Mutation
) -> None:
    recorded = group(recording, group_id)
    rule = RULES[rule_id]
    assert not [a for a in anomalies(recorded.entries, recorded) if a.rule == rule.name]
    broken = mutation(list(recorded.entries))
    found = [a for a in anomalies(broken.log, recorded) if a.rule == rule.name]
    assert found, f"{rule.name} did not fire"
    assert {a.severity for a in found} == {rule.severity}
    assert broken.evidence & {a.evidence_offset for a in found}, (
        f"{rule.name} points at {[a.evidence_offset for a in found]}, not at {broken.evidence}"
    )
    assert all(
        a.offsets_partition == recorded.offsets_partition and a.group_id == group_id and said(a)
        for a in found
    )


@pytest.mark.parametrize(("rule_id", "recording", "group_id", "mutation"), MUTATIONS, ids=_NAMES)
def test_behind_a_hole_the_same_record_breaks_nothing(
    rule_id: str, recording: str, group_id: str, mutation: Mutation
) -> None:
    """But where what is wrong lies within one operation: no hole explains that."""
    recorded = group(recording, group_id)
    broken = mutation(list(recorded.entries))
    if broken.hidden_from is None:
        return
    roomy = spread(broken.log)
    hole = roomy[broken.hidden_from].offset - 1
    holed = [entry._replace(last_hole=hole) if entry.offset > hole else entry for entry in roomy]
    found = [
        a
        for a in anomalies(holed, recorded)
        if a.rule == RULES[rule_id].name and a.evidence_offset // 10 in broken.evidence
    ]
    assert not found, f"{found[0].rule}: {said(found[0])}"


def test_every_rule_has_a_mutation() -> None:
    assert {rule_id for rule_id, *_ in MUTATIONS} == RULES.keys()
    of_groups = {f"I{number}" for number in (1, 2, *range(4, 23), 24)}
    of_tasks = {f"S{number}" for number in (*range(1, 14), 15, 16)}
    of_streams_groups = {f"T{number}" for number in range(1, 22) if number != 17} | {"T16R"}
    assert RULES.keys() == of_groups | of_tasks | of_streams_groups


def test_rules_say_what_they_mean() -> None:
    for rule_id, rule in RULES.items():
        assert rule.name.startswith(f"{rule_id}_")
        assert rule.meaning
        assert rule.severity in (ERROR, WARN, INFO)


@pytest.mark.parametrize(
    "recorded", list(all_groups()), ids=lambda g: f"{g.recording}-{g.group_id}"
)
def test_no_rule_is_called_broken_on_a_healthy_broker(recorded: RecordedGroup) -> None:
    assert not list(anomalies(recorded.entries, recorded))


# ---------------------------------------------------------------- logs with holes


def thinned(log: Sequence[Entry], is_kept: Callable[[int], bool]) -> Log:
    """What is left of a log, and where the rest is missing."""
    left: Log = []
    hole = -1
    for index, entry in enumerate(log):
        if is_kept(index):
            left.append(entry._replace(last_hole=max(hole, entry.last_hole)))
        else:
            hole = entry.offset
    return left


def compacted(log: Sequence[Entry], until: int, keeps_tombstones: bool) -> Log:
    """As the log cleaner leaves it: below `until` only the latest record of every key."""
    latest = {_key(log[index].record): index for index in range(until)}

    def is_kept(index: int) -> bool:
        record = log[index].record
        return index >= until or (
            latest[_key(record)] == index
            and (keeps_tombstones or getattr(record, "value", None) is not None)
        )

    return thinned(log, is_kept)


def _key(record: Record) -> tuple[Any, ...]:
    if isinstance(record, OffsetCommit):
        return (OffsetCommit, record.topic, record.partition)
    return (
        type(record),
        getattr(record, "key_type", 0),
        getattr(record, "member_id", ""),
        getattr(record, "regular_expression", ""),
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "recorded", list(all_groups()), ids=lambda g: f"{g.recording}-{g.group_id}"
)
def test_holes_and_compaction_break_no_rule(recorded: RecordedGroup) -> None:
    """What is missing may explain anything: not even a warning is given."""
    chance = random.Random(f"{recorded.recording} {recorded.group_id}")
    for _ in range(3):
        kept = chance.choice([0.5, 0.8, 0.95, 0.99])
        marks = [chance.random() < kept for _ in recorded.entries]
        until = chance.randrange(1, len(recorded.entries) + 1)
        for what, log in (
            ("thinned", thinned(recorded.entries, marks.__getitem__)),
            ("compacted", compacted(recorded.entries, until, keeps_tombstones=True)),
            ("compacted long ago", compacted(recorded.entries, until, keeps_tombstones=False)),
        ):
            found = [a for a in anomalies(log, recorded) if a.severity != "INFO"]
            assert not found, (
                f"{what}: {found[0].rule} at {found[0].evidence_offset}: {said(found[0])}"
            )


def test_severities_are_those_that_a_person_can_rely_on() -> None:
    """WARN where the reference is not sure enough of the rule: queues of timers, owners that are
    only counted, subscriptions that shrink, versions and assignors that are not known.
    """
    assert {rule_id for rule_id, rule in RULES.items() if rule.severity != ERROR} == {
        "I12",
        "I13",
        "I17",
        "I21",
        "I22",
        "I24",
        *("S1", "S8", "S9", "S10", "S11", "S12", "S13", "S15", "S16"),
        *("T2", "T4", "T5", "T6", "T11", "T12", "T14", "T16R", "T19"),
    }
