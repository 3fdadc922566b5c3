"""The lines that Kafka's group coordinators write to a broker's log, as templates: what a message looks like and which event it is.

The scala coordinator (up to 3.9) and the java one (3.7 to 4.4), INFO and DEBUG, by the class that logs. Source of the texts:
core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala and GroupMetadataManager.scala, group-coordinator/src/main/java/org/apache/kafka/
coordinator/group/*.java, coordinator-common/src/main/java/org/apache/kafka/coordinator/common/runtime/CoordinatorRuntime.java.
"""

from __future__ import annotations

from groupreplay.wire.text.line_template import Template, template

# ---------------------------------------------------------------- names; unless told otherwise of GroupMetadataManager

MEMBER_ID_REQUESTED = "MEMBER_ID_REQUESTED"  # a classic join without id was answered with one; also GroupCoordinator (scala)
MEMBER_JOINED = "MEMBER_JOINED"  # one line per attempt; also GroupCoordinator (scala)
STATIC_MEMBER_RETURNED = "STATIC_MEMBER_RETURNED"  # member_id replaces other_member_id (classic: not told by what); also GroupCoordinator (scala)
STATIC_MEMBER_RETURNED_QUIETLY = "STATIC_MEMBER_RETURNED_QUIETLY"  # no rebalance, group not told; also GroupCoordinator (scala)
STATIC_MEMBER_REFUSED = "STATIC_MEMBER_REFUSED"  # UNRELEASED_INSTANCE_ID: other_member_id owns the instance id
STATIC_MEMBER_FENCED = "STATIC_MEMBER_FENCED"  # FENCED_INSTANCE_ID; ClassicGroup and GroupCoordinator (scala) with the operation, without group
MEMBER_LEFT = "MEMBER_LEFT"  # also GroupCoordinator (scala)
MEMBER_LEFT_TEMPORARILY = "MEMBER_LEFT_TEMPORARILY"  # a static one
PENDING_MEMBER_LEFT = "PENDING_MEMBER_LEFT"  # had an id and never joined with it; also GroupCoordinator (scala)
PENDING_MEMBER_EXPIRED = "PENDING_MEMBER_EXPIRED"  # the same, by its session; also GroupCoordinator (scala)
MEMBER_FENCED = "MEMBER_FENCED"  # detail: SESSION_EXPIRED, REBALANCE_TIMEOUT, JOIN_TIMEOUT, SYNC_TIMEOUT
TIMEOUT_MOOT = "TIMEOUT_MOOT"  # DEBUG: a timer found nobody to fence
MEMBER_ASSIGNMENT = "MEMBER_ASSIGNMENT"  # new assignment state; epoch is the member's
SUBSCRIPTION_CHANGED = "SUBSCRIPTION_CHANGED"
METADATA_COMPUTED = "METADATA_COMPUTED"
REGEX_REFRESHED = "REGEX_REFRESHED"
REGEX_FAILED = "REGEX_FAILED"
GROUP_EPOCH_BUMPED = "GROUP_EPOCH_BUMPED"
TARGET_COMPUTED = "TARGET_COMPUTED"  # detail: the assignor
TARGET_FAILED = "TARGET_FAILED"  # detail: the assignor's error
CONVERTED_TO_CONSUMER = "CONVERTED_TO_CONSUMER"  # detail: ONLINE or EMPTY
CONVERTED_TO_CLASSIC = "CONVERTED_TO_CLASSIC"  # the same
CONVERTED_TO_OTHER = "CONVERTED_TO_OTHER"  # an empty group, to share or streams: protocol
UPGRADE_REFUSED = "UPGRADE_REFUSED"  # detail: POLICY, NOT_CONSUMER_PROTOCOL, SIZE, MALFORMED, CUSTOM_ASSIGNOR
DOWNGRADE_REFUSED = "DOWNGRADE_REFUSED"  # detail: POLICY, SIZE, MALFORMED
CLASSIC_JOIN_REFUSED = "CLASSIC_JOIN_REFUSED"  # to a consumer group; detail: POLICY
JOIN_PHASE_STARTED = "JOIN_PHASE_STARTED"  # epoch: the old generation; detail: `wire.text.rebalance_reasons`; also GroupCoordinator (scala)
JOIN_PHASE_ENDED = "JOIN_PHASE_ENDED"  # also GroupCoordinator (scala)
ASSIGNMENT_RECEIVED = "ASSIGNMENT_RECEIVED"  # also GroupCoordinator (scala)
MEMBER_FAILED = "MEMBER_FAILED"  # a classic session expired; also GroupCoordinator (scala)
MEMBERS_MISSED_JOIN = "MEMBERS_MISSED_JOIN"  # also GroupCoordinator (scala)
MEMBERS_MISSED_SYNC = "MEMBERS_MISSED_SYNC"  # DEBUG; also GroupCoordinator (scala)
LEADER_MISSED_JOIN = "LEADER_MISSED_JOIN"  # ClassicGroup: member_id leads instead of other_member_id; GroupMetadata (scala)
REBALANCE_NOBODY_JOINED = "REBALANCE_NOBODY_JOINED"  # also GroupCoordinator (scala)
GROUP_EMPTY = "GROUP_EMPTY"  # a classic one; also GroupCoordinator (scala)
GROUP_LOADED = "GROUP_LOADED"  # also GroupCoordinator (scala)
GROUP_UNLOADED = "GROUP_UNLOADED"  # also GroupCoordinator (scala)
GROUP_DEAD = "GROUP_DEAD"  # scala
GROUPS_DELETED = (
    "GROUPS_DELETED"  # GroupCoordinatorShard, GroupCoordinator (scala); detail: the ids with ", " between them; group_id: if there is one
)
GROUPS_CLEANED_UP = "GROUPS_CLEANED_UP"  # GroupCoordinatorShard: offsets and groups expired; count: tombstones
OFFSETS_DELETED = "OFFSETS_DELETED"  # GroupCoordinator (scala), of one group
OFFSETS_EXPIRED = "OFFSETS_EXPIRED"  # scala
TOPIC_OFFSETS_DELETED = "TOPIC_OFFSETS_DELETED"  # GroupCoordinatorShard, GroupCoordinator (scala); detail: the deleted topics
SIMPLE_GROUP_CREATED = "SIMPLE_GROUP_CREATED"  # OffsetMetadataManager, GroupCoordinator (scala)
METADATA_NOT_WRITTEN = "METADATA_NOT_WRITTEN"  # of a classic group
SHARD_ELECTED = "SHARD_ELECTED"  # GroupCoordinator (scala)
SHARD_RESIGNED = "SHARD_RESIGNED"  # GroupCoordinator (scala)
SHARD_LOADING = "SHARD_LOADING"  # CoordinatorRuntime; scala: GroupMetadataManager, as the next five
SHARD_LOADED = "SHARD_LOADED"  # count: records, java alone
SHARD_LOAD_FAILED = "SHARD_LOAD_FAILED"
SHARD_UNLOADING = "SHARD_UNLOADING"
SHARD_UNLOADED = "SHARD_UNLOADED"
SHARD_NOT_MOVED = "SHARD_NOT_MOVED"  # an order to load or unload that had no effect
SHARD_OUT_OF_SYNC = "SHARD_OUT_OF_SYNC"  # CoordinatorRuntime
WRITE_FAILED = "WRITE_FAILED"  # CoordinatorRuntime
REPLAY_FAILED = "REPLAY_FAILED"  # CoordinatorRuntime
OPERATION_FAILED = "OPERATION_FAILED"  # CoordinatorRuntime, GroupCoordinatorService: an unexpected exception; with a group: of a heartbeat or a join
TIMER_RESCHEDULED = (
    "TIMER_RESCHEDULED"  # EventBasedCoordinatorTimer; detail: its key, session-timeout-<group>-<member>, which only a known group splits
)
TIMER_DROPPED = "TIMER_DROPPED"  # the same
SERVICE = "SERVICE"  # GroupCoordinatorService, CoordinatorRuntime, GroupCoordinator (scala); detail: STARTING, STARTED, STOPPING, STOPPED
HOUSEKEEPING = "HOUSEKEEPING"  # says nothing about a group's life: known, and of no use

