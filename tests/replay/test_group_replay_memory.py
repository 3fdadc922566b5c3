"""A machine leaves no cycles: tasks collect none (`workers.task`), so what refers to itself would
stay in memory until the last group of a task is done.
"""

from __future__ import annotations

import gc

import pytest

from groupreplay.replay.group_replay import GroupReplay
from tests.support.recordings import RecordedGroup, groups, recordings


@pytest.mark.parametrize("recording", sorted(recordings()))
def test_a_machine_leaves_no_cycles(recording: str) -> None:
    found = groups(recording)
    assert found
    left = {}
    was_on = gc.isenabled()
    gc.disable()
    try:
        for each in found:
            gc.collect()
            _replay(each)
            left[each.group_id] = gc.collect()
    finally:
        if was_on:
            gc.enable()
    assert {group_id: objects for group_id, objects in left.items() if objects} == {}


def _replay(group: RecordedGroup) -> None:
    """As a slice does: facts, open facts and state are taken, and the state is read again."""
    replay = GroupReplay(group.group_id, group.offsets_partition, group.names)
    for entry in group.entries:
        replay.replay(entry)
    replay.flush()
    replay.take_facts()
    replay.open_facts()
    state = replay.state()
    if state is not None:
        GroupReplay.restore(group.group_id, group.offsets_partition, group.names, state)
