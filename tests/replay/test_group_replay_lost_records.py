"""Records of a group that could not be decoded."""

from __future__ import annotations

import pytest

from groupreplay.replay.facts import Fact
from groupreplay.replay.group_replay import GroupReplay
from tests.support.building import NAMES, Log
from tests.support.replaying import carried, difference, fact_keys, replayed

LOST = 11
"""Offset of the record that asks A for partition 1."""


def asked_and_given_up(*, is_hole: bool) -> Log:
    log = Log()
    log.write(
        {"k5": "A"},
        {"k3": 1},
        {"k7": "A", "target": {"foo": [0, 1]}},
        {"k6": 1},
        {"k8": "A", "epoch": 1, "prev": 0, "assigned": {"foo": [0, 1]}},
    )
    log.write(
        {"k5": "B"},
        {"k3": 2},
        {"k7": "A", "target": {"foo": [0]}},
        {"k7": "B", "target": {"foo": [1]}},
        {"k6": 2},
        {"k8": "B", "epoch": 2, "prev": 0, "state": "UNRELEASED_PARTITIONS"},
    )
    log.skip(1, is_hole=is_hole)
    log.write({"k8": "A", "epoch": 2, "prev": 1, "assigned": {"foo": [0]}})
    log.write({"k8": "B", "epoch": 2, "prev": 2, "assigned": {"foo": [1]}})
    return log


def replayed_without(log: Log, lost: int, *, cut: bool) -> list[Fact]:
    machine, facts = GroupReplay("g", 0, NAMES), list[Fact]()
    for entry in log.entries:
        if entry.offset == lost + 1:
            machine.lose(lost)
            if cut:
                machine.flush()
                facts += machine.take_facts()
                machine = carried(machine, "g", 0, NAMES)
        machine.replay(entry)
    machine.flush()
    return facts + machine.take_facts() + machine.open_facts()


@pytest.mark.parametrize("cut", [False, True], ids=["one night", "two nights"])
def test_a_record_that_could_not_be_decoded_is_as_good_as_lost(cut: bool) -> None:
    """Else the hand-over would be one that nobody asked for, and its rows would tell durations."""
    wanted = fact_keys(replayed(asked_and_given_up(is_hole=True).entries, NAMES))
    got = fact_keys(replayed_without(asked_and_given_up(is_hole=False), LOST, cut=cut))
    assert got == wanted, difference(wanted, got)
    assert wanted != fact_keys(replayed(asked_and_given_up(is_hole=False).entries, NAMES))