_G = "<not streams>[GroupId <G>] "
_S = "[GroupId <G>][MemberId <M>] "
_SESSION, _REBALANCE, _JOIN, _SYNC = "SESSION_EXPIRED", "REBALANCE_TIMEOUT", "JOIN_TIMEOUT", "SYNC_TIMEOUT"
_STREAMS_FENCED = "[GroupId <G>] Streams member <M> fenced from the group because "  # the reason ends with a full stop, and so does the line
_LEFT_BY_REQUEST = "has left group through explicit `LeaveGroup` request; client reason: <R>"

_MODERN: tuple[Template, ...] = (
    template(GROUP_EPOCH_BUMPED, _G + "Bumped group epoch to <E>."),
    template(GROUP_EPOCH_BUMPED, _G + "Bumped group epoch to <E> with metadata hash <#>."),
    template(GROUP_EPOCH_BUMPED, _S + "Bumped streams group epoch to <E> with metadata hash <#>.", protocol="streams"),
    template(GROUP_EPOCH_BUMPED, _S + "Bumped streams group epoch to <E> with metadata hash <#> and validated topic epoch <#>.", protocol="streams"),
    template(MEMBER_JOINED, _G + "Member <M> joins the {consumer|share} group using the <p> protocol."),
    template(MEMBER_JOINED, _G + "Member <M> joins the consumer group.", protocol="consumer"),
    template(MEMBER_JOINED, _S + "Member joins the streams group.", protocol="streams"),
    template(MEMBER_JOINED, _G + "Static member <M> with instance id <I> joins the consumer group using the <p> protocol."),
    template(MEMBER_JOINED, _G + "Static member <M> with instance id <I> joins the consumer group.", protocol="consumer"),
    template(MEMBER_JOINED, _S + "Static member with instance id <I> joins the streams group.", protocol="streams"),
    template(MEMBER_JOINED, _S + "Static member <w> with instance id <I> joins the streams group.", protocol="streams"),
    template(
        MEMBER_ID_REQUESTED,
        _G + "Dynamic member with unknown member id joins the consumer group. Created a new member id <M> and requesting the member to rejoin with"
        " this id.",
        protocol="classic",
    ),
    template(
        STATIC_MEMBER_RETURNED,
        _G + "Static member with instance id <I> re-joins the consumer group using the <p> protocol. Created a new member <M> to replace the existing"
        " member <M1>.",
    ),
    template(
        STATIC_MEMBER_RETURNED,
        _S + "Static member with instance id <I> re-joins the streams group using the <p> protocol. Created a new member <w> to replace the existing"
        " member <M1>.",
    ),
    template(STATIC_MEMBER_RETURNED, _G + "Static member <M> with instance id <I> re-joins the consumer group.", protocol="consumer"),
    template(STATIC_MEMBER_RETURNED, _G + "Static member <M> with instance id <I> re-joins the consumer group using the <p> protocol."),
    template(
        STATIC_MEMBER_REFUSED,
        _G + "Static member <M> with instance id <I> cannot join the group because the instance id is {is |}owned by member <M1>.",
    ),
    template(STATIC_MEMBER_FENCED, _G + "Static member <M> with instance id <I> is fenced by existing member <M1>."),
    template(MEMBER_LEFT, _G + "Member <M> left the consumer group.", protocol="consumer"),
    template(MEMBER_LEFT, _G + "Member <M> left the share group.", protocol="share"),
    template(MEMBER_LEFT, _G + "Member <M> left the streams group.", protocol="streams"),
    template(MEMBER_LEFT, "[GroupId <G>][MemberId <w>] Member <M> left the streams group.", protocol="streams"),
    template(
        MEMBER_LEFT,
        "[GroupId <G>][MemberId <w>] Static member <M> with instance id <I><not temporarily> left the streams group.",
        protocol="streams",
    ),
    template(
        MEMBER_LEFT_TEMPORARILY,
        "[GroupId <G>][MemberId <w>] Static member <M> with instance id <I> temporarily left the streams group.",
        protocol="streams",
    ),
    template(MEMBER_LEFT, _G + "Static {member|Member} <M> with instance id <I><not temporarily> left the consumer group.", protocol="consumer"),
    template(
        MEMBER_LEFT_TEMPORARILY, _G + "Static {member|Member} <M> with instance id <I> temporarily left the consumer group.", protocol="consumer"
    ),
    template(MEMBER_LEFT, _G + "Dynamic member <M> " + _LEFT_BY_REQUEST, protocol="classic"),
    template(MEMBER_LEFT, _G + "Static member <M> with instance id <I> " + _LEFT_BY_REQUEST, protocol="classic"),
    template(MEMBER_LEFT, _G + "Static member  with instance id <I> " + _LEFT_BY_REQUEST, protocol="classic"),  # an admin names no member
    template(MEMBER_LEFT, "[Group <G>] Dynamic Member <M> " + _LEFT_BY_REQUEST, protocol="classic"),
    template(MEMBER_LEFT, "[Group <G>] Static Member <M> with instance id <I> " + _LEFT_BY_REQUEST, protocol="classic"),
    template(MEMBER_FENCED, _G + "Member <M> fenced from the group because {the member|its} session expired.", detail=_SESSION),
    template(MEMBER_FENCED, _STREAMS_FENCED + "the member session expired..", detail=_SESSION, protocol="streams"),
    template(MEMBER_FENCED, _STREAMS_FENCED + "it failed to transition from epoch <E> within <ms>ms..", detail=_REBALANCE, protocol="streams"),
    template(MEMBER_FENCED, _G + "Member <M> fenced from the group because it failed to transition from epoch <E> within <ms>ms.", detail=_REBALANCE),
    template(MEMBER_FENCED, _G + "Member <M> fenced from the group because it failed to revoke partitions within <ms>ms.", detail=_REBALANCE),
    template(
        MEMBER_FENCED, _G + "Member <M> fenced from the group because the classic member failed to join within the rebalance timeout.", detail=_JOIN
    ),
    template(MEMBER_FENCED, _G + "Member <M> fenced from the group because the member failed to sync within timeout.", detail=_SYNC),
    template(TARGET_COMPUTED, _G + "Computed a new target assignment for epoch <E> with '<assignor>' assignor in <ms>ms."),
    template(TARGET_COMPUTED, _G + "Computed a new target assignment for epoch <E> with '<assignor>' assignor in <ms>ms: <*>."),
    template(TARGET_COMPUTED, _G + "Computed a new target assignment for epoch <E> with '<assignor>' assignor: <*>."),
    template(TARGET_FAILED, _G + "Failed to compute a new target assignment for epoch <E>: <D>"),
    template(MEMBER_ASSIGNMENT, _G + "Member <M> new assignment state: epoch=<E>, previousEpoch=<#>, state=<w>, assignedPartitions=<*>."),
    template(
        MEMBER_ASSIGNMENT, _S + "Member's new assignment state: epoch=<E>, previousEpoch=<#>, state=<w>, assignedTasks=<*>.", protocol="streams"
    ),
    template(MEMBER_ASSIGNMENT, _G + "Member <M> transitioned from CurrentAssignment(<*>) to CurrentAssignment(memberEpoch=<E>, <*>)."),
    template(SUBSCRIPTION_CHANGED, _G + "Member <M> updated its subscribed {topics|regex} to: <*>."),
    template(METADATA_COMPUTED, _G + "Computed new subscription metadata: <*>."),
    template(METADATA_COMPUTED, _G + "Computed new metadata hash: <#>."),
    template(METADATA_COMPUTED, _S + "Computed new metadata hash: <#>.", protocol="streams"),
    template(TIMEOUT_MOOT, _G + "Could not fence <M> because the {group|member} does not exist."),
    template(TIMEOUT_MOOT, _G + "Ignoring rebalance timeout for <M> because the member left the epoch <E>."),
    template(REGEX_REFRESHED, _G + "Scanned <n> topics to refresh regular expressions <*> in <ms>ms."),
    template(REGEX_FAILED, _G + "Couldn't parse regular expression <D>"),
    template(REGEX_FAILED, _G + "Couldn't update regular expression due to: <D>"),
    template(HOUSEKEEPING, _G + "Refreshing regular expressions: <*>"),
    template(HOUSEKEEPING, _G + "Received updated regular expressions based on the context of member <M>: <*>."),
    template(HOUSEKEEPING, _S + "Configuring the topology <*>"),
    template(HOUSEKEEPING, "[GroupId <G>] Group not found during initial rebalance."),
    template(HOUSEKEEPING, "[GroupId <G>] Member <M> updated its member metdata to <*>"),
    template(HOUSEKEEPING, _S + "Member joined with {currently initialized topology|stale topology epoch} <#>"),
    template(HOUSEKEEPING, _S + "Valid topic configuration found in <#>ms, <*>"),
    template(HOUSEKEEPING, _S + "Topic configuration failed for topology epoch <#> in <#>ms: <*>"),
    template(HOUSEKEEPING, _S + "Assignment configurations changed to <*>. Triggering rebalance."),
    template(HOUSEKEEPING, _S + "Member initialized the topology with epoch <#>"),
    template(HOUSEKEEPING, _S + "Member updated its member {metdata|metadata} to <*>"),
)

