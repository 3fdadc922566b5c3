"""Which machine replays a group: chosen by the records of an operation, or by a life's protocol.

A new kind of group is one module in `protocols` and two lines here: its protocol in `_BY_PROTOCOL`,
its records in `machine_of`.
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
from groupreplay.replay.protocols.streams import StreamsGroupMachine
from groupreplay.replay.streams.groups.group_records import STREAMS_GROUP_METADATA

_BY_PROTOCOL: Final[Mapping[str, type[GroupMachine]]] = {
    CLASSIC: ConsumerGroupMachine,
    CONSUMER: ConsumerGroupMachine,
    SIMPLE: ConsumerGroupMachine,
    UNKNOWN: ConsumerGroupMachine,
    SHARE: CountedMachine,
    STREAMS: StreamsGroupMachine,
}


def machine_for(protocol: str) -> type[GroupMachine]:
    """The machine of a life that was kept."""
    return _BY_PROTOCOL[protocol]


def machine_of(operation: Operation) -> type[GroupMachine]:
    """The machine of the records of an operation.

    An empty group that becomes a share or streams group has records of both kinds in it. Values
    come before tombstones: they show what the group is from now on.
    """
    records = [e.record for e in operation.entries if isinstance(e.record, OtherGroupRecord)]
    if not records:
        return ConsumerGroupMachine
    first = next((record for record in records if record.value is not None), records[0])
    is_streams = first.key_type >= STREAMS_GROUP_METADATA
    return StreamsGroupMachine if is_streams else CountedMachine
