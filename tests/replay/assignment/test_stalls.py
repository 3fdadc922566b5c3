"""Targets that a machine forgets."""

from __future__ import annotations

import pytest

from groupreplay.replay.facts import Stall
from tests.support.building import NAMES, Log
from tests.support.replaying import replayed
from tests.support.words import Form

FORGOTTEN_AT = 64 + 2 * 2
"""A group of two members forgets reached targets when it has had more than these."""


@pytest.mark.parametrize("targets", range(FORGOTTEN_AT - 2, FORGOTTEN_AT + 4))
def test_who_goes_while_targets_are_forgotten_was_silent(targets: int) -> None:
    """A is silent from epoch 2 on; the operation that removes it has a target too."""
    log, last = Log(), targets + 1
    log.write({"k5": "A"}, {"k3": 1}, {"k7": "A"}, {"k6": 1}, {"k8": "A", "epoch": 1, "prev": 0})
    joined: list[Form] = [{"k5": "B"}, {"k3": 2}, {"k7": "B"}, {"k6": 2}]
    log.write(*joined, {"k8": "B", "epoch": 2, "prev": 0})
    for epoch in range(3, last):
        log.write({"k3": epoch}, {"k6": epoch}, {"k8": "B", "epoch": epoch, "prev": epoch - 1})
    gone: list[Form] = [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}]
    log.write(*gone, {"k3": last}, {"k6": last})
    stalls = [
        (each.since_at, each.until_at)
        for each in replayed(log.entries, NAMES)
        if isinstance(each, Stall) and each.reason == "NOT_RECONCILING" and each.member_id == "A"
    ]
    assert stalls == [(2_000, last * 1_000)]