_ONLINE, _EMPTY = "ONLINE", "EMPTY"
_UPGRADE = "Cannot upgrade {the |}classic group <G> to consumer group"
_DOWNGRADE = "Cannot downgrade consumer group <G> to classic group because "
_CONVERSIONS: tuple[Template, ...] = (
    template(CONVERTED_TO_CONSUMER, _G + "Converted the classic group to a consumer group.", detail=_ONLINE),
    template(CONVERTED_TO_CONSUMER, _G + "Converted the empty classic group to a consumer group.", detail=_EMPTY),
    template(CONVERTED_TO_CLASSIC, _G + "Converted the consumer group to a classic group.", detail=_ONLINE),
    template(CONVERTED_TO_CLASSIC, _G + "Converted the empty {consumer|share|streams} group to a classic group.", detail=_EMPTY),
    template(CONVERTED_TO_OTHER, _G + "Converted the empty classic group to a <p> group.", detail=_EMPTY),
    template(UPGRADE_REFUSED, _UPGRADE + " because {the |}online upgrade is disabled.", detail="POLICY"),
    template(UPGRADE_REFUSED, _UPGRADE + " because the group does not use the consumer embedded protocol.", detail="NOT_CONSUMER_PROTOCOL"),
    template(UPGRADE_REFUSED, _UPGRADE + " because the group size exceeds the consumer group maximum size.", detail="SIZE"),
    template(UPGRADE_REFUSED, _UPGRADE + " because the embedded consumer protocol is malformed: <*>", detail="MALFORMED"),
    template(UPGRADE_REFUSED, _UPGRADE + ": userData from a custom assignor would be lost.", detail="CUSTOM_ASSIGNOR"),
    template(DOWNGRADE_REFUSED, _DOWNGRADE + "{the |}online downgrade is disabled.", detail="POLICY"),
    template(DOWNGRADE_REFUSED, _DOWNGRADE + "its group size is greater than classic group max size.", detail="SIZE"),
    template(DOWNGRADE_REFUSED, "Cannot downgrade the consumer group <G>: fail to parse the Consumer Protocol <*>", detail="MALFORMED"),
    template(
        CLASSIC_JOIN_REFUSED, "Cannot join the consumer group <G> with the classic protocol because the group migration is disabled.", detail="POLICY"
    ),
    template(HOUSEKEEPING, "Skip downgrading the consumer group <G> to classic group because it's empty."),
)

