"""The rules of streams groups: every one fires first where its log was broken, and says all that it
can say; none does on recorded logs that are cut, or that lack anything, nor where a later broker
may do otherwise.

Holds replay/rules/of_streams_members.py, replay/rules/of_streams_records.py.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.records.others import OtherGroupRecord
from groupreplay.replay.facts import Anomaly
from groupreplay.replay.rules.rule_table import RULES
from groupreplay.replay.rules.streams_rule_table import (
    STREAMS_GROUP_DETAILS,
    STREAMS_GROUP_RULES,
)
from tests.support.broken_logs import Mutation
from tests.support.broken_streams_logs import (
    RECORDING,
    STABLE,
    STREAMS_MUTATIONS,
    field,
    first_task,
    member_of,
    plus,
    said,
    tombstone,
    where,
    with_fields,
)
from tests.support.changed_logs import Log, altered, doubled, dropped, find
from tests.support.recordings import RecordedGroup, all_groups, group
from tests.support.replaying import boundaries, replayed

TIMES = 12
_OF_STREAMS = {rule.name for rule in STREAMS_GROUP_RULES.values()}
_GROUPS = [
    each
    for each in all_groups()
    if any(isinstance(e.record, OtherGroupRecord) and e.record.key_type >= 17 for e in each.entries)
]
_IDS = [f"{each.recording}-{each.group_id}" for each in _GROUPS]


def broken(
    log: Sequence[Entry], recorded: RecordedGroup, cuts: Sequence[int] = ()
) -> list[Anomaly]:
    """What breaks a rule of streams groups."""
    facts = replayed(log, recorded.names, cuts, recorded.group_id, recorded.offsets_partition)
    return [fact for fact in facts if isinstance(fact, Anomaly) and fact.rule in _OF_STREAMS]


# ---------------------------------------------------------------- logs that break them


@pytest.mark.parametrize(
    ("rule_id", "recording", "group_id", "mutation"),
    STREAMS_MUTATIONS,
    ids=[f"{rule_id}-{mutation.__name__}" for rule_id, *_, mutation in STREAMS_MUTATIONS],
)
def test_a_rule_fires_first_where_its_log_was_broken(
    rule_id: str, recording: str, group_id: str, mutation: Mutation
) -> None:
    """Later records may be at odds with the changed one."""
    recorded = group(recording, group_id)
    changed = mutation(list(recorded.entries))
    found = [a for a in broken(changed.log, recorded) if a.rule == RULES[rule_id].name]
    assert min(a.evidence_offset for a in found) in changed.evidence


def test_every_sentence_is_said_of_some_log() -> None:
    codes = {
        a.detail_code
        for _, recording, group_id, mutation in STREAMS_MUTATIONS
        for a in broken(
            mutation(list(group(recording, group_id).entries)).log, group(recording, group_id)
        )
    }
    assert codes >= STREAMS_GROUP_DETAILS.keys()


@pytest.mark.long
@pytest.mark.parametrize("mutation", [m for *_, m in STREAMS_MUTATIONS], ids=lambda m: m.__name__)
def test_a_night_between_changes_nothing_of_what_is_found(mutation: Mutation) -> None:
    group_id = next(each for _, _, each, m in STREAMS_MUTATIONS if m is mutation)
    recorded = group(RECORDING, group_id)
    log = mutation(list(recorded.entries)).log
    whole = [(a.rule, a.evidence_offset, a.detail_values) for a in broken(log, recorded)]
    changes = [at for at in boundaries(log) if not isinstance(log[at].record, OffsetCommit)]
    cut = broken(log, recorded, changes)
    assert [(a.rule, a.evidence_offset, a.detail_values) for a in cut] == whole


# ---------------------------------------------------------------- healthy logs


def parts_of(log: Sequence[Entry], chance: random.Random) -> Iterator[tuple[str, Log]]:
    """What may be left of a log: its end; all but some records in a row; all but some of one type;
    all but any.
    """
    start = chance.choice(boundaries(log))
    yield f"from {log[start].offset}", list(log[start:])
    first = chance.randrange(1, len(log) - 1)
    last = first + chance.choice([1, 1, 2, 3, 5, 10, 40])
    yield f"without {first} to {last}", holed(log, lambda index: not first <= index < last)
    key_type = chance.choice([17, 19, 20, 21, 22, 23])
    lost = {i for i in range(len(log)) if chance.random() < 0.3}
    yield (
        f"without some K{key_type}",
        holed(log, lambda i: i not in lost or getattr(log[i].record, "key_type", 0) != key_type),
    )
    share = chance.choice([0.3, 0.6, 0.9])
    some = {i for i in range(len(log)) if chance.random() < share}
    yield f"{len(some)} records", holed(log, some.__contains__)


def holed(log: Sequence[Entry], is_kept: Any) -> Log:
    left: Log = []
    hole = -1
    for index, entry in enumerate(log):
        if is_kept(index):
            left.append(entry._replace(last_hole=max(hole, entry.last_hole)))
        else:
            hole = entry.offset
    return left


@pytest.mark.long
@pytest.mark.parametrize("recorded", _GROUPS, ids=_IDS)
def test_a_part_of_a_recorded_log_breaks_none(recorded: RecordedGroup) -> None:
    assert not broken(recorded.entries, recorded)
    chance = random.Random(f"{recorded.recording} {recorded.group_id}")
    for _ in range(TIMES):
        for what, log in parts_of(recorded.entries, chance):
            found = [(a.rule, a.evidence_offset, a.detail_values) for a in broken(log, recorded)]
            assert not found, f"{what}: {found[0]}"


def test_there_are_groups_of_several_brokers() -> None:
    assert {each.recording for each in _GROUPS} >= {RECORDING, "other-groups-4.2"}


# ---------------------------------------------------------------- what 4.4 may do otherwise


def rules_broken(group_id: str, log: Log) -> set[str]:
    return {a.rule.split("_")[0] for a in broken(log, group(RECORDING, group_id))}


def log_of(group_id: str) -> Log:
    return list(group(RECORDING, group_id).entries)


def test_an_epoch_may_be_repeated_to_describe_the_topology() -> None:
    log = log_of("kstreams-churn")
    index = find(log, where(17, epoch=4))
    again = with_fields(doubled(log, index), index + 1, stored_description_topology_epoch=0)
    assert rules_broken("kstreams-churn", again) == set()
    other = with_fields(again, index + 1, metadata_hash=1)
    assert rules_broken("kstreams-churn", other) == {"T1"}


def test_a_static_member_that_left_keeps_its_state() -> None:
    log = log_of("kstreams-churn")
    index = find(log, where(22, state=2))
    away = with_fields(
        log, index, member_epoch=-2, active_tasks_pending_revocation=[], active_tasks=[]
    )
    assert "T9" not in rules_broken("kstreams-churn", away[: index + 1])


def test_a_replaced_static_member_begins_no_epoch() -> None:
    """Tombstones of the old member, a K19 of the new one of the same instance."""
    log = log_of("kstreams-standby")
    index = find(log, tombstone(22))
    joined = find(log, where(19))
    new = with_fields(log, joined, instance_id="one")[joined].record
    replaced = altered(log, index + 3, new)
    assert "T18" not in rules_broken("kstreams-standby", replaced[: index + 4])
    nameless = altered(log, index + 3, log[joined].record)
    assert "T18" in rules_broken("kstreams-standby", nameless[: index + 4])


def test_a_demoted_member_may_have_the_standby_while_its_task_is_pending() -> None:
    log = log_of("kstreams-standby")
    index = find(log, where(22, state=2, active_tasks_pending_revocation=True))
    task = first_task(field(log, index, "active_tasks_pending_revocation"))
    demoted = with_fields(log, index, standby_tasks=plus([], *task))
    assert "T14" not in rules_broken("kstreams-standby", demoted)
    task = first_task(field(log, index, "active_tasks"))
    twice = with_fields(log, index, standby_tasks=plus([], *task))
    assert "T14" in rules_broken("kstreams-standby", twice)


def test_while_somebody_warms_up_nobody_need_have_its_target() -> None:
    log = log_of("kstreams-standby")
    index = find(log, where(22, state=STABLE, standby_tasks=True))
    warming = with_fields(
        log,
        index,
        standby_tasks=[],
        warmup_tasks=field(log, index, "standby_tasks"),
    )
    assert rules_broken("kstreams-standby", warming[: index + 1]) == set()
    idle = with_fields(log, index, standby_tasks=[])
    assert rules_broken("kstreams-standby", idle[: index + 1]) == {"T10"}


def test_a_replica_may_stay_until_its_member_runs_the_task() -> None:
    """What a broker of 4.3 took first is still there when the member waits for the task."""
    log = log_of("kstreams-standby")
    index = find(
        log,
        lambda r: where(22, state=3, active_tasks=True, standby_tasks=True)(r),
    )
    target = next(
        value
        for e in reversed(log[:index])
        if (value := said(e.record, 21)) is not None
        and getattr(e.record, "member_id", "") == member_of(log, index)
    )
    held = {p for each in field(log, index, "active_tasks") for p in each["partitions"]}
    wanted = {p for each in target["active_tasks"] for p in each["partitions"]} - held
    standbys = field(log, index, "standby_tasks")
    for partition in sorted(wanted):
        kept = with_fields(log, index, standby_tasks=plus(standbys, "0", partition))
        assert "T11" not in rules_broken("kstreams-standby", kept[: index + 1])
    other = with_fields(log, index, standby_tasks=plus(standbys, "0", 99))
    assert wanted
    assert "T11" in rules_broken("kstreams-standby", other[: index + 1])


def test_a_hole_may_hide_the_epoch_of_a_removal() -> None:
    """A removal whose K17 is lost with what follows it is not called one without an epoch."""
    log = log_of("kstreams-standby")
    index = find(log, tombstone(22))
    kept = dropped(log, index + 3)
    hole = log[index + 3].offset
    behind = [e._replace(last_hole=hole) if e.offset > hole else e for e in kept]
    assert rules_broken("kstreams-standby", behind) == set()
    # Its K20 is of an epoch that nothing began.
    assert rules_broken("kstreams-standby", kept) == {"T18", "T3"}
