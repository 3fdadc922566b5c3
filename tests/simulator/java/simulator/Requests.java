package simulator;

import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.message.DeleteGroupsRequestData;
import org.apache.kafka.common.message.DeleteGroupsResponseData;
import org.apache.kafka.common.message.DeleteGroupsResponseData.DeletableGroupResultCollection;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.HeartbeatResponseData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.LeaveGroupRequestData.MemberIdentity;
import org.apache.kafka.common.message.LeaveGroupResponseData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.OffsetDeleteRequestData;
import org.apache.kafka.common.message.OffsetDeleteResponseData;
import org.apache.kafka.common.message.ShareGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ShareGroupHeartbeatResponseData;
//#if >= 4.1
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData;
//#endif
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatRequest;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatResponse;
import org.apache.kafka.common.requests.DeleteGroupsRequest;
import org.apache.kafka.common.requests.DeleteGroupsResponse;
import org.apache.kafka.common.requests.HeartbeatRequest;
import org.apache.kafka.common.requests.HeartbeatResponse;
import org.apache.kafka.common.requests.JoinGroupRequest;
import org.apache.kafka.common.requests.JoinGroupResponse;
import org.apache.kafka.common.requests.LeaveGroupRequest;
import org.apache.kafka.common.requests.LeaveGroupResponse;
import org.apache.kafka.common.requests.OffsetCommitRequest;
import org.apache.kafka.common.requests.OffsetCommitResponse;
import org.apache.kafka.common.requests.OffsetDeleteRequest;
import org.apache.kafka.common.requests.OffsetDeleteResponse;
import org.apache.kafka.common.requests.ShareGroupHeartbeatRequest;
import org.apache.kafka.common.requests.ShareGroupHeartbeatResponse;
//#if >= 4.1
import org.apache.kafka.common.requests.StreamsGroupHeartbeatRequest;
import org.apache.kafka.common.requests.StreamsGroupHeartbeatResponse;
//#endif
import org.apache.kafka.common.requests.SyncGroupRequest;
import org.apache.kafka.common.requests.SyncGroupResponse;
import org.apache.kafka.common.requests.TxnOffsetCommitRequest;
import org.apache.kafka.common.requests.TxnOffsetCommitResponse;
//#if >= 4.4
import org.apache.kafka.common.utils.internals.BufferSupplier;
//#else
import org.apache.kafka.common.utils.BufferSupplier;
//#endif
//#if >= 4.1
import org.apache.kafka.coordinator.group.streams.StreamsGroupHeartbeatResult;
//#endif

/** Each kind of request in the version that clients of today send, and the call of the service that it is. */
final class Requests {
    private static final short JOIN = 9;
    private static final short SYNC = 5;
    private static final short HEARTBEAT = 4;
    private static final short LEAVE = 5;
    private static final BufferSupplier NO_CACHE = BufferSupplier.NO_CACHING;

    private Requests() { }

    static Request<ConsumerGroupHeartbeatResponseData> consumerHeartbeat(
            Asked asked, ConsumerGroupHeartbeatRequestData data) {
        return new Request<>(asked, new ConsumerGroupHeartbeatRequest(data, (short) 1),
            (service, context) -> service.consumerGroupHeartbeat(context, data),
            ConsumerGroupHeartbeatResponse::new,
            given -> told(given.errorCode(), given.memberEpoch(), given.assignment() != null));
    }

