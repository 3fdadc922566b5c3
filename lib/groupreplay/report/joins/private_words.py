"""Words that may stand in texts where clients are hidden: those that Kafka and this package write
there themselves.

A sentence that is not here loses its words, and no more: `report.joins.privacy` leaves out what it
does not know.
"""

from __future__ import annotations

from typing import Final

from groupreplay.evidence.refusal_runs import ERRORS

_SERVER_REASONS: Final = """
NEW_MEMBER REJOINED LEADER_REJOINED METADATA_CHANGED STATIC_METADATA_CHANGED STATIC_PROTOCOL_CHANGED LEFT SESSION_EXPIRED SYNC_TIMEOUT
ASSIGNMENT_NOT_STORED DOWNGRADED OVER_CAPACITY COORDINATOR_LOAD LEAVE_HEARTBEAT LEAVE_GROUP ADMIN_REMOVAL REBALANCE_TIMEOUT JOIN_TIMEOUT
POLICY SIZE CUSTOM_ASSIGNOR MALFORMED NOT_CONSUMER_PROTOCOL UPGRADE_REFUSED heartbeat offset-commit txn-offset-commit
"""
"""Kinds that `wire.text.rebalance_reasons`, `wire.text.server_templates` and `evidence.removals`
give.
"""

_CLIENT_REASONS: Final = """
group is already rebalancing
the consumer is being closed
the consumer unsubscribed from all topics
consumer poll timeout has expired
consumer pro-actively leaving the group
need to revoke partitions and re-join
need to re-join with the given member-id:
triggered followup rebalance scheduled for 0
rebalance enforced by user
rebalance failed due to NotCoordinatorException CoordinatorLoadInProgressException CoordinatorNotAvailableException RebalanceInProgressException
DisconnectException MemberIdRequiredException UnknownMemberIdException IllegalGenerationException FencedInstanceIdException TimeoutException
IllegalStateException
"""
"""AbstractCoordinator, ConsumerCoordinator and StreamsPartitionAssignor of the Java client."""

_ERROR_MESSAGES: Final = """
Member .. is not a member of group
Static member .. with instance id .. cannot join the group because the instance id is owned by .. member
Static member .. with instance id .. was fenced by member
Cannot upgrade classic group .. to consumer group because an unsupported custom assignor is in use. Please refer to the documentation or switch to a
default assignor before re-attempting the upgrade
Cannot upgrade classic group .. because the online upgrade is disabled the group size exceeds the consumer group maximum size
Cannot upgrade because the group does not use the consumer embedded protocol is malformed
The consumer group has reached its maximum capacity of .. members
The member epoch is stale fenced, member must rejoin group abandon all partitions and rejoin
The assignor .. is not supported. Supported assignors
The group coordinator is not available. This is not the correct coordinator. The coordinator is loading and hence can't process requests
For requests intended only for the leader, this error indicates that the broker is not the current leader. For requests intended for any replica, this
error indicates that the broker is not a replica of the topic partition
The given member is not in the group. The request timed out. The group id does not exist.
Failed to compute a new target assignment for epoch: Partitions were left unassigned
Members are subscribed to topic .. which doesn't exist in the topic metadata
Index 1 out of bounds for length 1. No value present
"""
"""GroupMetadataManager, its assignors, Errors.java and what Java itself says."""

_STUCK: Final = """
1 attempts, the last for epoch requests were told that the coordinator is not there nobody joined missing: dropped: refused
"""

_UNDECODED: Final = """
bytes after the end of gzip cannot be opened read on gzip ends early is broken shorter by than when it was planned
no value record of the batch cannot be read value is cut ends early key of type bytes too many too short for a type unknown version too short for a
kafka-dump-log could not decode it not JSON not an object with data text of kafka-dump-log 3.7 or older is no array base64 number to object text uuid
key is no JSON (print with --offsets-decoder) marker line is cut record lines are missing has
a count of where are left a length of a varint is over-long ends inside a uuid null where the layout has none presence byte tag does not fill its size
a line of more than a time base offset before in segment that begins at last or more was due compression codec records says
errorCode groupId groupsNames array of objects whole in milliseconds bits
no request at the configured field No line of this has been seen yet, and this is none
no time that can be read stands before the request other JSON around the line, and no field of the message is configured and so more lines
the JSON is broken, cut or none words of no layout that is known stand before the request damaged
"""

WORDS: Final[frozenset[str]] = frozenset(
    word.strip(",.:;()[]")
    for text in (
        _SERVER_REASONS,
        _CLIENT_REASONS,
        _ERROR_MESSAGES,
        _STUCK,
        _UNDECODED,
        " ".join(ERRORS.values()),
    )
    for word in text.split()
)
