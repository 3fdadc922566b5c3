"""Loads of partitions of the offsets topic that failed, by what the loader was made to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.simulator.compare import OneOf
from tests.simulator.expected.history import History
from tests.simulator.injected import Injected

_NOT_LEADER: Final = "org.apache.kafka.common.errors.NotLeaderOrFollowerException"


def failures_of(history: History) -> Mapping[tuple[int, int], Injected]:
    """(partition, leader epoch) -> the load that failed."""
    found = {}
    for event in history.truth.injected:
        if event.what == "load failed":
            partition, leader_epoch, _ = event.detail.split(" ", 2)
            found[int(partition), int(leader_epoch)] = event
    return found


def why_of(failure: Injected) -> OneOf:
    """What the broker says of it: brokers before 4.2 name the exception too."""
    why = failure.detail.split(" ", 2)[2]
    return OneOf((why, f"{_NOT_LEADER}: {why}"))