_NO_ID = "Dynamic {member|Member} with unknown member id joins group <G> in "
_STATIC = "Static member with groupInstanceId=<I> and unknown member id joins group <G> in <S> state. "
_PREPARING = "Preparing to rebalance group <G> in state <S> with old generation <E> "
_METADATA = "Member MemberMetadata(memberId=<M>, groupInstanceId="
_METADATA_REST = (
    ", clientId=<client>, clientHost=<host>, sessionTimeoutMs=<#>, rebalanceTimeoutMs=<#>, supportedProtocols=<*>) has left group <G> through"
    " explicit `LeaveGroup`; client reason: <R>"
)
_CLASSIC_TEXTS: tuple[Template, ...] = (
    template(JOIN_PHASE_STARTED, _PREPARING + "(reason: <D>)."),
    template(JOIN_PHASE_STARTED, _PREPARING + "(<P>) (reason: <D>)"),
    template(JOIN_PHASE_ENDED, "Stabilized group <G> generation <E> with <n> members."),
    template(JOIN_PHASE_ENDED, "Stabilized group <G> generation <E> (<P>) with <n> members"),
    template(
        ASSIGNMENT_RECEIVED,
        "Assignment received from leader <M> for group <G> for generation <E>. The group has <n> members, <#> of which are static.",
    ),
    template(MEMBER_ID_REQUESTED, _NO_ID + "<S> state. Created a new member id <M> and {requesting|request} the member to rejoin with this id."),
    template(MEMBER_JOINED, _NO_ID + "<S> state. Created a new member id <M> for this member and add to the group."),
    template(MEMBER_JOINED, _NO_ID + "state <S>. Created a new member id <M> and added the member to the group."),
    template(MEMBER_JOINED, "Pending dynamic member with id <M> joins group <G> in <S> state. Adding to the group now."),
    template(MEMBER_JOINED, _STATIC + "Created a new member id <M> for this member and {added|add} to the group."),
    template(STATIC_MEMBER_RETURNED, _STATIC + "Replacing previously mapped member <M1> with this groupInstanceId."),
    template(
        STATIC_MEMBER_RETURNED_QUIETLY,
        "Static member which joins during Stable stage and doesn't affect {the selected protocol|selectProtocol} will not trigger {a |}rebalance{.|}",
    ),
    template(
        STATIC_MEMBER_FENCED,
        "Request memberId=<M> for static member with groupInstanceId=<I> is fenced by {existing|current} memberId=<M1> during operation <operation>",
    ),
    template(MEMBER_FAILED, "Member <M> in group <G> has failed, removing it from the group{.|}"),
    template(PENDING_MEMBER_EXPIRED, "Pending member <M> in group <G> has been removed after session timeout expiration{.|}"),
    template(MEMBER_LEFT, "[Group <G>] Member <M> " + _LEFT_BY_REQUEST),
    template(MEMBER_LEFT, _METADATA + "None" + _METADATA_REST),
    template(MEMBER_LEFT, _METADATA + "Some(<I>)" + _METADATA_REST),
    template(PENDING_MEMBER_LEFT, "[Group <G>] Pending member <M> " + _LEFT_BY_REQUEST),
    template(PENDING_MEMBER_LEFT, "Pending member with memberId=<M> has left group <G> through explicit `LeaveGroup` request"),
    template(MEMBERS_MISSED_JOIN, "Group <G> removed dynamic members who haven't joined: <Ms>"),
    template(MEMBERS_MISSED_SYNC, "Group <G> removed members who haven't sent their sync {requests|request}: <Ms>"),
    template(
        LEADER_MISSED_JOIN,
        "Group leader [{memberId|member.id}: <M1>, {groupInstanceId|group.instance.id}: <I>] failed to join before {the |}rebalance timeout. Member"
        " <M> was elected as the new leader.",
    ),
    template(
        LEADER_MISSED_JOIN,  # as the java coordinator writes it: the new leader with all that it is
        "Group leader [memberId: <M1>, groupInstanceId: <I>] failed to join before the rebalance timeout. Member ClassicGroupMember(memberId='<M>',"
        " groupInstanceId='<*>', clientId='<*>', clientHost='<*>', rebalanceTimeoutMs=<#>, sessionTimeoutMs=<#>, protocolType='<*>',"
        " supportedProtocols=<*>) was elected as the new leader.",
    ),
    template(
        LEADER_MISSED_JOIN,
        "Group leader [{memberId|member.id}: <M1>, {groupInstanceId|group.instance.id}: <I>] failed to join before {the |}rebalance timeout and the"
        " group couldn't proceed to {the |}next generation because no member joined.",
    ),
    template(REBALANCE_NOBODY_JOINED, "Group <G> could not complete rebalance because no members rejoined{.|}"),
    template(GROUP_EMPTY, "Group <G> with generation <E> is now empty."),
    template(GROUP_EMPTY, "Group <G> with generation <E> is now empty (<P>)"),
    template(GROUP_LOADED, "Loading group metadata for <G> with generation <E>"),
    template(GROUP_UNLOADED, "Unloading group metadata for <G> with generation <E>"),
    template(METADATA_NOT_WRITTEN, "Failed to write empty metadata for group <G>: <D>"),
    template(
        METADATA_NOT_WRITTEN,
        "Failed to persist metadata for group <G> static member <M> with group instance id <I> due to <D>. Reverting to old member id <M1>.",
    ),
    template(METADATA_NOT_WRITTEN, "Failed to persist metadata for group <G>: <D>"),
    template(HOUSEKEEPING, "Group <G> is dead, skipping rebalance stage{.|}"),
    template(HOUSEKEEPING, "Cannot complete join phase of group <G> because this is an initial rebalance."),
    template(HOUSEKEEPING, "Cannot complete join phase of group <G> because not all the members have rejoined. Members=<#>, <*>"),
    template(
        HOUSEKEEPING,
        "Received notification of heartbeat expiration for member <M> after group <G> had already been {unloaded or deleted|deleted or upgraded}.",
    ),
    template(HOUSEKEEPING, "Received unexpected notification of sync expiration <*>"),
    template(HOUSEKEEPING, "Member <M> has already been removed from the group."),
    template(HOUSEKEEPING, "Setting empty assignments for members <*> of <G> for generation <E>{.|}"),
    template(HOUSEKEEPING, "Sending empty assignment to member <M> of <G> for generation <E> with no errors"),
)

