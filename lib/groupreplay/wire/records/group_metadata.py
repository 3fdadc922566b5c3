"""What is built of the fields of a K2: its members' embedded messages are read once the protocol
type is known, and their user data where the protocol is that of Kafka Streams.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from groupreplay.records.classic import Assignment, GroupMember, GroupMetadataValue, Subscription
from groupreplay.wire.records import embedded
from groupreplay.wire.records.streams_user_data import decode_assignment, decode_subscription
from groupreplay.wire.records.undecodable import Undecodable

STREAM: Final = "stream"
"""Name of the protocol of Kafka Streams; its type is that of all consumers
(StreamsPartitionAssignor.name).
"""


def group_metadata_value(
    protocol_type: str,
    generation: int,
    protocol: str | None,
    leader: str | None,
    state_timestamp_ms: int,
    members: tuple[tuple[Any, ...], ...],
) -> GroupMetadataValue:
    """members: their fields in wire order, embedded messages as bytes, or as kafka-dump-log parsed
    them.
    """
    if protocol_type != embedded.CONSUMER:
        built = [_member(*fields[:_METADATA], None, None) for fields in members]
    elif protocol == STREAM:
        built = [_stream_thread(fields) for fields in members]
    else:
        built = [
            _member(
                *fields[:_METADATA],
                embedded.subscription(fields[_METADATA]),
                embedded.assignment(fields[_METADATA + 1]),
            )
            for fields in members
        ]
    return GroupMetadataValue(
        protocol_type, generation, protocol, leader, state_timestamp_ms, tuple(built)
    )


_METADATA: Final = 6
"""So many fields of a member stand before its subscription and its assignment, which are last."""

_member: Final[Callable[..., GroupMember]] = GroupMember


def _stream_thread(fields: tuple[Any, ...]) -> GroupMember:
    subscribed, assigned = fields[_METADATA:]
    subscription, subscription_error = _with_subscription_info(embedded.subscription(subscribed))
    assignment, assignment_error = _with_assignment_info(embedded.assignment(assigned))
    if assigned == b"":
        assignment_error = None  # it joined and never synced, and got nothing (KAFKA-17733)
    error = subscription_error or assignment_error
    return _member(*fields[:_METADATA], subscription, assignment, error)


def _with_subscription_info(
    parsed: Subscription | None,
) -> tuple[Subscription | None, str | None]:
    """The same subscription with its user data decoded, and why it is not. A new one: parsed ones
    are shared.
    """
    if parsed is None:
        return None, "subscription: it does not parse"
    if parsed.user_data is None:
        return parsed, "subscription: no user data"
    info = decode_subscription(parsed.user_data)
    if isinstance(info, Undecodable):
        return parsed, f"subscription: {info.reason}"
    return (
        Subscription(
            parsed.topics,
            parsed.owned_partitions,
            parsed.generation_id,
            parsed.rack_id,
            parsed.user_data,
            info,
            parsed.version,
        ),
        None,
    )


def _with_assignment_info(parsed: Assignment | None) -> tuple[Assignment | None, str | None]:
    """As of a subscription."""
    if parsed is None:
        return None, "assignment: it does not parse"
    if parsed.user_data is None:
        return parsed, "assignment: no user data"
    decode = _decode_once if len(parsed.user_data) <= _BYTES_KEPT else decode_assignment
    info = decode(parsed.user_data)
    if isinstance(info, Undecodable):
        return parsed, f"assignment: {info.reason}"
    return Assignment(parsed.assigned_partitions, parsed.user_data, info), None


_BYTES_KEPT: Final = 512
_decode_once: Final = lru_cache(maxsize=1 << 10)(decode_assignment)
"""Half of what leaders give is what they gave before. What threads say is new with every join."""
