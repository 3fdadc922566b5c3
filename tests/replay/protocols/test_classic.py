"""Who made the assignment of each classic generation."""

from __future__ import annotations

import pytest

from groupreplay.records.classic import GroupMetadata
from groupreplay.replay.facts import Epoch
from tests.support.recordings import RecordedGroup, groups
from tests.support.replaying import replayed


@pytest.mark.parametrize(
    "recorded",
    [each for name in ("classic-3.9", "migration-4.3") for each in groups(name)],
    ids=lambda each: f"{each.recording}-{each.group_id}",
)
def test_the_leader_is_the_one_that_the_k2_names(recorded: RecordedGroup) -> None:
    leaders = {
        entry.offset: entry.record.value.leader
        for entry in recorded.entries
        if isinstance(entry.record, GroupMetadata) and entry.record.value is not None
    }
    told = replayed(
        recorded.entries, recorded.names, (), recorded.group_id, recorded.offsets_partition
    )
    epochs = [each for each in told if isinstance(each, Epoch)]
    assert {each.leader_member_id for each in epochs if each.protocol == "consumer"} <= {None}
    classic = [each for each in epochs if each.protocol == "classic" and each.members]
    for each in classic:
        if each.cause != "DOWNGRADE":
            assert each.leader_member_id == leaders[each.from_offset], each