_CLASSIC = tuple(one._replace(fixed=(("protocol", "classic"),)) for one in _CLASSIC_TEXTS)
_LOADED = "Loaded offsets and group metadata from <P> with buffer larger <*>"
_GROUPS: tuple[Template, ...] = (
    template(GROUP_LOADED, "Loaded <p> group <G> with <n> members."),
    template(GROUP_UNLOADED, "[GroupId=<G>] Unloaded group metadata for group epoch <E>."),
    template(GROUP_UNLOADED, "[GroupId=<G>] Unloading group metadata for generation <E>.", protocol="classic"),
    template(HOUSEKEEPING, "Loaded member <M> in <p> group <G>."),
)
_SCALA_SHARDS: tuple[Template, ...] = (
    template(SHARD_LOADING, "Scheduling loading of offsets and group metadata from <P> for epoch <E>"),
    template(
        SHARD_LOADED,
        "Finished loading offsets and group metadata from <P> in <ms> milliseconds for epoch <E>, of which <#> milliseconds was spent in the"
        " scheduler.",
    ),
    template(SHARD_LOAD_FAILED, "Error loading offsets from <P>"),
    template(SHARD_UNLOADING, "Scheduling unloading of offsets and group metadata from <P>"),
    template(
        SHARD_UNLOADED, "Finished unloading <P> for coordinator epoch {OptionalInt[|Some(}<E>{]|)}. Removed <#> cached offsets and <n> cached groups."
    ),
    template(
        SHARD_UNLOADED, "Finished unloading <P> for coordinator epoch {OptionalInt.empty|None}. Removed <#> cached offsets and <n> cached groups."
    ),
    template(SHARD_NOT_MOVED, "Not {loading|removing} offsets and group metadata for <P> in epoch <w> since current epoch is <*>"),
    template(SHARD_NOT_MOVED, "Already loading offsets and group metadata from <P>"),
    template(HOUSEKEEPING, "Attempted to load offsets and group metadata from <P>, but found no log"),
    template(HOUSEKEEPING, _LOADED),
    template(GROUP_DEAD, "Group <G> transitioned to Dead in generation <E>"),
    template(OFFSETS_EXPIRED, "Removed <n> expired offsets in <ms> milliseconds."),
)
_STARTS: tuple[Template, ...] = (
    template(SERVICE, "Starting up.", detail="STARTING"),
    template(SERVICE, "Startup complete.", detail="STARTED"),
    template(SERVICE, "Shutting down.", detail="STOPPING"),
    template(SERVICE, "Shutdown complete.", detail="STOPPED"),
)
_SCALA_COORDINATOR: tuple[Template, ...] = (
    template(SHARD_ELECTED, "Elected as the group coordinator for partition <p#> in epoch <E>"),
    template(SHARD_RESIGNED, "Resigned as the group coordinator for partition <p#> in epoch {OptionalInt[|Some(}<E>{]|)}"),
    template(SHARD_RESIGNED, "Resigned as the group coordinator for partition <p#> in epoch {OptionalInt.empty|None}"),
    template(SIMPLE_GROUP_CREATED, "Creating simple consumer group <G> via manual offset commit."),
    template(OFFSETS_DELETED, "The following offsets of the group <G> were deleted: <*>. A total of <n> offsets were removed."),
    template(TOPIC_OFFSETS_DELETED, "Removed <n> offsets associated with deleted partitions: <D>."),
)
_SHARD: tuple[Template, ...] = (
    template(GROUPS_DELETED, "The following groups were deleted: <D>. A total of <n> offsets were removed."),
    template(TOPIC_OFFSETS_DELETED, "Generated <n> tombstone records in <ms> milliseconds while deleting offsets for {topics|partitions} <D>."),
    template(GROUPS_CLEANED_UP, "Generated <n> tombstone records while cleaning up group metadata in <ms> milliseconds."),
    template(HOUSEKEEPING, "Generated <#> records in <#> milliseconds while cleaning share group state for topics <*>."),
    template(HOUSEKEEPING, "Unable to delete {share|streams} group. GroupId <G> not found."),
)
_OFFSETS: tuple[Template, ...] = (
    template(SIMPLE_GROUP_CREATED, _G + "Creating a simple consumer group via manual offset commit."),
    template(HOUSEKEEPING, "{Aborted|Committed} transactional offset commits for producer id <#>."),
    template(HOUSEKEEPING, "{Committed|Skipped the materialization of} transactional offset commit <*>"),
    template(HOUSEKEEPING, _G + "Committing transactional offsets <#> for partition <*>"),
    template(HOUSEKEEPING, _G + "Expired offset for partition=<*>"),
)
_RUNTIME: tuple[Template, ...] = (
    template(SHARD_LOADING, "Scheduling loading of metadata from <P> with epoch <E>"),
    template(
        SHARD_LOADED,
        "Finished loading of metadata from <P> with epoch <E> in <ms>ms where <#>ms was spent in the scheduler. Loaded <n> records which total to <#>"
        " bytes.",
    ),
    template(
        SHARD_LOADED,
        "Finished loading of metadata from <P> in <ms>ms where <#>ms was spent in the scheduler. Loaded <n> records which total to <#> bytes.",
    ),
    template(SHARD_LOAD_FAILED, "Failed to load metadata from <P> with epoch <E> due to <D>."),
    template(SHARD_LOAD_FAILED, "Failed to load metadata from <P> due to <D>."),
    template(SHARD_UNLOADING, "Scheduling unloading of metadata for <P> with epoch OptionalInt[<E>]"),
    template(SHARD_UNLOADING, "Scheduling unloading of metadata for <P> with epoch OptionalInt.empty"),
    template(SHARD_UNLOADED, "Finished unloading metadata for <P> with epoch OptionalInt[<E>]."),
    template(SHARD_UNLOADED, "Finished unloading metadata for <P> with epoch OptionalInt.empty."),
    template(HOUSEKEEPING, "Started unloading metadata for <P> with epoch <*>."),
    template(SHARD_NOT_MOVED, "Ignored unloading metadata for <P> in epoch <*> since <*>."),
    template(SHARD_NOT_MOVED, "Ignored loading metadata from <P> since current epoch <E> is larger than or equals to <#>."),
    template(SHARD_NOT_MOVED, "Ignored load completion from <P> because context is in <*> state."),
    template(SHARD_NOT_MOVED, "The coordinator <P> is already {loading metadata|active}."),
    template(SHARD_LOAD_FAILED, "Cannot load coordinator <P> in state <D>."),
    template(SHARD_OUT_OF_SYNC, "The state machine of the coordinator <P> is out of sync with the underlying log. <*>"),
    template(WRITE_FAILED, "Writing records to <P> failed due to: <D>."),
    template(REPLAY_FAILED, "Replaying record <*> to <P> failed due to: <D>."),
    template(OPERATION_FAILED, "Execution of <*> failed due to <D>."),
    template(SERVICE, "Closing coordinator runtime.", detail="STOPPING"),
    template(SERVICE, "Coordinator runtime closed.", detail="STOPPED"),
)
_TIMER: tuple[Template, ...] = (
    template(TIMER_RESCHEDULED, "The write event Timeout(tp=<P>, key=<D>) for the timer <*> failed due to <*>. Rescheduling it.<*>"),
    template(TIMER_DROPPED, "The write event Timeout(tp=<P>, key=<D>) for the timer <*> failed due to <*>. Ignoring it.<*>"),
)
_FAILED = ") hit an unexpected exception: <D>"
_HEARTBEAT = "(groupId='<G>', memberId='<quoted>', memberEpoch=<#>, "
_JOIN = "JoinGroupRequestData(groupId='<G>', sessionTimeoutMs=<#>, rebalanceTimeoutMs=<#>, memberId='<quoted>', groupInstanceId="
_DYNAMIC = "<of no instance><*>" + _FAILED
_STATIC_HEARTBEAT = "instanceId='<I>', rackId=<*>" + _FAILED
_CONSUMER_HEARTBEAT = "Operation consumer-group-heartbeat with ConsumerGroupHeartbeatRequestData" + _HEARTBEAT
_STREAMS_HEARTBEAT = "Operation streams-group-heartbeat with StreamsGroupHeartbeatRequestData" + _HEARTBEAT
_SERVICE: tuple[Template, ...] = (
    *_STARTS,
    template(OPERATION_FAILED, _CONSUMER_HEARTBEAT + _DYNAMIC, protocol="consumer"),
    template(OPERATION_FAILED, _CONSUMER_HEARTBEAT + _STATIC_HEARTBEAT, protocol="consumer"),
    template(OPERATION_FAILED, "Operation share-group-heartbeat with ShareGroupHeartbeatRequestData" + _HEARTBEAT + _DYNAMIC, protocol="share"),
    template(OPERATION_FAILED, _STREAMS_HEARTBEAT + _DYNAMIC, protocol="streams"),
    template(OPERATION_FAILED, _STREAMS_HEARTBEAT + "endpointInformationEpoch=<#>, " + _STATIC_HEARTBEAT, protocol="streams"),
    template(OPERATION_FAILED, "Operation classic-group-join with " + _JOIN + "null, <*>" + _FAILED, protocol="classic"),
    template(OPERATION_FAILED, "Operation classic-group-join with " + _JOIN + "'<I>', protocolType=<*>" + _FAILED, protocol="classic"),
    template(OPERATION_FAILED, "<of no member>Operation <*> hit an unexpected exception: <D>"),
    template(HOUSEKEEPING, "Error deleting share group <G> due to error <w>"),  # 4.1+: DeleteGroups was refused, by an error's name
)

