"""A machine leaves no cycles: tasks collect none (`workers.task`), so what refers to itself would
stay in memory until the last group of a task is done.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence

import pytest

from groupreplay.replay.group_replay import GroupReplay
from tests.support.recordings import RecordedGroup, groups, recordings


@pytest.mark.long
@pytest.mark.parametrize("recording", sorted(recordings()))
def test_a_machine_leaves_no_cycles(recording: str) -> None:
    found = groups(recording)
    assert found
    was_on = gc.isenabled()
    gc.disable()
    try:
        # A collection walks over all that the session holds: one for all groups, and one for each
        # where something was left.
        assert _left_by(found) == 0, {each.group_id: _left_by([each]) for each in found}
    finally:
        if was_on:
            gc.enable()


def _left_by(found: Sequence[RecordedGroup]) -> int:
    """Objects that only the collector gives back."""
    gc.collect()
    for each in found:
        _replay(each)
    return gc.collect()


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
