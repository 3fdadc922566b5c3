"""`coordinator_events`, as joins with the topic complete it: the groups that live in the partition,
or had an epoch there, and how many epochs began soon after (evidence.md, coordinator events)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulator.compare import Key, LineAt, Wanted
from tests.simulator.expected import coordinator_events, migration_progress
from tests.simulator.expected.coordinator_events import shown_of
from tests.simulator.expected.group_epochs import epochs_of
from tests.simulator.expected.history import Check, History

AFTER_MS: Final = 60_000
NAMED: Final = 100


@dataclass(slots=True)
class _Partition:
    """groups: that have a row in `migration_progress`, or an epoch. begun_at: of its epochs."""

    groups: set[str] = field(default_factory=set)
    begun_at: list[int] = field(default_factory=list)


def _wanted(history: History) -> dict[Key, Wanted]:
    partitions: dict[int, _Partition] = defaultdict(_Partition)
    for (group_id, *_), row in migration_progress.CHECK.wanted(history).items():
        partitions[row.values["offsets_partition"]].groups.add(str(group_id))
    for life in history.lives:
        for epoch in epochs_of(history, life):
            partition = partitions[life.offsets_partition]
            partition.groups.add(life.group_id)
            if life.is_seen_to_begin(epoch.opened):
                partition.begun_at.append(epoch.opened.at)
    return {
        shown.key: Wanted(
            {
                **_values(partitions[shown.offsets_partition], shown.call.broker_at),
                "evidence": LineAt("server_log", shown.call.position),
            },
            (),
        )
        for shown in shown_of(history)
    }


def _values(partition: _Partition, at: int) -> dict[str, Any]:
    return {
        "groups": len(partition.groups),
        "group_ids": sorted(partition.groups)[:NAMED],
        "epochs_after": sum(at <= begun <= at + AFTER_MS for begun in partition.begun_at),
    }


CHECK: Final = Check("event_groups", _wanted, coordinator_events.CHECK.key_of)