    static Request<ShareGroupHeartbeatResponseData> shareHeartbeat(
            Asked asked, ShareGroupHeartbeatRequestData data) {
        return new Request<>(asked, new ShareGroupHeartbeatRequest(data, (short) Versions.shareHeartbeat()),
            (service, context) -> service.shareGroupHeartbeat(context, data),
            ShareGroupHeartbeatResponse::new,
            given -> told(given.errorCode(), given.memberEpoch(), given.assignment() != null));
    }

//#if >= 4.1
    static Request<StreamsGroupHeartbeatResult> streamsHeartbeat(
            Asked asked, StreamsGroupHeartbeatRequestData data) {
        return new Request<>(asked, new StreamsGroupHeartbeatRequest(data, (short) 0),
            (service, context) -> service.streamsGroupHeartbeat(context, data),
            given -> new StreamsGroupHeartbeatResponse(given.data()),
            given -> told(given.data().errorCode(), given.data().memberEpoch(),
                given.data().activeTasks() != null));
    }

//#endif
    static Request<JoinGroupResponseData> join(Asked asked, JoinGroupRequestData data) {
        return new Request<>(asked, new JoinGroupRequest(data, JOIN),
            (service, context) -> service.joinGroup(context, data, NO_CACHE),
            given -> new JoinGroupResponse(given, JOIN),
            given -> told(given.errorCode(), given.generationId(), Json.quote(given.memberId())));
    }

    static Request<SyncGroupResponseData> sync(Asked asked, SyncGroupRequestData data) {
        return new Request<>(asked, new SyncGroupRequest.Builder(data).build(SYNC),
            (service, context) -> service.syncGroup(context, data, NO_CACHE),
            SyncGroupResponse::new, given -> told(given.errorCode()));
    }

    static Request<HeartbeatResponseData> heartbeat(Asked asked, HeartbeatRequestData data) {
        return new Request<>(asked, new HeartbeatRequest.Builder(data).build(HEARTBEAT),
            (service, context) -> service.heartbeat(context, data),
            HeartbeatResponse::new, given -> told(given.errorCode()));
    }

    static Request<LeaveGroupResponseData> leave(Asked asked, String group, MemberIdentity member) {
        LeaveGroupRequestData data =
            new LeaveGroupRequestData().setGroupId(group).setMembers(List.of(member));
        return new Request<>(asked, new LeaveGroupRequest.Builder(group, List.of(member)).build(LEAVE),
            (service, context) -> service.leaveGroup(context, data),
            given -> new LeaveGroupResponse(given, LEAVE), given -> told(given.errorCode()));
    }

    static Request<OffsetCommitResponseData> commit(Asked asked, OffsetCommitRequestData data, int version) {
        return new Request<>(asked, new OffsetCommitRequest(data, (short) version),
            (service, context) -> service.commitOffsets(context, data, NO_CACHE),
            OffsetCommitResponse::new, given -> null);
    }

    static Request<TxnOffsetCommitResponseData> commitInTransaction(
            Asked asked, TxnOffsetCommitRequestData data) {
        return new Request<>(asked, new TxnOffsetCommitRequest(data, (short) 3),
            (service, context) -> service.commitTransactionalOffsets(context, data, NO_CACHE),
            TxnOffsetCommitResponse::new, given -> null);
    }

    static Request<OffsetDeleteResponseData> deleteOffsets(Asked asked, OffsetDeleteRequestData data) {
        return new Request<>(asked, new OffsetDeleteRequest.Builder(data).build((short) 0),
            (service, context) -> service.deleteOffsets(context, data, NO_CACHE),
            OffsetDeleteResponse::new, given -> null);
    }

    static Request<DeletableGroupResultCollection> deleteGroup(Asked asked, String group) {
        DeleteGroupsRequestData data = new DeleteGroupsRequestData().setGroupsNames(List.of(group));
        return new Request<>(asked, new DeleteGroupsRequest(data, (short) 2),
            (service, context) -> service.deleteGroups(context, List.of(group), NO_CACHE),
            given -> new DeleteGroupsResponse(new DeleteGroupsResponseData().setResults(given)),
            given -> null);
    }

    /** What a join or a leave says why; null where nothing. */
    static String reasonOf(AbstractRequest request) {
        String reason = null;
        if (request instanceof JoinGroupRequest join) reason = join.data().reason();
        if (request instanceof LeaveGroupRequest leave) reason = leave.members().get(0).reason();
        return reason == null || reason.isEmpty() ? null : reason;
    }

    private static String told(Object... values) {
        return "[" + String.join(",", Stream.of(values).map(String::valueOf).toList()) + "]";
    }
}
