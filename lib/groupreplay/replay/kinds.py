"""Which machine replays a group: chosen by the records of an operation, or by a life's protocol.

A new kind of group is one module in `protocols` and one line in `_BY_PROTOCOL`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groupreplay.records.others import OtherGroupRecord
from groupreplay.replay.life import CLASSIC, CONSUMER, SHARE, SIMPLE, STREAMS, UNKNOWN
from groupreplay.replay.machine import GroupMachine
from groupreplay.replay.operations import Operation
from groupreplay.replay.protocols.consumer_groups import ConsumerGroupMachine
from groupreplay.replay.protocols.counted_only import CountedMachine

_BY_PROTOCOL: Final[Mapping[str, type[GroupMachine]]] = {
    CLASSIC: ConsumerGroupMachine,
    CONSUMER: ConsumerGroupMachine,
    SIMPLE: ConsumerGroupMachine,
    UNKNOWN: ConsumerGroupMachine,
    SHARE: CountedMachine,
    STREAMS: CountedMachine,
}


def machine_for(protocol: str) -> type[GroupMachine]:
    """Of a life that was kept."""
    return _BY_PROTOCOL[protocol]


def machine_of(operation: Operation) -> type[GroupMachine]:
    """Of the records of an operation.

    An empty group that becomes a share or streams group has records of both kinds in it.
    """
    return CountedMachine if OtherGroupRecord in operation.kinds else ConsumerGroupMachine
