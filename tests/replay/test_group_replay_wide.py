"""What a record costs does not grow with its group: neither a heartbeat nor a commit walks over all
that the group has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from groupreplay.records.consumer import ConsumerGroupCurrentMemberAssignment
from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.life import Life
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from tests.bench.generate import wide_group

MEMBERS = 150
INDEXES = ("members", "holders", "target_owner", "trails", "commits", "clients", "hosts")


class Walked(dict[Any, Any]):
    """A mapping that counts how often somebody walks over all of it."""

    walks = 0

    def __iter__(self) -> Iterator[Any]:
        Walked.walks += 1
        return super().__iter__()

    def keys(self) -> Any:
        Walked.walks += 1
        return super().keys()

    def values(self) -> Any:
        Walked.walks += 1
        return super().values()

    def items(self) -> Any:
        Walked.walks += 1
        return super().items()


def walks_of(first: int) -> tuple[int, int, Life]:
    """How often heartbeats and commits walked over all that a group has, how many there were, and
    the group.

    first: offset before which the log is lost.
    """
    replay = GroupReplay("bench-wide", 0, {})
    offset = quiet = walks = 0
    life: Life | None = None
    for at, pairs in wide_group(MEMBERS):
        base, entries = offset, []
        for key, value in pairs:
            record = decode(key, value)
            assert not isinstance(record, UnknownType | Undecodable)
            entries.append(Entry(offset, at, 0, base, first - 1, record))
            offset += 1
        before = Walked.walks
        for entry in entries if base >= first else ():
            replay.replay(entry)
        replay.flush()
        kinds = (ConsumerGroupCurrentMemberAssignment, OffsetCommit)
        if life is not None and all(isinstance(entry.record, kinds) for entry in entries):
            quiet += 1
            walks += Walked.walks - before
        if replay._machine is not None and replay._machine.life is not life:
            life = replay._machine.life
            for name in INDEXES:
                setattr(life, name, Walked(getattr(life, name)))
    assert life is not None
    assert len(life.holders) == 2 * MEMBERS
    return walks, quiet, life


@pytest.mark.long
def test_heartbeats_and_commits_walk_over_nothing() -> None:
    walks, quiet, _ = walks_of(0)
    assert quiet > 10 * MEMBERS
    assert walks == 0


@pytest.mark.long
def test_behind_a_hole_members_are_asked_once_an_epoch() -> None:
    walks, quiet, life = walks_of(5)
    assert quiet > 10 * MEMBERS
    assert walks <= (life.epoch or 0)
