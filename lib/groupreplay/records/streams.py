"""What members of classic Kafka Streams groups put into the user data of K2: SubscriptionInfo and
AssignmentInfo, metadata versions 1 to 11.

Source: streams/src/main/java/org/apache/kafka/streams/processor/internals/assignment/
SubscriptionInfo.java, AssignmentInfo.java; SubscriptionInfoData.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Task = tuple[str, int]
"""Subtopology and partition. The subtopology is its number as text, behind `<topology>__` where a
named topology has it, as Kafka's TaskId prints it.
"""

LATEST_OFFSET: Final = -2
"""Sum of a task that runs active at the member (Task.LATEST_OFFSET)."""

UNKNOWN_OFFSET_SUM: Final = -3
"""Sum of any other task with state there, as versions below 7 have it. No later one writes it."""

NEWER_STREAMS_METADATA: Final = "NEWER_STREAMS_METADATA"
"""In the reason why user data of a version that is not known yet is not read: of such, Kafka too
reads no more than the two version numbers.
"""

NO_VERSION: Final = -1
"""Where versions 1 and 2 have no second version number (StreamsAssignmentProtocolVersions.UNKNOWN).
"""


@dataclass(slots=True)
class SubscriptionInfo:
    """What a stream thread says as it joins.

    version: metadata version that the thread writes in.
    latest_version: highest metadata version that the thread supports, NO_VERSION in versions 1
        and 2.
    process_id: Java's text of the uuid; all threads of one KafkaStreams instance share it.
    offset_sums: changelog offsets of a task, added up, or one of the two constants above.
    endpoint: application.server, None for none.
    unique_field: int8 that grows with every join of the thread; None below version 8.
    error_code: code of an AssignorError that the thread reports, 0 if none and below version 9.
    client_tags: `client.tag.*`, from version 11 on.
    """

    version: int
    latest_version: int
    process_id: str
    offset_sums: dict[Task, int]
    endpoint: str | None
    unique_field: int | None
    error_code: int
    client_tags: dict[str, str]


@dataclass(slots=True)
class AssignmentInfo:
    """What the leader gives to one thread.

    version: metadata version that the leader writes in.
    common_version: highest metadata version that all members support, NO_VERSION in versions 1
        and 2.
    active: one entry for each assigned partition, in the order of (topic, partition).
    standby: replica -> the input partitions of its task, as (topic, partition).
    error_code: code of an AssignorError that the leader sends, 0 if none.
    next_rebalance_ms: when to join again, by the client's clock, 0 at once; None for not, and below
        version 7.
    hosts: what the leader says of `application.server` and its partitions, as it is written.
    """

    version: int
    common_version: int
    active: tuple[Task, ...]
    standby: dict[Task, tuple[tuple[str, int], ...]]
    error_code: int
    next_rebalance_ms: int | None
    hosts: tuple[object, ...] = ()
