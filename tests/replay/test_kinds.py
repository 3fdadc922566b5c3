"""Which machine replays what an operation holds."""

from __future__ import annotations

import pytest

from groupreplay.replay.kinds import machine_of
from groupreplay.replay.machine import GroupMachine
from groupreplay.replay.operations import Operation
from groupreplay.replay.protocols.consumer_groups import ConsumerGroupMachine
from groupreplay.replay.protocols.counted_only import CountedMachine
from groupreplay.replay.protocols.streams import StreamsGroupMachine
from tests.support.building import Log
from tests.support.words import Form


@pytest.mark.parametrize(
    ("forms", "kind"),
    [
        ([{"k3": 1}], ConsumerGroupMachine),
        ([{"k2": 1}], ConsumerGroupMachine),
        ([{"other": 11, "value": {"epoch": 1}}], CountedMachine),
        ([{"otherx": 11}], CountedMachine),
        ([{"streams_group": 2}], StreamsGroupMachine),
        ([{"streams_currentx": "A"}, {"streams_groupx": 1}], StreamsGroupMachine),
        ([{"k2x": True}, {"streams_member": "A"}], StreamsGroupMachine),
        ([{"streams_groupx": 1}, {"k2": 0}], StreamsGroupMachine),
        ([{"otherx": 10, "member": "A"}, {"streams_member": "A"}], StreamsGroupMachine),
    ],
)
def test_records_choose_the_machine(forms: list[Form], kind: type[GroupMachine]) -> None:
    assert machine_of(Operation(Log().write(*forms))) is kind