_RUNTIME_CLASS = "CoordinatorRuntime"
_TIMER_CLASS = "CoordinatorRuntime$EventBasedCoordinatorTimer"
BY_CLASS: dict[str, tuple[Template, ...]] = {
    "GroupMetadataManager": _MODERN + _CONVERSIONS + _CLASSIC + _GROUPS + _SCALA_SHARDS,
    "GroupCoordinator": _CLASSIC + _SCALA_COORDINATOR + _STARTS + _SHARD,
    "GroupCoordinatorShard": _SHARD,
    "GroupCoordinatorService": _SERVICE,
    "OffsetMetadataManager": _OFFSETS,
    "ClassicGroup": _CLASSIC,
    "GroupMetadata": _CLASSIC,
    _RUNTIME_CLASS: _RUNTIME,
    _TIMER_CLASS: _TIMER,
}
"""Templates by the last part of the logger's name, which is a coordinator's whatever the layout leaves of the packages before it."""

IGNORED: dict[str, str] = {
    "MultiThreadedEventProcessor": "threads of the runtime start and stop",
    "MultiThreadedEventProcessor$EventProcessorThread": "threads of the runtime start and stop; at DEBUG every event they take",
    "SnapshottableCoordinator": "DEBUG: offsets that were written and committed, which the topic itself shows",
    "UniformAssignor": "DEBUG: how it computes",
    "RangeAssignor": "DEBUG: how it computes",
    "SimpleAssignor": "DEBUG: how it computes",
    "StickyTaskAssignor": "Streams: too few processes for the standbys that are configured",
    "StreamsGroup": "Streams: a member asked that its application ends",
    "InternalTopicManager": "Streams: whether the topics of a topology exist",
    "ChangelogTopics": "Streams: whether the topics of a topology exist",
}
"""Classes that say nothing about a group's life, and why: their lines are HOUSEKEEPING."""
IGNORED_AT_DEBUG: dict[str, str] = {
    _RUNTIME_CLASS: "every operation, and every high watermark and metadata image that passes by",
    _TIMER_CLASS: "every timer that is set, of which there is one per heartbeat",
}
"""Classes whose DEBUG lines are HOUSEKEEPING, and what they are."""
